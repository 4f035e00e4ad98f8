// The map: point at a row, click a cluster, draw a box around rows.

const SMALL_CLOUD = 15;

/** Draw the map, and again when its place changes its width. */
function showMap(store) {
  const place = document.getElementById("map-chart");
  let nodes = new Map();
  let brush = null;
  const mark = () => {
    for (const [row, node] of nodes) node.classList.toggle("off", !store.isSelected(row));
    if (brush && !store.chosen) brush.clear();
  };
  const point = () => {
    place.querySelector(".hovered")?.classList.remove("hovered");
    const node = nodes.get(store.hovered);
    if (node) node.parentNode.appendChild(node).classList.add("hovered");
  };
  const draw = (width) => {
    const chart = drawDots(store, width);
    const drawn = Array.from(chart.querySelectorAll(".dots > *"));
    nodes = new Map(drawn.map((node) => [store.rows.dots[node.__data__], node]));
    place.replaceChildren(chart);
    brush = followPointer(store, chart);
    mark();
    point();
  };
  const again = whenWidthChanges(place, draw);
  store.on("number", again);
  store.on("rename", again);
  store.on("select", mark);
  store.on("hover", point);
}

// Where there is less room, as for a moment while a page is printed, margins alone would fill it.
const NARROWEST = 80;

/** Draw whenever an element has another width; what is returned draws again with the last one. */
function whenWidthChanges(place, draw) {
  let width = 0;
  new ResizeObserver(() => {
    const now = Math.floor(place.clientWidth);
    if (now >= NARROWEST && now !== width) draw((width = now));
  }).observe(place);
  return () => width > 0 && draw(width);
}

/** Draw a dot for each row, sign and colour by cluster, size by confidence; name each cloud. */
function drawDots(store, width) {
  const { rows } = store;
  const height = Math.round(Math.min(width, Math.max(320, 0.5 * width), 560));
  const [x, y] = equalDomains(rows, width - 40, height - 40);
  const signs = store.signs ?? rows.label;
  return drawChart({
    width,
    height,
    margin: 20,
    axis: null,
    x: { domain: x },
    y: { domain: y },
    r: { type: "identity" },
    ...clusterScales(Math.max(store.data.clusters.length, d3.max(signs) + 1)),
    marks: [
      Plot.link(store.signs ? [] : linksWithoutGap(store), {
        className: "no-gap",
        x1: (link) => link[0].x,
        y1: (link) => link[0].y,
        x2: (link) => link[1].x,
        y2: (link) => link[1].y,
        stroke: "currentColor",
        strokeDasharray: "4 4",
        strokeWidth: 1.5,
      }),
      Plot.dot(rows.dots, {
        className: "dots",
        sort: null,
        x: (row) => rows.x[row],
        y: (row) => rows.y[row],
        r: (row) => (store.data.sure ? 2.2 + 2.8 * rows.confidence[row] : 4),
        fill: (row) => signs[row],
        symbol: (row) => signs[row],
      }),
      // Inside a cloud, but above a small one, which it would cover.
      ...[false, true].map((isSmall) => nameClouds(store, signs, isSmall)),
    ],
  });
}

/** Write the number of a cluster, or its name, at its cloud; of the small ones, or of the others. */
function nameClouds(store, signs, isSmall) {
  const clouds = Array.from(findMiddles(store.rows, signs));
  return Plot.text(
    clouds.filter(([, middle]) => middle.size < SMALL_CLOUD === isSmall),
    {
      className: "cloud-name",
      x: ([, middle]) => middle.x,
      y: ([, middle]) => middle.y,
      dy: isSmall ? -16 : 0,
      text: ([sign]) => String(store.signNames?.[sign] ?? shortName(store.names[sign], 16)),
      fill: "var(--ink)",
      stroke: "var(--panel)",
      strokeWidth: 5,
      fontSize: 15,
      fontWeight: 700,
    },
  );
}

/** Find the middle of each cluster's cloud and how many dots it has, by its sign. */
function findMiddles(rows, signs) {
  return d3.rollup(
    rows.dots,
    (dots) => ({
      x: d3.median(dots, (row) => rows.x[row]),
      y: d3.median(dots, (row) => rows.y[row]),
      size: dots.length,
    }),
    (row) => signs[row],
  );
}

/** Link the middles of clusters that have no gap between them. */
function linksWithoutGap({ data, rows }) {
  const middles = findMiddles(rows, rows.label);
  return data.without_gap
    .map((pair) => pair.map((cluster) => middles.get(cluster)))
    .filter((link) => link.every((middle) => middle !== undefined));
}

/** Find domains in which a unit is as long across as it is up. */
function equalDomains(rows, width, height) {
  const [left, right] = d3.extent(rows.x);
  const [bottom, top] = d3.extent(rows.y);
  const unit = Math.max((right - left) / width, (top - bottom) / height) || 1;
  const around = (low, high, length) =>
    [-1, 1].map((side) => (low + high + side * unit * length) / 2);
  return [around(left, right, width), around(bottom, top, height)];
}

/** Let the pointer show rows, choose them by a box, or choose a cluster by a click. */
function followPointer(store, chart) {
  const { rows } = store;
  const [x, y] = ["x", "y"].map((name) => chart.scale(name));
  const tree = d3.quadtree(
    rows.dots,
    (row) => x.apply(rows.x[row]),
    (row) => y.apply(rows.y[row]),
  );
  const nearest = (event) => tree.find(...d3.pointer(event, chart), 24) ?? null;
  let pressed = null;
  const brush = d3
    .brush()
    .touchable(false)
    .on("start", ({ sourceEvent }) => {
      if (sourceEvent) pressed = d3.pointer(sourceEvent, chart);
    })
    .on("end", ({ sourceEvent, selection }) => {
      if (!sourceEvent) return;
      const [across, down] = d3.pointer(sourceEvent, chart);
      const moved = Math.hypot(across - pressed[0], down - pressed[1]) > 3;
      if (moved && selection) store.selectRows(rowsInside(rows, selection, x, y));
      else choose(store, nearest(sourceEvent));
    });
  const layer = d3.select(chart).append("g").attr("class", "brush").call(brush);
  chart.addEventListener("pointermove", (event) => store.hover(nearest(event)));
  chart.addEventListener("click", (event) => {
    if (event.pointerType !== "touch") return;
    store.hover(nearest(event));
    choose(store, nearest(event));
  });
  return { clear: () => layer.call(brush.clear) };
}

/** Choose the cluster of a row, of the number that is shown; nothing where there is no row. */
function choose(store, row) {
  const { signs, rows } = store;
  if (row === null) store.clear();
  else if (signs) store.selectRows(d3.range(store.n).filter((each) => signs[each] === signs[row]));
  else if (store.cluster !== rows.label[row]) store.selectCluster(rows.label[row]);
}

/** List the rows inside a box, those that are not drawn among them. */
function rowsInside(rows, [[left, top], [right, bottom]], x, y) {
  return d3.range(rows.label.length).filter((row) => {
    if (rows.x[row] === null) return false;
    const [across, down] = [x.apply(rows.x[row]), y.apply(rows.y[row])];
    return left <= across && across <= right && top <= down && down <= bottom;
  });
}
