// The rows: sort, search, read one in full, and download all labels.

// A narrow page shows a row over many lines.
const ROWS_A_PAGE = window.matchMedia("(max-width: 44rem)").matches ? 5 : 15;

/** Show the rows that are selected and match the search, page by page. */
function showRows(store) {
  const view = { page: 0, sort: null, descending: false, query: "", found: [], texts: null };
  const update = () => {
    view.found = findRows(store, view);
    view.page = 0;
    writeRows(store, view);
  };
  const turn = (step) => {
    view.page += step;
    writeRows(store, view);
  };
  document.getElementById("rows-head").append(...rowHeaders(store, view, update));
  document.getElementById("search").addEventListener("input", (event) => {
    view.query = event.target.value;
    update();
  });
  document.getElementById("rows-before").addEventListener("click", () => turn(-1));
  document.getElementById("rows-after").addEventListener("click", () => turn(1));
  document.getElementById("download").addEventListener("click", () => {
    download("cluster-labels.csv", labelsAsCsv(store), "text/csv");
  });
  store.on("select", update);
  store.on("rename", () => {
    view.texts = null;
    update();
    showRow(store);
  });
  store.on("hover", () => showRow(store));
  update();
}

/** List what a reader may sort by: a name, and a value for each row, null where missing. */
function sortKeys(store) {
  const { rows } = store;
  return [
    { name: store.data.thing[0].toUpperCase() + store.data.thing.slice(1), text: true, of: (row) => (rows.name ? rows.name[row] : rows.number[row]) },
    { name: "Cluster", text: true, of: (row) => (rows.label[row] < 0 ? null : rows.label[row]) },
    ...(store.data.sure
      ? [{ name: "Confidence", of: (row) => (rows.label[row] < 0 ? null : rows.confidence[row]) }]
      : []),
    { name: "Outlier score", of: (row) => rows.outlier[row] },
    ...rows.columns.map((column) => ({
      name: column.name,
      text: Boolean(column.categories),
      of: (row) =>
        column.categories && !column.ordered && column.values[row] !== null
          ? cellText(column, row)
          : column.values[row],
    })),
  ];
}

/** Make the headers; a press sorts, another turns the order round. */
function rowHeaders(store, view, update) {
  const headers = sortKeys(store).map((key) => {
    const button = element("button", { type: "button" }, nameElement(key.name, 30));
    const kind = { scope: "col", "aria-sort": "none", class: key.text ? "text" : "" };
    const header = element("th", kind, button);
    button.addEventListener("click", () => {
      view.descending = view.sort === key.of && !view.descending;
      view.sort = key.of;
      headers.forEach((each) => each.setAttribute("aria-sort", "none"));
      header.setAttribute("aria-sort", view.descending ? "descending" : "ascending");
      update();
    });
    return header;
  });
  return headers;
}

/** Find the rows to show, in their order. */
function findRows(store, view) {
  const wanted = view.query.trim().toLowerCase();
  if (wanted && !view.texts) view.texts = range(store.n).map((row) => rowText(store, row));
  const found = store.selected().filter((row) => !wanted || view.texts[row].includes(wanted));
  if (!view.sort) return found;
  const way = view.descending ? -1 : 1;
  const missing = (row) => view.sort(row) === null;
  const order = (a, b) => (a < b ? -way : a > b ? way : 0);
  return found.sort(
    (a, b) => missing(a) - missing(b) || order(view.sort(a), view.sort(b)) || a - b,
  );
}

/** Everything that a search looks at, of one row. */
function rowText(store, row) {
  const cells = store.rows.columns.map((column) => cellText(column, row));
  return [store.rowName(row), store.clusterName(store.rows.label[row]), ...cells]
    .join("\n")
    .toLowerCase();
}

/** Write one page of rows. */
function writeRows(store, view) {
  const first = view.page * ROWS_A_PAGE;
  const shown = view.found.slice(first, first + ROWS_A_PAGE);
  document.getElementById("rows-body").replaceChildren(...shown.map((row) => rowLine(store, row)));
  document.getElementById("rows-before").disabled = first === 0;
  document.getElementById("rows-after").disabled = first + ROWS_A_PAGE >= view.found.length;
  document.getElementById("rows-status").textContent = view.found.length
    ? `${(first + 1).toLocaleString("en")}–${(first + shown.length).toLocaleString("en")} of ${counted(view.found.length, store.data.thing)}`
    : `No ${store.data.thing} matches.`;
}

