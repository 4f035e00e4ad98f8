// Start: show what needs a script, and tie its parts together.

/** Say what is selected, and offer to show everything again. */
function showStatus(store) {
  const status = document.getElementById("status");
  const clear = document.getElementById("clear");
  const write = () => {
    const found = store.selected();
    const counts = d3.rollup(
      found,
      (rows) => rows.length,
      (row) => store.rows.label[row],
    );
    const parts = Array.from(counts, ([cluster, count]) => [
      count,
      store.clusterName(cluster),
    ]).sort((a, b) => b[0] - a[0]);
    const what =
      store.cluster !== null
        ? `${store.names[store.cluster]}: ${counted(found.length, "row")} shown everywhere on this page.`
        : `${counted(found.length, "row")} in the box: ${parts.map(([count, name]) => `${count.toLocaleString("en")} of ${name}`).join(", ")}.`;
    status.textContent = store.isAll()
      ? "Press a cluster to see it alone, everywhere on this page."
      : what;
    clear.disabled = store.isAll();
  };
  clear.addEventListener("click", store.clear);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !store.isAll() && event.target.tagName !== "INPUT") store.clear();
  });
  store.on("select", write);
  store.on("rename", write);
  write();
}

/** Tell the page that this one is framed in how high it is, as the app listens to it. */
function tellHeight() {
  if (window.parent === window) return;
  const tell = () => {
    const { width, height } = document.body.getBoundingClientRect();
    const size = { width: Math.ceil(width), height: Math.ceil(height) };
    window.parent.postMessage({ type: "streamlit:iframe:setSize", ...size }, "*");
  };
  new ResizeObserver(tell).observe(document.body);
}

/** Bring the page to life. */
async function start() {
  const data = await readData();
  const store = makeStore(data);
  document.querySelectorAll(".needs-script").forEach((part) => (part.hidden = false));
  const ofSeveral = data.clusters.length > 1 ? [showStatus, showMap, showNumbers] : [];
  [...ofSeveral, showClusters, showDistributions, showSeries, showRows, showFigures].forEach((show) =>
    show(store),
  );
  tellHeight();
  document.documentElement.classList.add("ready");
}

start();
