// What is selected, pointed at and named: every part of the page listens to it.

/** Make the state of the page. */
function makeStore(data) {
  const listeners = { select: [], hover: [], rename: [], number: [] };
  const emit = (event) => listeners[event].forEach((listen) => listen());
  const select = (cluster, chosen) => {
    Object.assign(store, { cluster, chosen });
    emit("select");
  };
  const rows = data.rows;
  const store = {
    data,
    rows,
    n: rows.label.length,
    cluster: null,
    chosen: null, // a set of rows, where some are chosen on the map
    hovered: null,
    signs: null, // of the rows, where the clusters of another number are shown
    signNames: null, // the numbers of these clusters, by their signs
    names: data.names.slice(),
    on(event, listen) {
      listeners[event].push(listen);
    },
    isSelected(row) {
      if (store.chosen) return store.chosen.has(row);
      return store.cluster === null || rows.label[row] === store.cluster;
    },
    isAll() {
      return store.cluster === null && store.chosen === null;
    },
    selected() {
      return range(store.n).filter(store.isSelected);
    },
    selectCluster(cluster) {
      select(cluster === store.cluster ? null : cluster, null);
    },
    selectRows(indices) {
      select(null, new Set(indices));
    },
    clear() {
      select(null, null);
    },
    hover(row) {
      if (row === store.hovered) return;
      store.hovered = row;
      emit("hover");
    },
    rename(cluster, name) {
      store.names[cluster] = name.trim() || data.names[cluster];
      emit("rename");
    },
    showNumber(number) {
      store.signs = data.others[number] ?? null;
      store.signNames = data.other_names[number] ?? null;
      emit("number");
    },
    clusterName(cluster) {
      return cluster < 0 ? "no cluster" : store.names[cluster];
    },
    rowName(row) {
      return rows.name ? rows.name[row] : `${data.thing} ${rows.number[row]}`;
    },
  };
  return store;
}