/** Write a row's outlier score; 0 has no sign. */
function outlierText(store, row) {
  const score = store.rows.outlier[row];
  return score === null ? "–" : score.toFixed(1).replace(/^-(?=0\.0$)/, "");
}

/** Name a cluster, with its sign. */
function clusterLabel(store, cluster) {
  const name = nameElement(store.clusterName(cluster), 200);
  if (cluster < 0) return [name];
  return [signElement(store.data, cluster), " ", name];
}

/** Make the line of one row. */
function rowLine(store, row) {
  const cluster = store.rows.label[row];
  const cells = store.rows.columns.map((column) => {
    const kind = column.categories ? { class: "text" } : {};
    return element("td", kind, nameElement(cellText(column, row), 40));
  });
  const confidence = cluster < 0 ? "–" : store.rows.confidence[row].toFixed(2);
  const line = element(
    "tr",
    { tabindex: 0 },
    element("th", { scope: "row" }, nameElement(store.rowName(row), 40)),
    element("td", { class: "text" }, ...clusterLabel(store, cluster)),
    ...(store.data.sure ? [element("td", {}, confidence)] : []),
    element("td", {}, outlierText(store, row)),
    ...cells,
  );
  sortKeys(store).forEach((key, place) => (line.cells[place].dataset.label = key.name));
  line.addEventListener("pointerenter", () => store.hover(row));
  line.addEventListener("focus", () => store.hover(row));
  return line;
}

/** Show the row that is pointed at in full. */
function showRow(store) {
  const row = store.hovered;
  const place = document.getElementById("row-detail");
  if (row === null || !place) return;
  const cluster = store.rows.label[row];
  const confidence = store.data.sure ? `, confidence ${store.rows.confidence[row].toFixed(2)}` : "";
  const scores = cluster < 0 ? "" : `${confidence}, outlier score ${outlierText(store, row)}`;
  const values = store.rows.columns.map((column) => {
    const value = element("dd", {}, nameElement(cellText(column, row)));
    return element("div", {}, element("dt", {}, nameElement(column.name)), value);
  });
  place.replaceChildren(
    element("h3", {}, nameElement(store.rowName(row), 60)),
    element("p", { class: "soft" }, ...clusterLabel(store, cluster), scores),
    ...showEffects(store, row),
    element("dl", {}, ...values),
  );
}

/** Tell what the cells of a row do to its membership in its cluster. */
function showEffects(store, row) {
  const { columns, rows } = store.data.effects;
  const effects = (rows[row] ?? []).toSorted(([, a], [, b]) => b - a);
  if (!effects.length) return [];
  const most = Math.max(...effects.map(([, effect]) => Math.abs(effect)));
  const lines = effects.map(([column, effect]) => {
    const bar = element("span", { class: effect < 0 ? "bar against" : "bar" });
    bar.style.width = `${(4 * Math.abs(effect)) / most}rem`;
    const value = element("dd", {}, bar, ` ${effect.toFixed(2)}`);
    return element("div", {}, element("dt", {}, nameElement(columns[column], 24)), value);
  });
  const caption =
    "What a cell does to the membership: the mean of what is lost if it is hidden and gained by it alone. Below 0 it speaks against.";
  return [
    element("h4", {}, "Why this cluster?"),
    element("dl", { class: "effects" }, ...lines),
    element("p", { class: "soft" }, caption),
  ];
}

/** Write the labels of all rows as CSV, with their confidence if clusters may be groups. */
function labelsAsCsv(store) {
  const { rows } = store;
  const sure = store.data.sure ? ["confidence"] : [];
  const head = ["row", ...(rows.name ? ["name"] : []), "cluster", "cluster_name", ...sure];
  const lines = range(store.n).map((row) => {
    const cluster = rows.label[row];
    const name = rows.name ? [inertText(rows.name[row])] : [];
    const title = cluster < 0 ? "" : inertText(store.names[cluster]);
    return [rows.number[row], ...name, cluster, title, ...sure.map(() => rows.confidence[row])];
  });
  const quoted = (cell) => (/[",\r\n]/.test(cell) ? `"${String(cell).replaceAll('"', '""')}"` : cell);
  return [head, ...lines].map((cells) => `${cells.map(quoted).join(",")}\n`).join("");
}

/** Put an apostrophe before text that a spreadsheet would run as a formula; numbers stay. */
function inertText(text) {
  return /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
}
