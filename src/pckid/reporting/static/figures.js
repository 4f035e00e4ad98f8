// The charts that do not follow the selection: confidence, likeness, number of clusters, what is missing.

/** Draw every such chart in its place, and again when the place changes its width. */
function showFigures(store) {
  const draw = {
    null: drawNull,
    confidence: drawConfidence,
    likeness: drawLikeness,
    numbers: drawNumbers,
    missing: drawMissing,
    outcome: drawOutcome,
    flow: drawFlow,
  };
  document.querySelectorAll("[data-chart]").forEach((place) => {
    const chart = draw[place.dataset.chart];
    const again = whenWidthChanges(place, (width) =>
      place.replaceChildren(chart(store, Math.min(width, 760), place.dataset.index)),
    );
    if ([drawLikeness, drawOutcome, drawFlow].includes(chart)) store.on("rename", again);
  });
}

/** How clear the clusters are against those of tables without groups. */
function drawNull({ data }, width) {
  const { table, others } = data.null;
  return drawChart({
    width,
    height: 150,
    marginBottom: 40,
    marginLeft: 20,
    marginRight: 50,
    r: { type: "identity" },
    x: { label: "clearness, in standard deviations", grid: true, nice: true, ticks: 6 },
    marks: [
      Plot.dot(
        others,
        Plot.dodgeY({ x: (value) => value, r: 4, fill: "var(--heat)", fillOpacity: 0.35 }),
      ),
      Plot.dot([table], {
        x: (value) => value,
        frameAnchor: "bottom",
        dy: -8,
        r: 8,
        fill: "var(--heat)",
      }),
      Plot.text([table], {
        x: (value) => value,
        frameAnchor: "bottom",
        dy: -26,
        text: () => "this table",
        fontWeight: 600,
      }),
    ],
  });
}

/** Quartiles of the confidence by the share of a row that was observed. */
function drawConfidence({ data }, width) {
  const groups = data.confidence;
  const quartile = (which) => (group) => group.quartiles[which];
  return drawChart({
    width,
    height: 34 * groups.length + 50,
    marginLeft: 76,
    marginRight: 20,
    marginBottom: 42,
    x: { domain: [0, 1], label: "confidence", grid: true, ticks: 5 },
    y: { domain: groups.map((group) => group.share), label: "observed", labelArrow: "none" },
    marks: [
      Plot.ruleY(groups, {
        y: "share",
        x1: quartile(0),
        x2: quartile(2),
        stroke: "var(--heat)",
        strokeWidth: 5,
        strokeOpacity: 0.4,
      }),
      Plot.dot(groups, { y: "share", x: quartile(1), r: 6, fill: "var(--heat)" }),
      Plot.text(groups, {
        y: "share",
        x: 0,
        dx: 6,
        textAnchor: "start",
        text: (group) => counted(group.rows, "row"),
        fill: "var(--soft)",
        dy: -9,
      }),
    ],
  });
}

/** Mean likeness within and between clusters. */
function drawLikeness(store, width) {
  const { likeness } = store.data;
  const cells = likeness
    .flatMap((line, down) => line.map((value, across) => ({ down, across, value })))
    .filter((cell) => cell.value !== null);
  const names = (cluster) => shortName(store.names[cluster], likeness.length > 6 ? 6 : 14);
  const side = Math.min(width, 420, 90 + 70 * likeness.length);
  const most = d3.max(cells, (cell) => cell.value) || 1;
  return drawChart({
    width: side,
    height: side - 60,
    marginLeft: 90,
    marginTop: 30,
    marginBottom: 6,
    marginRight: 6,
    padding: 0.04,
    x: {
      type: "band",
      domain: d3.range(likeness.length),
      axis: "top",
      label: null,
      tickFormat: names,
    },
    y: { type: "band", domain: d3.range(likeness.length), label: null, tickFormat: names },
    marks: [
      Plot.cell(cells, {
        x: "across",
        y: "down",
        fill: "var(--heat)",
        fillOpacity: (cell) => cell.value / most,
        rx: 3,
      }),
      Plot.text(cells, {
        x: "across",
        y: "down",
        text: (cell) => cell.value.toFixed(2),
        className: "on-heat",
        fill: (cell) => (cell.value / most > 0.55 ? "var(--page)" : "var(--ink)"),
        fontSize: likeness.length > 8 ? 8 : 12,
      }),
    ],
    color: { type: "identity" },
    opacity: { type: "identity" },
  });
}

/** One bar for each number of clusters, or for each eigenvalue. */
function drawNumbers({ data }, width) {
  return drawChart({
    width,
    height: Math.min(240, 0.5 * width),
    marginTop: 20,
    marginBottom: 40,
    x: {
      type: "band",
      label: data.chosen ? "number of clusters" : "eigenvalue",
      labelArrow: "none",
      labelAnchor: "center",
    },
    y: { axis: null },
    marks: [
      Plot.barY(data.numbers, {
        x: "n",
        y: "value",
        fill: "var(--heat)",
        fillOpacity: (bar) => (bar.strong ? 1 : 0.35),
        rx: 2,
      }),
      Plot.text(data.numbers, {
        x: "n",
        y: "value",
        dy: -8,
        text: (bar) => bar.value.toFixed(2),
        fill: "var(--soft)",
        filter: () => width / data.numbers.length > 34,
      }),
      Plot.ruleY([0], { stroke: "var(--line)" }),
    ],
    opacity: { type: "identity" },
  });
}

