// The page: a field for a table, then its questions, then the groups in it. All that a person
// decides is kept by the browser's tab, so that a reload finds it again.
import { addressOf, ask, give } from "./desk.js";

const KEPT = "pckid";
const STEP = 300; // milliseconds between two looks at work that goes on
const ALIVE = 20_000; // between two words to the desk that this page is open

const root = document.getElementById("page");
const fresh = () => ({ view: "start", how: {}, k: null });
let state = { ...fresh(), ...JSON.parse(sessionStorage.getItem(KEPT) ?? "{}") };
let shown = null; // what the desk told of the table
let about = null;
let wrong = "";
let turn = 0; // what was asked for before is not drawn any more

function keep(changes, before = state) {
  state = { ...before, ...changes };
  sessionStorage.setItem(KEPT, JSON.stringify(state));
}

function say(text) {
  document.getElementById("said").textContent = text;
}

/** Make an element; texts are texts, whatever they hold. */
function el(tag, given = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name in made && !name.includes("-") && name !== "list") made[name] = value;
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((each) => each !== null && each !== undefined && each !== false));
  return made;
}

const button = (text, onclick, given = {}) => el("button", { type: "button", onclick, ...given }, text);
const folded = (title, key, ...parts) =>
  el(
    "details",
    {
      open: Boolean(state.open?.[key]),
      ontoggle: (event) => keep({ open: { ...state.open, [key]: event.target.open } }),
    },
    el("summary", { id: `fold-${key}` }, title),
    ...parts,
  );
const warning = (text) => (text ? el("div", { className: "warning", role: "alert" }, text) : null);

/** Draw the page anew; the focus stays where it was. */
function draw(parts, wide = false) {
  const focus = document.activeElement?.id;
  root.className = wide ? "wide" : "";
  root.replaceChildren(...parts.flat().filter(Boolean));
  if (focus) document.getElementById(focus)?.focus({ preventScroll: true });
}

// Files

function dropField(id, label, hint, endings, take) {
  const input = el("input", {
    id, type: "file", accept: endings?.join(","),
    onchange: (event) => event.target.files.length && take(event.target.files[0]),
  });
  const field = el("label", { className: "drop", htmlFor: id }, el("strong", {}, label), el("br"), el("span", { className: "soft" }, hint), el("br"), input);
  const over = (is) => (event) => {
    event.preventDefault();
    field.classList.toggle("over", is);
  };
  field.addEventListener("dragover", over(true));
  field.addEventListener("dragleave", over(false));
  field.addEventListener("drop", (event) => {
    over(false)(event);
    if (event.dataTransfer.files.length) take(event.dataTransfer.files[0]);
  });
  return field;
}

async function upload(file) {
  about ??= await ask({ ask: "about" });
  if (file.size > about.most) return { wrong: about.too_large };
  say(`Reading ${file.name}`);
  root.setAttribute("aria-busy", "true");
  const given = await give(file);
  root.removeAttribute("aria-busy");
  return given;
}

async function takeTable(file) {
  const given = await upload(file);
  if (given.wrong) return start(given.wrong);
  if (!given.name.endsWith(".pckid")) return openTable(given);
  keep({ view: "new", model: given.file, modelName: given.name }, fresh());
  placing();
}

function openTable(given) {
  const how = given.edits ? { edits: given.edits } : {};
  shown = null;
  keep({ view: "table", file: given.file, name: given.name, how }, fresh());
  look();
}

// The first screen

async function start(problem = "") {
  keep({}, fresh());
  shown = null;
  wrong = "";
  about ??= await ask({ ask: "about" });
  draw([
    el("h1", {}, "Find groups in a table"),
    el("p", {}, "Rows that are alike come into one group, even where cells are empty. Nothing leaves this machine."),
    warning(problem || about.wrong),
    dropField("table", "Drop a table here", about.formats ?? "", about.endings, takeTable),
    el(
      "div",
      { className: "row" },
      button("Try it with the penguins", async () => {
        const given = await ask({ ask: "demo" });
        if (given.wrong) start(given.wrong);
        else openTable(given);
      }),
      button("Place new rows into groups found before", () => {
        keep({ view: "new", how: {} });
        placing();
      }),
    ),
  ]);
}

