"use strict";
// Reading the data that travels in the page, and writing it as text.

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
  const text = date.toISOString().replace(/^\+?(-?)0*(\d{4})/, "$1$2");
  return text.replace("T", " ").slice(0, text.indexOf("T") + (kind === "date" ? 0 : 6));
}

/** Write a value of a column of numbers: a date, or a number with the column's unit. */
function formatValue(column, value, number = formatNumber(value)) {
  if (["date", "datetime", "time"].includes(column.form)) return formatDate(value, column.form);
  if (!column.form) return number;
  if (!/[$£¥₹₩₪₱]$/.test(column.form)) return `${number} ${column.form}`;
  return number.startsWith("-") ? `-${column.form}${number.slice(1)}` : column.form + number;
}

/** Write a cell as text; a dash where it is missing. */
function cellText(column, row) {
  const value = column.values[row];
  if (value === null) return "–";
  if (column.categories) return column.categories[value];
  const fits = Math.abs(value) < 10000 && column.decimals <= 6;
  return formatValue(column, value, fits ? value.toFixed(column.decimals) : formatNumber(value));
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

/** List the numbers from 0 to below another. */
function range(end) {
  return Array.from({ length: end }, (_, number) => number);
}

/** Make an element; text is never read as markup. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Make an element of SVG. */
function svgElement(tag, attributes = {}) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

/** Make an element for a text from the table: cut to a width, with a direction of its own. */
function nameElement(text, width = 80) {
  return element("bdi", {}, brief(text, width));
}

/** The colour of a cluster, as the style sheet has it. */
function colourOf(cluster) {
  return cluster < 0 ? "var(--soft)" : `var(--c${cluster % 10})`;
}

/** Draw the sign of a cluster. */
function signElement({ signs }, cluster) {
  const svg = svgElement("svg", { class: "sign", viewBox: "-1.4 -1.4 2.8 2.8", "aria-hidden": "true" });
  svg.append(svgElement("path", { d: signs[cluster % signs.length], fill: colourOf(cluster) }));
  return svg;
}

/** Offer a file to keep. */
function download(name, content, type) {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
