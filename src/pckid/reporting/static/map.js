// The map: point at a row, click a cluster, draw a box around rows.

/** Let the drawn map answer the pointer, and follow what is selected elsewhere. */
function showMap(store) {
  const svg = document.querySelector("#map svg");
  const dots = Array.from(svg.querySelectorAll(".dots > path"));
  const dotOf = new Map(store.rows.dots.map((row, place) => [row, dots[place]]));
  const places = dots.map((dot) => {
    const { e, f } = dot.transform.baseVal.consolidate().matrix;
    return [e, f];
  });
  const label = (row) => store.signs?.[row] ?? store.rows.label[row];
  const titles = Array.from(svg.querySelectorAll("text"));
  const paint = () => {
    const { signs } = store.data;
    store.rows.dots.forEach((row, place) => {
      dots[place].setAttribute("fill", colourOf(label(row)));
      dots[place].setAttribute("d", signs[label(row) % signs.length]);
    });
    svg.querySelectorAll(".other-name").forEach((text) => text.remove());
    titles.forEach((text) => text.classList.toggle("gone", store.signs !== null));
    svg.querySelectorAll("path[stroke-dasharray]").forEach((line) => line.classList.toggle("gone", store.signs !== null));
    if (store.signs) nameClouds(store, svg, places, titles[0]);
  };
  store.on("number", paint);
  store.on("select", () => {
    for (const [row, dot] of dotOf) dot.classList.toggle("off", !store.isSelected(row));
  });
  store.on("hover", () => {
    svg.querySelector(".hovered")?.classList.remove("hovered");
    dotOf.get(store.hovered)?.classList.add("hovered");
  });
  followPointer(store, svg, places, label);
}

/** Write the numbers of other clusters at the middles of their clouds. */
function nameClouds(store, svg, places, model) {
  const clouds = {};
  store.rows.dots.forEach((row, place) => (clouds[store.signs[row]] ??= []).push(places[place]));
  const middle = (numbers) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
  for (const [sign, cloud] of Object.entries(clouds)) {
    const text = model.cloneNode();
    text.removeAttribute("data-name");
    text.setAttribute("class", "other-name");
    text.setAttribute("x", middle(cloud.map(([x]) => x)));
    text.setAttribute("y", middle(cloud.map(([, y]) => y)) + 5);
    text.textContent = store.signNames[sign];
    svg.append(text);
  }
}

/** Let the pointer show rows, choose them by a box, or choose a cluster by a click. */
function followPointer(store, svg, places, label) {
  const { rows } = store;
  const at = (event) => {
    const point = new DOMPoint(event.clientX, event.clientY);
    const { x, y } = point.matrixTransform(svg.getScreenCTM().inverse());
    return [x, y];
  };
  const nearest = (event) => {
    const [x, y] = at(event);
    let [best, found] = [24 ** 2, null];
    places.forEach(([across, down], place) => {
      const distance = (across - x) ** 2 + (down - y) ** 2;
      if (distance < best) [best, found] = [distance, rows.dots[place]];
    });
    return found;
  };
  const choose = (row) => {
    if (row === null) store.clear();
    else if (store.signs) store.selectRows(range(store.n).filter((each) => label(each) === label(row)));
    else if (store.cluster !== rows.label[row]) store.selectCluster(rows.label[row]);
  };
  const box = svgElement("rect", { class: "box", visibility: "hidden" });
  svg.append(box);
  let from = null;
  svg.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "touch" || event.button) return;
    from = at(event);
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointermove", (event) => {
    if (!from) return store.hover(nearest(event));
    const to = at(event);
    const [left, right] = [from[0], to[0]].sort((a, b) => a - b);
    const [top, bottom] = [from[1], to[1]].sort((a, b) => a - b);
    const size = { x: left, y: top, width: right - left, height: bottom - top };
    for (const [name, value] of Object.entries(size)) box.setAttribute(name, value);
    box.setAttribute("visibility", Math.hypot(right - left, bottom - top) > 3 ? "visible" : "hidden");
  });
  svg.addEventListener("pointerup", (event) => {
    if (from && box.getAttribute("visibility") === "visible") {
      store.selectRows(rowsInside(store, svg, ["x", "y", "width", "height"].map((name) => Number(box.getAttribute(name)))));
    } else if (from || event.pointerType === "touch") {
      store.hover(nearest(event));
      choose(nearest(event));
    }
    from = null;
    box.setAttribute("visibility", "hidden");
  });
}

/** List the rows inside a box, those that are not drawn among them. */
function rowsInside({ n, rows }, svg, [left, top, width, height]) {
  const [x0, perX, y0, perY] = svg.dataset.scale.split(" ").map(Number);
  return range(n).filter((row) => {
    if (rows.x[row] === null) return false;
    const [across, down] = [x0 + perX * rows.x[row], y0 + perY * rows.y[row]];
    return left <= across && across <= left + width && top <= down && down <= top + height;
  });
}