// The table

async function look(change = null) {
  const mine = (turn += 1);
  root.setAttribute("aria-busy", "true");
  if (!shown) draw([el("h1", {}, state.name), el("p", { className: "soft" }, "Reading the table…")]);
  const asked = { ask: "look", file: state.file, how: state.how, k: state.k, change };
  const found = await ask({ ...asked, new: state.view === "new" });
  if (mine !== turn) return;
  root.removeAttribute("aria-busy");
  if (found.wrong && !found.fields) return start(found.wrong);
  shown = found;
  const how = { ...state.how };
  if (found.edits) how.edits = found.edits;
  if (found.encoding) how.encoding = found.encoding;
  keep({ how });
  if (state.view === "new") placing();
  else table();
  say(found.wrong || found.said || found.wrong_yet || `${found.name}: ${found.head}. ${found.find ?? ""}`);
}

/** Change how the table is read or used, and look at it again. */
function decide(changes, change = null) {
  wrong = "";
  keep({ how: { ...state.how, ...changes } });
  look(change);
}

function table() {
  const open = shown.questions ?? [];
  const asked = (shown.columns ?? []).filter((column) => column.asked);
  const others = (shown.columns ?? []).filter((column) => !column.asked);
  draw(
    [
      warning(wrong),
      el("h1", {}, shown.name, " ", el("span", { className: "soft" }, shown.head ?? "")),
      warning(shown.wrong),
      shown.offers?.length
        ? el("div", { className: "row" }, shown.offers.map((offer) =>
            button(offer.label, () => decide({ [offer.option]: offer.value }))))
        : null,
      shown.questions &&
        el("p", {}, open.length ? el("strong", {}, `${open.length} ${open.length === 1 ? "question" : "questions"}${open.every((each) => each.chosen === 0) ? ", answered as advised" : ""}`) : "✓ Nothing to settle."),
      ...open.map(question),
      warning(shown.said),
      asked.length ? columnTable(asked, "Columns asked about") : null,
      el("div", { className: "folds" },
        others.length ? folded(`${asked.length ? "Other columns" : "Columns"} (${others.length})`, "columns", columnTable(others, "Columns")) : null,
        shown.first ? folded("First rows", "rows", firstRows()) : null,
        folded("Reading", "reading", shown.notes?.map((note) => el("p", { className: "soft" }, note)), fields()),
        shown.lines ? folded("More", "more", more()) : null),
      shown.find ? el("div", { className: "go row" }, button(shown.find, find, { className: "main", id: "find", disabled: Boolean(shown.wrong_yet) }), shown.wrong_yet ? el("span", {}, shown.wrong_yet) : null, another()) : another(),
    ],
    false,
  );
}

const another = () => button("Another table", () => start(), { id: "another" });

function question(each, number) {
  const choose = (place) => () => {
    const edits = { ...state.how.edits };
    each.columns.forEach((name) => delete edits[name]);
    decide({ answers: { ...state.how.answers, [each.key]: place }, edits });
  };
  return el(
    "fieldset",
    {},
    el("legend", {}, each.said),
    el("div", {}, each.answers.map((label, place) =>
      el("label", {}, el("input", { type: "radio", name: `q-${number}`, id: `q-${each.key}-${place}`, checked: each.chosen === place, onchange: choose(place) }), label))),
  );
}

function columnTable(columns, label) {
  const change = (column, used, role) => decide({}, [column.name, used, role]);
  return el(
    "div",
    { className: "scroll" },
    el(
      "table",
      { className: "columns", "aria-label": label },
      el("thead", {}, el("tr", {}, ["use", "column", "role", "missing", "values"].map((head) => el("th", { scope: "col" }, head)))),
      el("tbody", {}, columns.map((column) =>
        el("tr", {},
          el("td", {}, el("input", { type: "checkbox", id: `use-${column.name}`, checked: column.used, "aria-label": `Use ${column.name}`, onchange: (event) => change(column, event.target.checked, column.role) })),
          el("td", { className: "name" }, column.name),
          el("td", {}, select(`role-${column.name}`, column.roles, column.role, (role) => change(column, column.used, role), `Role of ${column.name}`)),
          el("td", { className: "number" }, column.missing ? `${column.missing} %` : ""),
          el("td", {}, column.values)))),
    ),
  );
}

