// Series: the course of each cluster over time, and the series of the row that is pointed at.

/** Draw a card for each variable, where the table has series. */
function showSeries(store) {
  const { series } = store.data;
  if (!series) return;
  const place = document.getElementById("series-cards");
  series.variables.forEach((name, variable) => place.append(seriesCard(store, name, variable)));
}

/** Make the card of a variable. */
function seriesCard(store, name, variable) {
  const words = `Medians of ${name} over time, one line for each cluster. The data tables below give them with their quartiles.`;
  const [card, chartPlace] = chartCard(words, element("h3", {}, nameElement(name)));
  for (const draw of [drawCourses, drawObserved]) {
    const part = element("div");
    const again = whenWidthChanges(part, (width) =>
      part.replaceChildren(draw(store, variable, width)),
    );
    store.on("select", again);
    if (draw === drawCourses) store.on("hover", again);
    chartPlace.append(part);
  }
  return card;
}

/** List what is known of a variable at each time, for the clusters that have selected rows. */
function listPoints(store, variable) {
  const { series } = store.data;
  const shown = new Set(store.selected().map((row) => store.rows.label[row]));
  return series.observed
    .flatMap((times, cluster) =>
      times.map((shares, time) => ({
        cluster,
        x: series.positions[time],
        observed: shares[variable],
        low: series.quartiles[0][cluster][time][variable],
        middle: series.quartiles[1][cluster][time][variable],
        high: series.quartiles[2][cluster][time][variable],
      })),
    )
    .filter((point) => shown.has(point.cluster));
}

/** What both charts of a card share. */
function seriesOptions(store, width) {
  return {
    width,
    marginLeft: 48,
    marginRight: 8,
    ...clusterScales(store.data.clusters.length),
    x: {
      type: store.data.series.dates ? "utc" : "linear",
      domain: d3.extent(store.data.series.positions),
      label: null,
      ticks: 4,
    },
  };
}

/** Draw medians and quartiles, and the row that is pointed at. */
function drawCourses(store, variable, width) {
  const { series } = store.data;
  const points = listPoints(store, variable).filter((point) => point.middle !== null);
  const own = series.values[store.hovered] ?? [];
  const row = own
    .map((values, time) => ({ x: series.positions[time], y: values[variable] }))
    .filter((point) => point.y !== null);
  const options = seriesOptions(store, width);
  return drawChart({
    ...options,
    height: 190,
    marginTop: 8,
    marginBottom: 8,
    x: { ...options.x, axis: null },
    y: { label: null, ticks: 4, grid: true, nice: true },
    marks: [
      Plot.areaY(points, {
        x: "x",
        y1: "low",
        y2: "high",
        fill: "cluster",
        fillOpacity: 0.18,
        z: "cluster",
      }),
      Plot.lineY(points, { x: "x", y: "middle", stroke: "cluster", strokeWidth: 2 }),
      Plot.dot(points, { x: "x", y: "middle", fill: "cluster", symbol: "cluster", r: 3.5 }),
      Plot.lineY(row, { x: "x", y: "y", stroke: "currentColor", strokeDasharray: "4 3" }),
      Plot.dot(row, { x: "x", y: "y", fill: "currentColor", r: 3, className: "own-series" }),
    ],
  });
}

/** Draw the share of rows with a value. */
function drawObserved(store, variable, width) {
  return drawChart({
    ...seriesOptions(store, width),
    height: 70,
    marginTop: 6,
    marginBottom: 24,
    y: { domain: [0, 1], ticks: [0, 1], tickFormat: "%", label: null },
    marks: [
      Plot.ruleY([0], { stroke: "var(--line)" }),
      Plot.lineY(listPoints(store, variable), { x: "x", y: "observed", stroke: "cluster" }),
    ],
  });
}
