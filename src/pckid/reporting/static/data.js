"use strict";
// Reading the data that travels in the page, and writing it as text.

const N_COLOURS = 10;
const SYMBOLS = [
  ...["Circle", "Square", "Triangle", "Diamond", "Star", "Cross", "Wye"].map(
    (name) => d3[`symbol${name}`],
  ),
  polygon([[0, 1.2], [-1.05, -0.6], [1.05, -0.6]]),
  polygon([[-0.9, -0.9], [0.9, -0.9], [-0.9, 0.9], [0.9, 0.9]]),
  polygon(d3.range(6).map((corner) => [Math.sin, Math.cos].map((of) => of((corner * Math.PI) / 3)))),
];

/** Make a sign of corners, as far as 1 from its middle for an area of about 3. */
function polygon(corners) {
  return {
    draw(context, size) {
      const scale = Math.sqrt(size / 2.6);
      corners.forEach(([x, y], place) => context[place ? "lineTo" : "moveTo"](scale * x, scale * y));
      context.closePath();
    },
  };
}

/** Unpack the data block: base64 of gzip of JSON. */
async function readData() {
  const text = document.getElementById("data").textContent.trim();
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

/** Write a number with four figures that count, without an exponent up to 15 digits. */
function formatNumber(value) {
  if (Math.abs(value) >= 1e15) return value.toExponential(3).replace(/\.?0*e/, "e");
  if (Math.abs(value) >= 10000) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(4)));
}

/** Write days since 1970 began as a date, or hours as hours:minutes. */
function formatDate(value, kind) {
  if (kind === "time") {
    const minutes = Math.round(Math.abs(value) * 60);
    const sign = value < 0 && minutes > 0 ? "-" : "";
    return `${sign}${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}`;
  }
  const date = new Date(Math.round(value * 1440) * 60000);
  if (Number.isNaN(date.getTime())) return formatNumber(value);
  return d3.utcFormat(kind === "date" ? "%Y-%m-%d" : "%Y-%m-%d %H:%M")(date);
}

/** Whether a column holds dates or hours. */
function isDate(column) {
  return ["date", "datetime", "time"].includes(column.form);
}

/** Write a value of a column of numbers: a date, or a number with the column's unit. */
function formatValue(column, value, number = formatNumber(value)) {
  if (isDate(column)) return formatDate(value, column.form);
  if (!column.form) return number;
  if (!/[$£¥₹₩₪₱]$/.test(column.form)) return `${number} ${column.form}`;
  return number.startsWith("-") ? `-${column.form}${number.slice(1)}` : column.form + number;
}

/** Write a cell as text; a dash where it is missing. */
function cellText(column, row) {
  const value = column.values[row];
  if (value === null) return "–";
  if (column.categories) return column.categories[value];
  if (isDate(column)) return formatValue(column, value);
  column.decimals ??= countDecimals(column.values);
  const fits = Math.abs(value) < 10000 && column.decimals <= 6;
  return formatValue(column, value, fits ? value.toFixed(column.decimals) : formatNumber(value));
}

/** Find how many decimals the numbers of a column need: about four figures, none in vain. */
function countDecimals(values) {
  const seen = values.filter((value) => value !== null);
  const size = d3.quantile(seen.map(Math.abs), 0.9) || 1;
  const wanted = Math.max(0, 3 - Math.floor(Math.log10(size)));
  if (wanted > 6) return wanted;
  return (
    d3.max(seen, (value) => (String(Number(value.toFixed(wanted))).split(".")[1] ?? "").length) ?? 0
  );
}

/** Write a number of things: "1 row", "1,200 rows". */
function counted(number, thing) {
  return `${number.toLocaleString("en")} ${thing}${number === 1 ? "" : "s"}`;
}

/** Take out the middle of a text that is too long for its place: many differ only at the end. */
function brief(text, width) {
  const last = Math.floor(width / 3);
  return text.length <= width ? text : `${text.slice(0, width - 1 - last)}…${text.slice(-last)}`;
}

/** Cut texts to a width at which those that differ still do, within reason. */
function briefAll(texts, width) {
  const cut = texts.map((text) => brief(text, width));
  const clear = new Set(cut).size === new Set(texts).size;
  return clear || width > 40 ? cut : briefAll(texts, width + 4);
}

/** Make an element; text is never read as markup. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Make an element for a text from the table: cut to a width, with a direction of its own. */
function nameElement(text, width = 80) {
  return element("bdi", {}, brief(text, width));
}

/** The colour of a cluster, as the style sheet has it. */
function colourOf(cluster) {
  return cluster < 0 ? "var(--soft)" : `var(--c${cluster % N_COLOURS})`;
}

/** The sign of a cluster. */
function symbolOf(cluster) {
  return SYMBOLS[cluster % SYMBOLS.length];
}

/** Draw the sign of a cluster into an element. */
function drawSign(place, cluster) {
  const svg = d3.select(place).classed("drawn", true).append("svg");
  svg.attr("viewBox", "-8 -8 16 16").attr("aria-hidden", "true");
  svg.append("path").attr("d", d3.symbol(symbolOf(cluster), 90)()).attr("fill", colourOf(cluster));
}

/** Scales that give the first so many clusters their colours and signs in a chart. */
function clusterScales(count) {
  const domain = d3.range(count);
  return {
    color: { type: "ordinal", domain, range: domain.map(colourOf) },
    symbol: { domain, range: domain.map(symbolOf) },
  };
}

/** What a cluster is called in little space: its number, or the name that it was given. */
function shortName(name, width) {
  return brief(name.replace(/^Cluster (?=\d+$)/, ""), width);
}

/** Make the card of a chart, which `words` describe; returned with the place of the chart. */
function chartCard(words, ...head) {
  const place = element("div", { class: "chart-place", role: "img", "aria-label": words });
  return [element("article", { class: "card" }, ...head, place), place];
}

/** Draw a chart; the words for readers who do not see it stand at the place it goes to. */
function drawChart(options) {
  const chart = Plot.plot({ className: "chart", ...options });
  chart.querySelectorAll("[aria-label]").forEach((part) => part.removeAttribute("aria-label"));
  return chart;
}