/** The missing cells of the table from afar, rows sorted by cluster. */
function drawMissing({ data }, width) {
  const { columns, shares, ends } = data.missing;
  const cells = shares
    .flatMap((band, down) => band.map((share, across) => ({ down, across, share })))
    .filter((cell) => cell.share > 0);
  const wide = columns.length <= 30;
  const longest = d3.max(columns, (name) => Math.min(name.length, 16)) ?? 0;
  const slanted = longest > (width - 72) / columns.length / 7;
  return drawChart({
    width,
    height: 380,
    marginLeft: wide ? 64 : 34,
    marginRight: 8,
    marginTop: 6,
    marginBottom: !wide ? 14 : slanted ? 30 + 4 * longest : 26,
    x: { domain: [0, columns.length], axis: null },
    y: { domain: [shares.length, 0], axis: null },
    marks: [
      Plot.frame({ fill: "var(--panel)", stroke: "var(--line)" }),
      Plot.rect(cells, {
        x1: "across",
        x2: (cell) => cell.across + 1,
        y1: "down",
        y2: (cell) => cell.down + 1,
        fill: "var(--heat)",
        fillOpacity: (cell) => 0.25 + 0.75 * cell.share,
        insetLeft: wide ? 1 : 0,
        insetRight: wide ? 1 : 0,
      }),
      Plot.ruleY(ends.slice(0, -1), { stroke: "var(--ink)" }),
      Plot.text(ends, {
        x: 0,
        dx: -6,
        y: (end, index) => (end + (ends[index - 1] ?? 0)) / 2,
        textAnchor: "end",
        text: (_, index) => String(index),
        fontSize: 12,
      }),
      wide
        ? Plot.text(columns, {
            x: (_, index) => index + 0.5,
            y: shares.length,
            dy: slanted ? 8 : 12,
            rotate: slanted ? -40 : 0,
            textAnchor: slanted ? "end" : "middle",
            text: (name) => brief(name, 16),
            fontSize: 11,
          })
        : null,
    ],
    opacity: { type: "identity" },
  });
}

/** The estimate of an outcome in each cluster, with its interval. */
function drawOutcome(store, width, index) {
  const { share, form, estimates, low, high } = store.data.outcomes[index];
  const scale = share ? 100 : 1;
  const clusters = d3.range(estimates.length).filter((cluster) => estimates[cluster] !== null);
  const at = (values) => (cluster) => scale * values[cluster];
  const ends = { low: d3.min([...low, ...estimates]), high: d3.max([...high, ...estimates]) };
  return drawChart({
    width,
    height: 34 * clusters.length + 50,
    marginLeft: 110,
    marginRight: 20,
    marginBottom: 42,
    x: {
      label: share ? "share, in %" : "mean",
      labelArrow: "none",
      grid: true,
      nice: true,
      ticks: 6,
      ...columnTicks({ column: { form: share ? null : form }, ...ends }, width - 130),
    },
    y: { type: "band", domain: clusters, label: null, tickFormat: (c) => brief(store.names[c], 16) },
    ...clusterScales(estimates.length),
    marks: [
      Plot.ruleY(clusters, {
        y: (cluster) => cluster,
        x1: at(low),
        x2: at(high),
        stroke: (cluster) => cluster,
        strokeWidth: 4,
        strokeOpacity: 0.45,
      }),
      Plot.dot(clusters, {
        y: (cluster) => cluster,
        x: at(estimates),
        r: 6,
        fill: (cluster) => cluster,
        symbol: (cluster) => cluster,
      }),
    ],
  });
}

/** Bands of rows from the clusters of an earlier model, left, to those of this table, right. */
function drawFlow(store, width) {
  const { before, rows } = store.data.flow;
  const gap = 0.03 * d3.sum(rows.flat());
  const stack = (sums) => {
    let from = 0;
    return sums.map((size) => [from, (from += size + gap) - gap]);
  };
  const left = stack(rows.map((line) => d3.sum(line)));
  const right = stack(rows[0].map((_, now) => d3.sum(rows, (line) => line[now])));
  const [used, taken] = [left.map(([from]) => from), right.map(([from]) => from)];
  const bands = rows.flatMap((line, old) =>
    line.map((size, now) => {
      const ends = [used[old], taken[now]];
      used[old] += size;
      taken[now] += size;
      return d3.range(0, 1.001, 0.05).map((x) => {
        const y = ends[0] + (ends[1] - ends[0]) * (3 * x * x - 2 * x * x * x);
        return { x, low: y, high: y + size, band: `${old} ${now}`, now, size };
      });
    }),
  );
  const label = (ends, names, x, anchor) =>
    Plot.text(ends, {
      x,
      y: (end) => (end[0] + end[1]) / 2,
      dx: anchor === "end" ? -8 : 8,
      textAnchor: anchor,
      text: (_, index) => brief(names[index], 16),
      filter: (end) => end[1] > end[0],
    });
  return drawChart({
    width: Math.min(width, 620),
    height: 60 + 50 * Math.max(left.length, right.length),
    marginLeft: 120,
    marginRight: 120,
    x: { domain: [0, 1], axis: null },
    y: { axis: null, reverse: true },
    ...clusterScales(right.length),
    marks: [
      Plot.areaY(
        bands.flat().filter((point) => point.size > 0),
        { x: "x", y1: "low", y2: "high", z: "band", fill: "now", fillOpacity: 0.55 },
      ),
      label(left, before, 0, "end"),
      label(right, store.names, 1, "start"),
    ],
  });
}
