// The map of a scene: pixels below a confidence are hidden, those of other clusters are pale.

/** Let the map follow the slider, and the cluster that is selected. */
async function showScene(store) {
  const { scene } = store.data;
  if (!scene) return;
  const image = document.querySelector('[data-figure="scene"] image');
  const own = await readPixels(image);
  const sure = await readPixels(document.querySelector('[data-figure="scene-confidence"] image'));
  const slider = document.getElementById("sureness");
  const key = (pixels, at) => (pixels[at] << 16) | (pixels[at + 1] << 8) | pixels[at + 2];
  const classOf = new Map(scene.colours.map((colour, place) => [parseInt(colour.slice(1), 16), place]));
  const canvas = Object.assign(element("canvas"), { width: own.width, height: own.height });
  const paint = () => {
    const least = Number(slider.value);
    const chosen = store.cluster === null ? null : scene.groups.findIndex((group) => group.includes(store.cluster));
    const shown = new ImageData(own.data.slice(), own.width);
    let [inside, kept] = [0, 0];
    for (let at = 0; at < shown.data.length; at += 4) {
      if (!own.data[at + 3]) continue;
      // The picture of the confidence is white at 0 and dark at 1.
      const isSure = (255 - sure.data[at]) / (255 - scene.dark) >= least - 0.008;
      const isChosen = chosen === null || classOf.get(key(own.data, at)) === chosen;
      inside += 1;
      kept += isSure && isChosen;
      shown.data[at + 3] = !isSure ? 0 : isChosen ? 255 : 40;
    }
    canvas.getContext("2d").putImageData(shown, 0, 0);
    image.setAttribute("href", canvas.toDataURL());
    document.getElementById("sureness-value").textContent = slider.value;
    const share = `${((100 * kept) / Math.max(inside, 1)).toFixed(1)} % of the pixels`;
    document.getElementById("sureness-share").textContent = least || chosen !== null ? share : "";
  };
  slider.addEventListener("input", paint);
  store.on("select", paint);
  if (Number(slider.value)) paint(); // moved before the pictures were read
}

/** Read the pixels of a picture in a figure. */
async function readPixels(image) {
  const picture = new Image();
  picture.src = image.getAttribute("href");
  await picture.decode();
  const { width, height } = picture;
  const context = Object.assign(element("canvas"), { width, height }).getContext("2d", { willReadFrequently: true });
  context.drawImage(picture, 0, 0);
  return context.getImageData(0, 0, width, height);
}
