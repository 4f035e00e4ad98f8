// How the values of each column are spread in each cluster; what is selected stands out.

const N_BINS = 24;
const MAX_BARS = 12;
const N_FIRST = 12;

/** Draw a card for each column; those beyond the first dozen when asked for. */
function showDistributions(store) {
  const place = document.getElementById("distribution-cards");
  if (!place) return;
  const columns = store.rows.columns;
  const more = document.getElementById("more-columns");
  const add = (some) => some.forEach((column) => place.append(distributionCard(store, column)));
  add(columns.slice(0, N_FIRST));
  more.hidden = columns.length <= N_FIRST;
  more.textContent = `Show ${counted(columns.length - N_FIRST, "more column")}`;
  more.addEventListener("click", () => {
    more.hidden = true;
    add(columns.slice(N_FIRST));
  });
}

/** Make the card of a column. */
function distributionCard(store, column) {
  const bars = column.categories ? categoryBars(column) : numberBars(column);
  const all = countBars(store, column, bars, () => true);
  const value = element("span", { class: "value" });
  const needle = element("span", { class: "needle", "aria-hidden": "true" });
  needle.hidden = true;
  const missing = column.values.filter((each) => each === null).length;
  const words = `Histograms of ${column.name}, one for each cluster. The data tables below give its quartiles or shares.`;
  const title = element("h3", {}, nameElement(column.name), column.used ? "" : " (not used)");
  const [card, chartPlace] = chartCard(words, element("div", { class: "card-head" }, title, value));
  const note = missing ? `${((100 * missing) / store.n).toFixed(1)} % missing` : "none missing";
  card.append(element("p", { class: "soft" }, note));
  let chart = null;
  const point = () => {
    const known = chart && store.hovered !== null && column.values[store.hovered] !== null;
    value.textContent = known ? brief(cellText(column, store.hovered), 24) : "";
    needle.hidden = !known;
    if (known) needle.style.left = `${needlePlace(chart, bars, column, store.hovered)}px`;
    if (known) needle.style.height = `${chart.scale("fy").range[1]}px`;
  };
  const draw = (width) => {
    const shown = store.isAll() ? all : countBars(store, column, bars, store.isSelected);
    chart = drawBars(store, bars, all, shown, width);
    chartPlace.replaceChildren(chart, needle);
    point();
  };
  store.on("select", whenWidthChanges(chartPlace, draw));
  store.on("hover", point);
  return card;
}

/** Cut the values of a column of numbers into bars; few different values have one each. */
function numberBars(column) {
  const seen = column.values.filter((value) => value !== null).sort(d3.ascending);
  const values = Array.from(new Set(seen));
  if (values.length <= MAX_BARS) {
    return { labels: values.map((value) => formatValue(column, value)), of: (value) => values.indexOf(value) };
  }
  const [first, last] = [d3.quantileSorted(seen, 0.01), d3.quantileSorted(seen, 0.99)];
  const reach = (last - first) / 2 || 1;
  const low = Math.max(seen[0], first - reach);
  const high = Math.min(seen[seen.length - 1], last + reach);
  const width = (high - low) / N_BINS;
  const clamp = (bin) => Math.max(0, Math.min(N_BINS - 1, bin));
  return { low, high, width, column, of: (value) => clamp(Math.floor((value - low) / width)) };
}

/** Give each of the commonest categories a bar, and one to all the others; an order is kept. */
function categoryBars(column) {
  const seen = column.values.filter((value) => value !== null);
  const counts = d3.rollup(seen, (found) => found.length, (value) => value);
  const common = (a, b) => counts.get(b) - counts.get(a) || a - b;
  const order = Array.from(counts.keys()).sort(column.ordered ? d3.ascending : common);
  const most = column.ordered ? MAX_BARS : 8;
  const kept = order.length > most ? order.slice(0, most - 1) : order;
  const labels = kept.map((code) => column.categories[code]);
  if (order.length > kept.length) labels.push(`${order.length - kept.length} others`);
  const places = new Map(order.map((code, place) => [code, Math.min(place, labels.length - 1)]));
  return { labels, of: (code) => places.get(code) };
}

