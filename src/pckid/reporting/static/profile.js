// The table of the clusters: to select, to rename, to copy, and to look at one cluster less or more.

/** Bring the heads of the table to life, and keep every name on the page up to date. */
function showProfile(store) {
  const own = document.getElementById("profile");
  own.querySelectorAll("th[data-cluster]").forEach((head) => {
    const cluster = Number(head.dataset.cluster);
    const [choose, rename] = head.querySelectorAll("button");
    choose?.addEventListener("click", () => store.selectCluster(cluster));
    rename?.addEventListener("click", () => editName(store, cluster, head, rename));
  });
  store.on("select", () => {
    document.querySelectorAll("#profile [data-cluster], .in-words [data-cluster]").forEach((cell) => {
      const cluster = Number(cell.dataset.cluster);
      cell.classList.toggle("off", store.cluster !== null && cluster !== store.cluster);
      cell.querySelector(".choose")?.setAttribute("aria-pressed", store.cluster === cluster);
    });
  });
  store.on("rename", () => {
    document.querySelectorAll("[data-name]").forEach((place) => {
      const name = store.names[Number(place.dataset.name)];
      if (name === undefined || place.closest(".others")) return;
      const isText = place instanceof SVGTextElement;
      place.textContent = isText ? brief(name.replace(/^Cluster (?=\d+$)/, ""), 16) : name;
    });
  });
  document.querySelectorAll("[data-copy]").forEach((button) => {
    const place = document.getElementById(button.dataset.copy);
    button.addEventListener("click", () => copy(button, place));
  });
}

/** Put a field in the place of a cluster's name until a name is entered, or Escape is pressed. */
function editName(store, cluster, head, rename) {
  const label = `Name of cluster ${cluster}`;
  const field = element("input", { type: "text", maxlength: 60, "aria-label": label });
  field.value = store.names[cluster];
  let open = true;
  const close = (keep) => {
    if (!open) return;
    open = false;
    if (keep) store.rename(cluster, field.value);
    field.remove();
    head.classList.remove("editing");
    rename.focus();
  };
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault(); // else the button that gets the focus would be pressed by the same key
    close(event.key === "Enter");
  });
  field.addEventListener("blur", () => close(true));
  head.classList.add("editing");
  head.prepend(field);
  field.select();
}

/** Let the reader look at the clusters of another number; what is printed is the report's own. */
function showNumbers(store) {
  const inputs = Array.from(document.querySelectorAll(".numbers input"));
  const show = (number) => {
    store.showNumber(number);
    document.getElementById("profile").hidden = store.signs !== null;
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

/** Copy the text of an element, of a table also its cells as Word and Excel take them. */
function copy(button, place) {
  const table = place.querySelector("table");
  const rows = table ? plainRows(table) : [];
  const text = table ? rows.map((cells) => cells.join("\t")).join("\n") : place.textContent.trim();
  const listen = (event) => {
    event.preventDefault();
    event.clipboardData.setData("text/plain", text);
    if (table) event.clipboardData.setData("text/html", plainTable(rows));
  };
  // Works from disk and within frames, where a page may not write to the clipboard otherwise.
  document.addEventListener("copy", listen);
  const done = document.execCommand("copy");
  document.removeEventListener("copy", listen);
  const words = button.textContent;
  button.textContent = done ? "Copied" : "Not allowed here";
  setTimeout(() => (button.textContent = words), 1500);
}

/** List the texts of a table, less its pictures and buttons; heads of groups span several. */
function plainRows(table) {
  return Array.from(table.rows, (row) =>
    Array.from(row.cells)
      .filter((cell) => !cell.classList.contains("strip") && !cell.classList.contains("beside"))
      .flatMap((cell) => {
        const own = cell.cloneNode(true);
        own.querySelectorAll("button, .unfold, svg").forEach((part) => {
          const name = part.querySelector("bdi");
          if (name) part.replaceWith(name, " ");
          else part.remove();
        });
        own.querySelectorAll(".u > span").forEach((part) => part.prepend(" "));
        const words = own.textContent.replace(/\s+/g, " ").trim();
        return [words, ...Array(cell.colSpan - 1).fill("")];
      }),
  );
}

/** Write rows of texts as a table of HTML with rules as journals have them. */
function plainTable(rows) {
  const lines = rows.map((cells, place) => {
    const rule = place === rows.length - 1 || cells[0] ? ";border-bottom:1px solid #999" : "";
    const written = cells.map((text, column) => {
      const style = `padding:2px 8px;text-align:${column ? "right" : "left"}${rule}`;
      return `<td style="${style}">${element("td", {}, text).innerHTML}</td>`;
    });
    return `<tr>${written.join("")}</tr>`;
  });
  return `<table style="border-collapse:collapse;font-family:sans-serif">${lines.join("")}</table>`;
}
