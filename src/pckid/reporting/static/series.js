// Series: the series of the row that is pointed at, over the courses of the clusters.

/** Draw the values of a row into the figure of each variable. */
function showSeries(store) {
  const { series } = store.data;
  if (!series) return;
  const figures = Array.from(document.querySelectorAll("#series svg"));
  store.on("hover", () => {
    const own = series.values[store.hovered] ?? [];
    figures.forEach((svg, variable) => {
      svg.querySelector(".own-series")?.remove();
      const [x0, perX, y0, perY] = svg.dataset.scale.split(" ").map(Number);
      const points = own
        .map((values, time) => [series.positions[time], values[variable]])
        .filter(([, value]) => value !== null)
        .map(([x, y]) => [x0 + perX * x, y0 + perY * y]);
      const group = svgElement("g", { class: "own-series" });
      group.append(svgElement("polyline", { points: points.join(" ") }));
      group.append(...points.map(([cx, cy]) => svgElement("circle", { cx, cy, r: 3 })));
      svg.append(group);
    });
  });
}
