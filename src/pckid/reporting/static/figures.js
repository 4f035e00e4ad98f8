// Figures leave the page: as SVG with colours and fonts of their own, and as PNG of 300 dpi.

const DPI = 300;

/** Give every figure its buttons. */
function showFigures(store) {
  document.querySelectorAll("[data-figure]").forEach((place) => {
    const name = place.dataset.figure;
    const svg = () => store.data.figures[name] ?? standAlone(place.querySelector("svg"), store.data.palettes.light);
    const save = {
      SVG: () => download(`${name}.svg`, svg(), "image/svg+xml"),
      PNG: async () => download(`${name}.png`, await drawPng(svg())),
    };
    const buttons = Object.entries(save).map(([kind, act]) => {
      const title = kind === "PNG" ? `${DPI} dpi` : "vectors";
      const button = element("button", { type: "button", title }, `Save ${kind}`);
      button.append(element("span", { class: "unseen" }, ` of ${name}`));
      button.addEventListener("click", act);
      return button;
    });
    document.querySelector(`[data-toolbar="${name}"]`).append(...buttons);
  });
}

/** Write a figure of the page as a file: without classes, in a palette. */
function standAlone(svg, palette) {
  const own = svg.cloneNode(true);
  own.querySelectorAll(".box, .own-series, .other-name").forEach((part) => part.remove());
  own.querySelectorAll("[class]").forEach((part) => part.removeAttribute("class"));
  own.querySelectorAll("[data-name]").forEach((part) => part.removeAttribute("data-name"));
  ["class", "data-name", "data-scale"].forEach((name) => own.removeAttribute(name));
  own.setAttribute("font-family", palette.fonts);
  const ground = svgElement("rect", { width: "100%", height: "100%", fill: "var(--page)" });
  own.prepend(ground);
  const text = new XMLSerializer().serializeToString(own);
  return text.replace(/var\(--([a-z0-9-]+)\)/g, (_, name) => palette[name]);
}

/** Draw an SVG as PNG that says of itself how large it is. */
async function drawPng(svg) {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  await image.decode();
  const scale = DPI / 96;
  const [width, height] = [image.width * scale, image.height * scale].map(Math.round);
  const canvas = Object.assign(element("canvas"), { width, height });
  canvas.getContext("2d").drawImage(image, 0, 0, width, height);
  URL.revokeObjectURL(image.src);
  const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
  const bytes = new Uint8Array(await blob.arrayBuffer());
  // How many pixels there are in a metre, as the chunk pHYs with its checksum, after the first one.
  const chunk = "000000097048597300002e2300002e230178a53f76".match(/../g);
  const size = Uint8Array.from(chunk, (pair) => parseInt(pair, 16));
  return new Blob([bytes.slice(0, 33), size, bytes.slice(33)], { type: "image/png" });
}