function select(id, choices, value, onchange, label = null) {
  return el("select", { id, "aria-label": label, onchange: (event) => onchange(event.target.value) },
    choices.map(([key, text]) => el("option", { value: key, selected: key === value }, text)));
}

function firstRows() {
  const { names, rows } = shown.first;
  return el("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "The first rows" },
    el("table", {}, el("thead", {}, el("tr", {}, names.map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell) => el("td", {}, cell)))))));
}

/** The fields that say how a file is read, as the desk lists them. */
function fields() {
  return el("div", { className: "fields" }, (shown.fields ?? []).map((field) => {
    const id = `field-${field.option}`;
    const set = (value) => decide({ [field.option]: value });
    if (field.kind === "tick") return el("label", { className: "tick" }, el("input", { id, type: "checkbox", checked: field.value, onchange: (event) => set(event.target.checked) }), field.label);
    const input = {
      choice: () => select(id, field.choices, field.value, set),
      number: () => el("input", { id, type: "number", min: 0, max: 1000, value: field.value, onchange: (event) => set(Number(event.target.value)) }),
      texts: () => el("input", { id, type: "text", value: field.value.join(", "), placeholder: `such as ${field.example}`, onchange: (event) => set(event.target.value.split(",").map((text) => text.trim()).filter(Boolean)) }),
    }[field.kind]();
    return el("label", {}, field.label, input);
  }));
}

function more() {
  const lines = shown.lines;
  const columns = [["", "Choose a column"], ...shown.names.map((name) => [name, name])];
  const set = (changes) => decide({ lines: { ...lines, ...changes } });
  return [
    el("div", { className: "fields" },
      el("label", {}, "Number of groups", el("input", { id: "k", type: "number", min: 1, max: 1000, placeholder: "find out", value: state.k ?? "", onchange: (event) => { keep({ k: event.target.value ? Number(event.target.value) : null }); look(); } })),
      el("label", { className: "tick" }, el("input", { id: "several", type: "checkbox", checked: lines.several || Boolean(state.how.lines?.several), onchange: (event) => set({ several: event.target.checked }) }), "Several lines per case, such as the visits of a patient")),
    lines.several || state.how.lines?.several
      ? el("div", { className: "fields" }, shown.line_labels.map(([key, label]) => {
          const value = state.how.lines?.[key] ?? lines[key];
          return key === "from_first"
            ? el("label", { className: "tick" }, el("input", { id: key, type: "checkbox", checked: Boolean(value), onchange: (event) => set({ ...state.how.lines, several: true, [key]: event.target.checked }) }), label)
            : el("label", {}, label, select(key, columns, value ?? "", (chosen) => set({ ...state.how.lines, several: true, [key]: chosen || null })));
        }))
      : null,
    el("p", {}, state.likeName ? `Groups that match those of ${state.likeName} get their numbers and names. ` : "Groups found before: ",
      state.likeName
        ? button("Do not compare", () => { keep({ like: null, likeName: null }); table(); }, { id: "unlike" })
        : el("input", { id: "like", type: "file", accept: ".pckid", "aria-label": "The model of an earlier table", onchange: async (event) => {
            const given = await upload(event.target.files[0]);
            if (given.wrong) say(given.wrong);
            else { keep({ like: given.file, likeName: given.name }); table(); }
          } })),
  ];
}

// Work

async function begin(request) {
  wrong = "";
  const given = await ask(request);
  if (given.wrong) return failed(given.wrong);
  keep({ job: given.job });
  follow();
}

const find = () => begin({ ask: "find", file: state.file, how: state.how, k: state.k, like: state.like });