/** Count rows by cluster and bar, as shares of the cluster's rows that have a value. */
function countBars(store, column, bars, wanted) {
  const counts = store.data.clusters.map(() => new Map());
  const sizes = store.data.clusters.map(() => 0);
  column.values.forEach((value, row) => {
    const cluster = store.rows.label[row];
    if (value === null || cluster < 0) return;
    sizes[cluster] += 1;
    if (wanted(row))
      counts[cluster].set(bars.of(value), (counts[cluster].get(bars.of(value)) ?? 0) + 1);
  });
  return counts.flatMap((found, cluster) =>
    Array.from(found, ([bar, count]) => ({ cluster, bar, share: count / sizes[cluster] })),
  );
}

/** Draw one strip of bars for each cluster, above each other on one axis. */
function drawBars(store, bars, all, shown, width) {
  const clusters = d3.range(store.data.clusters.length);
  const labels = bars.labels && briefAll(bars.labels, 16);
  const longest = d3.max(labels ?? [], (label) => label.length) ?? 0;
  const slanted = longest > (width - 40) / (labels?.length ?? 1) / 7; // less the margins
  const bottom = slanted ? 22 + 3.4 * longest : 22; // for the axis
  const strip = Math.max(18, Math.min(34, 150 / clusters.length));
  const x = bars.labels
    ? {
        type: "band",
        domain: d3.range(bars.labels.length),
        label: null,
        tickFormat: (bar) => labels[bar],
        tickRotate: slanted ? -40 : 0,
      }
    : { domain: [bars.low, bars.high], label: null, ticks: 4, ...columnTicks(bars, width) };
  const mark = (found, opacity) => {
    const options = { fy: "cluster", y: "share", fill: "cluster", fillOpacity: opacity };
    return bars.labels
      ? Plot.barY(found, { ...options, x: "bar" })
      : Plot.rectY(found, {
          ...options,
          x1: (each) => bars.low + each.bar * bars.width,
          x2: (each) => bars.low + (each.bar + 1) * bars.width,
          insetLeft: 0.5,
          insetRight: 0.5,
        });
  };
  return drawChart({
    width,
    height: Math.round(strip * clusters.length + bottom + 4),
    marginTop: 4,
    marginLeft: 24,
    marginRight: 8,
    marginBottom: bottom,
    x,
    y: { axis: null, domain: [0, d3.max(all, (each) => each.share) || 1] },
    fy: { domain: clusters, label: null, padding: 0.12, tickFormat: String, axis: "left" },
    color: clusterScales(clusters.length).color,
    marks: [
      Plot.ruleY([0], { stroke: "var(--line)" }),
      store.isAll() ? null : mark(all, 0.22),
      mark(shown, 1),
    ],
  });
}

/** Put ticks at round dates, and write what is no plain number as it is written elsewhere. */
function columnTicks({ column, ...bars }, width) {
  if (!column.form) return {};
  const count = Math.max(2, Math.min(4, Math.floor(width / 90)));
  if (!["date", "datetime"].includes(column.form)) {
    return { ticks: count, tickFormat: (value) => formatValue(column, value) };
  }
  const ends = [bars.low, bars.high].map((value) => new Date(value * 864e5));
  const scale = d3.scaleUtc().domain(ends);
  const format = scale.tickFormat(count);
  return {
    ticks: scale.ticks(count).map((date) => date.getTime() / 864e5),
    tickFormat: (value) => format(new Date(Math.round(value * 864e5))),
  };
}

/** Find where a row's value lies in the chart of its column. */
function needlePlace(chart, bars, column, row) {
  const scale = chart.scale("x");
  const value = column.values[row];
  if (bars.labels) return scale.apply(bars.of(value)) + scale.bandwidth / 2;
  return scale.apply(Math.max(bars.low, Math.min(bars.high, value)));
}
