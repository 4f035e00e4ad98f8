// Start: show what needs a script, and tie its parts together.

/** Say what is selected, and offer to show everything again. */
function showStatus(store) {
  const status = document.getElementById("status");
  const clear = document.getElementById("clear");
  const write = () => {
    const found = store.selected();
    const counts = new Map();
    found.forEach((row) => counts.set(store.rows.label[row], (counts.get(store.rows.label[row]) ?? 0) + 1));
    const parts = Array.from(counts)
      .sort((a, b) => b[1] - a[1])
      .map(([cluster, count]) => `${count.toLocaleString("en")} of ${store.clusterName(cluster)}`);
    clear.disabled = store.isAll();
    if (store.isAll()) {
      status.textContent = "Press a cluster to see it alone, everywhere on this page.";
    } else if (store.cluster !== null) {
      status.textContent = `${store.names[store.cluster]}: ${counted(found.length, store.data.thing)} shown everywhere on this page.`;
    } else {
      status.textContent = `${counted(found.length, store.data.thing)} selected: ${parts.join(", ")}.`;
    }
  };
  clear.addEventListener("click", store.clear);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !store.isAll() && event.target.tagName !== "INPUT") store.clear();
  });
  store.on("select", write);
  store.on("rename", write);
  write();
}

/** Write the head of its column beside each cell: a narrow page shows a table line by line. */
function labelCells() {
  document.querySelectorAll("table:not(.rows, .profile)").forEach((table) => {
    const heads = Array.from(table.querySelectorAll("thead th"), (head) => head.textContent);
    table.querySelectorAll("tbody tr").forEach((line) => {
      Array.from(line.cells).forEach((cell, place) => (cell.dataset.label = heads[place] ?? ""));
    });
  });
}

/** On a narrow page show long sections by their headings, which unfold them. */
function foldSections() {
  if (!window.matchMedia("screen and (max-width: 44rem)").matches) return;
  const unfold = (section) => section?.querySelector(".fold[aria-expanded=false]")?.click();
  document.querySelectorAll("main > section:not(#profiles, #explore, #way-on)").forEach((section) => {
    const heading = section.querySelector("h2");
    const button = element("button", { type: "button", class: "fold", "aria-expanded": "false" }, heading.textContent);
    heading.replaceChildren(button);
    section.classList.add("folded");
    button.addEventListener("click", () => {
      const isOpen = !section.classList.toggle("folded");
      button.setAttribute("aria-expanded", isOpen);
    });
  });
  document.querySelectorAll('a[href^="#"]').forEach((link) => {
    link.addEventListener("click", () => unfold(document.querySelector(link.hash)));
  });
  unfold(window.location.hash ? document.querySelector(window.location.hash) : null);
}

/** Tell the page that this one is framed in how high it is, as the app listens to it. */
function tellHeight() {
  if (window.parent === window) return;
  const tell = () => {
    const { height } = document.body.getBoundingClientRect();
    window.parent.postMessage({ type: "pckid:height", height: Math.ceil(height) }, "*");
  };
  new ResizeObserver(tell).observe(document.body);
}

/** Bring the page to life. */
async function start() {
  const data = await readData();
  const store = makeStore(data);
  document.querySelectorAll(".needs-script").forEach((part) => (part.hidden = false));
  const ofSeveral = data.names.length > 1 ? [showStatus, showMap, showNumbers] : [];
  [showProfile, ...ofSeveral, showScene, showSeries, showRows, showFigures].forEach((show) => show(store));
  labelCells();
  foldSections();
  store.on("rename", labelCells);
  tellHeight();
  document.documentElement.classList.add("ready");
}

start();