function failed(text) {
  keep({ job: null });
  wrong = text;
  say(text);
  if (state.view === "new") placing();
  else if (state.view === "result") result();
  else if (shown) table();
  else look();
}

/** Watch work until it is done, or cancelled. */
async function follow() {
  const job = state.job;
  const bar = el("progress", { max: 1, value: 0, "aria-label": "Progress" });
  const doing = el("p", {}, "Getting ready");
  const cancel = button("Cancel", async () => {
    const told = await ask({ ask: "cancel", job });
    failed(told.wrong);
  }, { id: "cancel" });
  draw([el("h1", {}, state.name ?? "New rows"), bar, doing, cancel]);
  cancel.focus();
  while (state.job === job) {
    const told = await ask({ ask: "progress", job });
    if (state.job !== job) return;
    if (told.wrong) return failed(told.wrong);
    if (told.made) return finished(told);
    bar.value = told.share;
    // The time that is left is not spoken.
    const [what] = told.doing.split(",");
    if (!doing.textContent.startsWith(what)) say(what);
    doing.textContent = told.doing;
    await new Promise((resolve) => setTimeout(resolve, STEP));
  }
}

function finished(told) {
  wrong = "";
  if (state.view === "new") {
    keep({ job: null, placed: told.made });
    return placing(told);
  }
  keep({ job: null, made: told.made, view: "result", used: JSON.stringify([state.how, state.k, state.like]) });
  result(told);
}

// The groups

let told = null; // what the last run gave

async function result(found = null) {
  told = found ?? (told?.made === state.made ? told : await ask({ ask: "result", made: state.made }));
  if (told.wrong) {
    keep({ made: null, view: "table" });
    return look();
  }
  const report = el("iframe", { src: addressOf(told.made, "report.html"), title: "The report", sandbox: "allow-scripts allow-downloads", id: "report" });
  draw(
    [
      el("h1", {}, told.name, " ", el("span", { className: "soft" }, told.n_columns)),
      warning(wrong),
      downloads(told,
        button("Change", () => { keep({ view: "table" }); shown ? table() : look(); }, { id: "change" }),
        button("Place new rows", () => { keep({ view: "new", newFile: null, placed: null, tableOf: { file: state.file, how: state.how, name: state.name }, how: {} }); placing(); }, { id: "place-new" }),
        another()),
      el("p", { className: "soft" }, "Download what you want to keep: it is gone when this page is closed."),
      el("div", { className: "folds" },
        folded("Name groups", "names", naming()),
        folded("Number of groups", "numbers", el("div", { className: "row" }, told.numbers.map((number) =>
          button(String(number), () => { keep({ k: number }); find(); }, { disabled: number === told.number, id: `number-${number}` })))),
        notes(told),
        folded("The same as a command, and in Python", "same", el("p", {}, "In the folder of the table:"), el("pre", { id: "command", tabIndex: 0 }, told.command), el("pre", { id: "python", tabIndex: 0 }, told.python))),
      report,
    ],
    true,
  );
  say(`Done. ${told.sizes.length} groups.`);
}

// The report tells how high it is.
window.addEventListener("message", (event) => {
  const frame = document.getElementById("report");
  if (frame && event.source === frame.contentWindow && event.data?.type === "pckid:height")
    frame.style.height = `${Math.min(Number(event.data.height) || 0, 100_000) + 20}px`;
});

const downloads = (of, ...more) =>
  el("div", { className: "row" },
    of.files.map((file) => el("a", { className: "button", href: addressOf(of.made, file.file, file.as), download: file.as, id: `get-${file.file}` }, `⤓ ${file.label}`)),
    of.can_write_workbook && button("Write Excel", () => begin({ ask: "workbook", made: of.made }), { id: "write-excel" }),
    more);

const notes = (of) =>
  of.notes.length ? folded(`Notes (${of.notes.length})`, "notes", el("ul", {}, of.notes.map((note) => el("li", {}, note)))) : null;

