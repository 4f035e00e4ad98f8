// The list of clusters: to select, to rename, and to look at one cluster less or one more.

/** Bring the list of clusters to life, and keep every name on the page up to date. */
function showClusters(store) {
  // A frame for each group holds its clusters; the numbers of these need not be in order.
  const items = Array.from(document.querySelectorAll("#cluster-list .one"));
  const numbers = items.map((item) => Number(item.querySelector("[data-sign]").dataset.sign));
  for (const [place, item] of items.entries()) {
    const cluster = numbers[place];
    const [choose, rename] = item.querySelectorAll("button");
    choose.addEventListener("click", () => store.selectCluster(cluster));
    rename.addEventListener("click", () => editName(store, cluster, item, rename));
  }
  document
    .querySelectorAll("[data-sign]")
    .forEach((place) => drawSign(place, Number(place.dataset.sign)));
  store.on("select", () => {
    for (const [place, item] of items.entries()) {
      item.querySelector(".choose").setAttribute("aria-pressed", store.cluster === numbers[place]);
    }
    document.querySelectorAll("[data-cluster]").forEach((place) => {
      const other = store.cluster !== null && Number(place.dataset.cluster) !== store.cluster;
      place.classList.toggle("off", other);
    });
  });
  store.on("rename", () => {
    document.querySelectorAll("[data-name]").forEach((place) => {
      place.textContent = store.names[Number(place.dataset.name)];
    });
  });
}

/** Put a field in the place of a cluster's name until a name is entered, or Escape is pressed. */
function editName(store, cluster, item, rename) {
  const field = element("input", {
    type: "text",
    maxlength: 60,
    "aria-label": `Name of cluster ${cluster}`,
  });
  field.value = store.names[cluster];
  let open = true;
  const close = (keep) => {
    if (!open) return;
    open = false;
    if (keep) store.rename(cluster, field.value);
    field.remove();
    item.classList.remove("editing");
    rename.focus();
  };
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault(); // else the button that gets the focus would be pressed by the same key
    close(event.key === "Enter");
  });
  field.addEventListener("blur", () => close(true));
  item.classList.add("editing");
  item.prepend(field);
  field.select();
}

/** Let the reader look at the clusters of another number; what is printed is the report's own. */
function showNumbers(store) {
  const inputs = Array.from(document.querySelectorAll(".numbers input"));
  const show = (number) => {
    store.showNumber(number);
    document.getElementById("cluster-list").hidden = store.signs !== null;
    document.querySelectorAll(".others").forEach((part) => {
      part.hidden = part.dataset.number !== number;
    });
  };
  const showChosen = () => show(inputs.find((input) => input.checked).value);
  if (inputs.length === 0) return;
  inputs.forEach((input) => input.addEventListener("change", showChosen));
  window.addEventListener("beforeprint", () => show(null));
  window.addEventListener("afterprint", showChosen);
}
