// The list of clusters: sizes in their colours, to select and to rename.

/** Fill the list of clusters and keep every name on the page up to date. */
function showClusters(store) {
  const list = document.getElementById("cluster-list");
  const largest = Math.max(1, ...store.data.clusters);
  const total = Math.max(1, d3.sum(store.data.clusters));
  list.append(
    ...store.data.clusters.map((size, cluster) =>
      clusterItem(store, cluster, size, total, largest),
    ),
  );
  document
    .querySelectorAll("[data-sign]")
    .forEach((place) => drawSign(place, Number(place.dataset.sign)));
  store.on("select", () => {
    for (const [cluster, button] of list.querySelectorAll(".choose").entries()) {
      button.setAttribute("aria-pressed", store.cluster === cluster);
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

/** Make the entry of one cluster. */
function clusterItem(store, cluster, size, total, largest) {
  const share = (100 * size) / total;
  const bar = element("span", { class: "bar", "aria-hidden": "true" });
  bar.style.width = `${(100 * size) / largest}%`;
  bar.style.background = colourOf(cluster);
  const choose = element(
    "button",
    { type: "button", class: "choose", "aria-pressed": "false" },
    element("span", { class: "sign", "data-sign": cluster }),
    element("span", { class: "cluster-name", "data-name": cluster }, store.names[cluster]),
    element(
      "span",
      { class: "size" },
      `${counted(size, "row")} · ${share.toFixed(share < 1 ? 1 : 0)} %`,
    ),
    element("span", { class: "track" }, bar),
  );
  const others = store.data.without_gap
    .filter((pair) => pair.includes(cluster))
    .map(([first, second]) => (first === cluster ? second : first));
  if (others.length) {
    const text = `no gap to ${others.join(", ")}`;
    choose.append(element("span", { class: "size" }, text));
  }
  choose.addEventListener("click", () => store.selectCluster(cluster));
  const rename = element(
    "button",
    { type: "button", class: "rename" },
    "Rename",
    element("span", { class: "unseen" }, ` cluster ${cluster}`),
  );
  const item = element("li", {}, choose, rename);
  rename.addEventListener("click", () => editName(store, cluster, item, rename));
  return item;
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