function naming() {
  const inputs = told.sizes.map(([, n], number) =>
    el("input", { type: "text", maxLength: 60, value: told.names[number] ?? "", id: `name-${number}` }));
  return el("form", { className: "fields", onsubmit: (event) => {
      event.preventDefault();
      begin({ ask: "names", made: told.made, names: inputs.map((input) => input.value) });
    } },
    inputs.map((input, number) => el("label", {}, `Cluster ${number}`, input)),
    el("button", { type: "submit" }, "Use these names"));
}

// New rows

async function placing(placed = null) {
  about ??= await ask({ ask: "about" });
  const of = placed ?? (state.placed ? await ask({ ask: "result", made: state.placed }) : null);
  const hasModel = Boolean(state.made || state.model);
  const back = () => {
    const was = state.tableOf;
    shown = null;
    keep({ view: "result", ...(was ?? {}), tableOf: null, placed: null });
    state.made ? result() : start();
  };
  draw([
    el("h1", {}, state.made ? "Place new rows into these groups" : "Place new rows into groups found before"),
    warning(wrong || of?.wrong),
    state.made ? null : state.model
      ? el("p", {}, el("strong", {}, state.modelName))
      : dropField("model", "A model, as downloaded after a run", ".pckid", [".pckid"], async (file) => {
          const given = await upload(file);
          wrong = given.wrong ?? "";
          if (!wrong) keep({ model: given.file, modelName: given.name });
          placing();
        }),
    state.newFile ? newTable() : dropField("new", "The table with the new rows", about.formats ?? "", about.endings, async (file) => {
      const given = await upload(file);
      wrong = given.wrong ?? "";
      if (wrong) return placing();
      shown = null;
      keep({ newFile: given.file, file: given.file, name: given.name, how: {}, placed: null });
      look();
    }),
    state.newFile ? el("div", { className: "go row" },
      button("Place rows", () => begin({ ask: "place", made: state.made, model: state.model, file: state.file, how: state.how, missing_columns: state.lacking }), { className: "main", id: "place", disabled: !hasModel || Boolean(shown?.wrong) }),
      el("label", { className: "row" }, el("input", { type: "checkbox", id: "lacking", checked: Boolean(state.lacking), onchange: (event) => keep({ lacking: event.target.checked }) }), "Columns that are absent are missing")) : null,
    of && !of.wrong ? placedRows(of) : null,
    button("Close", back, { id: "close" }),
  ]);
  if (state.newFile && !shown && !state.job) look();
}

const newTable = () => shown ? [
  el("h2", {}, shown.name, " ", el("span", { className: "soft" }, shown.head ?? "")),
  warning(shown.wrong),
  shown.first ? folded("First rows", "rows", firstRows()) : null,
  folded("Reading", "reading", fields()),
].filter(Boolean) : el("p", {}, "Reading the table…");

function placedRows(of) {
  const compared = of.compared;
  return el("section", { id: "placed" },
    compared && (compared.moved ? warning(compared.sentence) : el("p", {}, `✓ ${compared.sentence}`)),
    compared?.rows.length ? el("div", { className: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, compared.heads.map((head) => el("th", { scope: "col" }, head)))), el("tbody", {}, compared.rows.map((row) => el("tr", {}, row.map((cell) => el("td", {}, cell))))))) : null,
    el("table", { "aria-label": "Sizes of the groups" }, el("tbody", {}, [...of.sizes, ...(of.no_value ? [["No value", of.no_value]] : [])].map(([name, n]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", { className: "number" }, n.toLocaleString("en")))))),
    notes(of),
    downloads(of));
}

// A file dropped beside the field is not opened in the place of the page.
for (const kind of ["dragover", "drop"]) window.addEventListener(kind, (event) => event.preventDefault());

// What this page works with stays in memory as long as it is open.
setInterval(() => {
  const ids = [state.file, state.newFile, state.model, state.like, state.made, state.placed, state.job, state.tableOf?.file];
  ask({ ask: "here", keep: [...new Set(ids.filter(Boolean))] });
}, ALIVE);

if (state.job) follow();
else if (state.view === "table") look();
else if (state.view === "result") result();
else if (state.view === "new") placing();
else start();
