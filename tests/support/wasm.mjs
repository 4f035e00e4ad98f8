// Runs a Python program in Pyodide, in Node: node wasm.mjs RUNTIME SITE_PACKAGES SOURCE OUT PROGRAM
import fs from "node:fs";
import { pathToFileURL } from "node:url";

const [runtime, packages, source, out, program] = process.argv.slice(2);
// Its own stack traces hold a megabyte of one line.
process.on("uncaughtException", (error) => {
  console.error(String(error?.message ?? error).slice(0, 5000));
  process.exit(1);
});
const { loadPyodide } = await import(pathToFileURL(`${runtime}/pyodide.mjs`));
const python = await loadPyodide({ indexURL: `${runtime}/` });
const quiet = { messageCallback: () => {} };
await python.loadPackage(["numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl"], quiet);
const mount = (folder, place) => {
  python.FS.mkdirTree(place);
  python.FS.mount(python.FS.filesystems.NODEFS, { root: folder }, place);
};
const metadata = fs.readdirSync(packages).filter((name) => /^pckid-.*\.dist-info$/.test(name));
for (const name of ["narwhals", "array_api_compat", "jinja2", "markupsafe", ...metadata]) {
  mount(`${packages}/${name}`, `/pure/${name}`);
}
mount(source, "/source");
mount(out, "/out");
python.runPython("import sys; sys.path += ['/pure', '/source']");
python.runPython(fs.readFileSync(program, "utf8"));
