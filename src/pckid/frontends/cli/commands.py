"""`pckid` and its commands as click has them; what they do is imported when they are used."""

import os
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import click

from pckid._version import __version__
from pckid.frontends.cli.messages import print_json, say
from pckid.frontends.cli.options import (
    CASES,
    CLASSES,
    CONFIDENCE,
    HELP_ALL,
    MERGE,
    OUT_LONG,
    OUTLIERS,
    READING,
    SMOOTH,
    WRITING,
    TableCommand,
    file_option,
    not_zero,
    of_table,
)
from pckid.frontends.cli.process import loading_libraries, refuse_too_little_memory
from pckid.frontends.formats.registry import list_formats
from pckid.frontends.options import OF_KINDS


class ReaderLeft(Exception):
    """Nobody reads standard output any more; click would end with 1 at a BrokenPipeError."""


class _Commands(click.Group):
    """Commands in the order in which a newcomer needs them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise ReaderLeft from error


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, 1 failed, 2 wrong use, 3 bad table, 4 bad model, 130 interrupted "
    "(143 by SIGTERM, 129 by SIGHUP).",
)
@click.version_option(__version__, prog_name="pckid")
def pckid() -> None:
    """Find clusters in a table with missing values: nothing is imputed, nothing needs tuning.

    \b
    Examples:
      pckid demo                               see it work on a built-in table
      pckid inspect table.csv                  what the table holds, and what is missing
      pckid cluster table.csv -k 3 > out.csv   the table with a cluster for every row
    """
    refuse_too_little_memory()


@pckid.command(
    cls=TableCommand, short_help="Find clusters in a table with missing values.",
    params=[
        click.Argument(["path"], default="-", metavar="[TABLE]"),
        click.Option(["-k", "--clusters", "n_clusters"], type=click.IntRange(1), metavar="N",
                     help="Number of clusters. Chosen among 1 to 40 by default."),
        click.Option(["--names"], metavar="NAMES",
                     help="Names of the clusters, from cluster 0 on, with commas between them (one "
                     "with a comma in quotes): for report, model, and a column `cluster_name`."),
        click.Option(["--assess/--no-assess", "wants_verdict"], default=True, show_default=True,
                     help="Say whether there are groups at all, and how stable they are."),
        *of_table(
            "columns", "drop", "as_is", "categorical", "ordinal", *OF_KINDS, "row_names", "labels",
            "known", "weights", "place",
        ),
        click.Option(["--outcome", "outcomes"], multiple=True, metavar="NAMES",
                     help="Columns to compare between the clusters, such as days or relapsed; not "
                     "used to find them. May be repeated."),
        file_option(["--like"], "MODEL",
                    "Model of an earlier table, from --save: clusters that match its clusters get "
                    "their numbers and names, and it is said what became of the others."),
        *of_table("take_advice"),
        *CASES,
        OUT_LONG,
        click.Option(["--group", "groups"], multiple=True, metavar="NAME=PATTERN",
                     help="Columns in the same unit, which share one scale, by a pattern of their "
                     "names: ndvi=ndvi_*. May be repeated."),
        click.Option(["--log", "log_columns"], multiple=True, metavar="NAMES",
                     help="Take the logarithm of these columns, or of all, whose values span "
                     "several powers of ten; of one plus the value where some are 0. May be "
                     "repeated."),
        *WRITING,
        file_option(["--report", "report_path"], "FILE.html",
                    "Write a report that explains the clusters."),
        file_option(["--next-cells"], "FILE",
                    "Write a table of the missing cells to measure next: the forty that would "
                    "settle the most doubtful rows."),
        OUTLIERS,
        click.Option(["--instability"], is_flag=True,
                     help="Add a column `missing_instability`: the chance that the row would be in "
                     "another cluster if its missing values were known."),
        click.Option(["--power"], is_flag=True,
                     help="Simulate how far apart two groups would have to lie to be found in a "
                     "table like this one. Takes 5 to 20 seconds."),
        file_option(["--save", "model_path"], "MODEL", "Keep the model for `pckid predict`."),
        click.Option(["--context"], type=int, metavar="N",
                     help="Of an image, use the means of what was observed in N × N pixels, too; 1 "
                     "for none. 3 by default."),
        SMOOTH,
        MERGE,
        CLASSES,
        CONFIDENCE,
        *READING,
        click.Option(["--set", "settings"], multiple=True, metavar="NAME=VALUE",
                     help="Set a parameter of pckid.PCKID: scaling=common, "
                     "missingness=informative, n_jobs=-1, device=cuda."),
        click.Option(["--seed", "random_state"], type=click.IntRange(0, 2**32 - 1), default=0,
                     show_default=True, metavar="N", help="Start of the random numbers."),
        click.Option(["--runs", "n_runs"], type=click.IntRange(1), metavar="N",
                     help="How often to decide whether there are groups, and how many clusters, "
                     "each time by other seeds. By default 3, and 7 where these disagree; 1 is "
                     "quickest."),
        click.Option(["--stream"], is_flag=True,
                     help=f"Read {list_formats(batched=True)} in batches, as is done where "
                     "the table would take more than a quarter of the memory."),
        click.Option(["--only-labels"], is_flag=True,
                     help="Write the column of --id, or the number of the row, and no other column "
                     "beside the result."),
        HELP_ALL,
    ],
)  # fmt: skip
def cluster(**options: Any) -> None:
    """Find clusters in TABLE and write its rows with two new columns: `cluster`, numbered by size
    from 0 (-1 where a row holds no value), and `confidence`, the chance that the row would get the
    same cluster again. A column `group` numbers groups that are of several clusters.

    TABLE is FORMATS, also compressed, or a folder of Parquet files; - is standard input. An image
    (GeoTIFF, VRT, NetCDF, Zarr, a folder of a GeoTIFF for each date) is a table of pixels, and
    --out a GeoTIFF. Missing values stay missing, text is categories, and units do not matter.

    \b
    Examples:
      pckid cluster table.csv > clusters.csv
      pckid cluster table.xlsx --sheet Data --out clusters.xlsx
      pckid cluster table.csv -k 3 --drop notes --id name --out clusters.csv --report report.html
      pckid cluster table.csv -k 3 --na-values -9999 --save model.pckid --json
      pckid cluster table.parquet -k 5 --columns height,weight --stream --only-labels > labels.csv
      pckid cluster customers.csv --known segment --out segments.csv
      pckid cluster visits.csv --case patient --time day --out patients.csv
      pckid cluster stack.tif -k 16 --out clusters.tif --save land.pckid
    """
    given = SimpleNamespace(**options)
    with loading_libraries():
        from pckid.frontends.cli.cluster import run_cluster
        from pckid.frontends.cli.maps import is_image, refuse_image_options, run_cluster_map

    if is_image(given.path):
        run_cluster_map(given)
    else:
        refuse_image_options(given)
        run_cluster(given)


@pckid.command(
    cls=TableCommand, short_help="Put the rows of a table into the clusters of a saved model.",
    params=[
        click.Argument(["model"]),
        click.Argument(["path"], default="-", metavar="[TABLE]"),
        click.Option(["--label", "labels"], metavar="NAME",
                     help="Column with known groups, compared with the clusters."),
        *of_table("missing_columns"),
        click.Option(["--strict"], is_flag=True,
                     help="Exit with code 3 where the new rows do not look like those of the "
                     "model, or cannot be compared with them. They are written all the same."),
        file_option(["--explain"], "FILE",
                    "Write a table of what each cell of each row does to its membership in its "
                    "cluster."),
        OUTLIERS,
        SMOOTH,
        MERGE,
        CLASSES,
        CONFIDENCE,
        click.Option(["--jobs", "n_jobs"], type=int, callback=not_zero,
                     help="Processor cores to use; -1 for all."),
        *WRITING,
        OUT_LONG,
        *READING,
    ],
)  # fmt: skip
def predict(**options: Any) -> int:
    """Put the rows of TABLE into the clusters of MODEL, which `pckid cluster --save` wrote, and
    write them with the columns `cluster` and `confidence`. The columns are found by their names;
    others are kept and not used. Where the new rows do not look like those of the model, this is
    said, with what differs. - or nothing reads standard input. A model of cases (--case) takes
    their lines in the same form, and gives each new case one cluster.

    \b
    Examples:
      pckid predict model.pckid new.csv > clusters.csv
      pckid predict model.pckid new.parquet --out clusters.parquet
      cat new.csv | pckid predict model.pckid | head
      pckid predict land.pckid other-scene.tif --out other-clusters.tif
    """
    given = SimpleNamespace(**options)
    with loading_libraries():
        from pckid.frontends.cli.maps import is_image, refuse_image_options, run_predict_map
        from pckid.frontends.cli.predict import run_predict

    if is_image(given.path):
        return run_predict_map(given)
    refuse_image_options(given)
    return run_predict(given)


@pckid.command(
    cls=TableCommand, short_help="Show what a table holds and what is missing.",
    params=[
        click.Argument(["path"], metavar="TABLE"),
        *READING,
        *CASES,
        click.Option(["--json", "as_json"], is_flag=True,
                     help="Print JSON instead of a page of text."),
    ],
)  # fmt: skip
def inspect(**options: Any) -> None:
    """Show what TABLE holds: its columns, how their numbers are written, the share missing, which
    cells are missing together, and all that is wrong or doubtful, each with what to do about it.
    The last line is a command to cluster the table. Nothing is clustered yet.

    TABLE is FORMATS, also compressed, or a folder of Parquet files; - reads standard input.

    \b
    Examples:
      pckid inspect table.csv
      pckid inspect table.xlsx --sheet 2
      pckid inspect table.csv.gz --na-values -9999
      pckid inspect visits.csv --case patient --time day
      pckid inspect table.parquet --json
    """
    from pckid.frontends.cli.inspect import run_inspect

    run_inspect(SimpleNamespace(**options))


@pckid.command(short_help="Show what a model file holds.")
@click.argument("model")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def info(model: str, as_json: bool) -> None:
    """Show what MODEL holds: its clusters, its columns, how its table was read, its parameters, and
    the version that wrote it.

    \b
    Examples:
      pckid info model.pckid
      pckid info model.pckid --json
    """
    from pckid._utils.text import brief, counted, printable
    from pckid.modelfile import describe_model

    found = describe_model(model)
    if as_json:
        print_json(found)
        return
    lines = [f"{found['class']}, written by pckid {found['version']}", ""]
    if "n_clusters" in found:
        lines += [f"Clusters: {found['n_clusters']}"]
        sizes = enumerate(found["cluster_sizes"] or [])
        names = [f" ({name})" if name else "" for name in found["cluster_names"]]
        lines += [f"  {number}{names[number]}: {counted(size, 'row')}" for number, size in sizes]
        lines += [""]
    names = found["feature_names"] or [f"{counted(found['n_features'], 'column')} without names"]
    lines += ["Columns:", *(f"  {brief(name, 80)}" for name in names[:200])]
    lines += [f"  and {len(names) - 200} more"] if len(names) > 200 else []
    kept = {key: values for key, values in found["reading"].items() if values}
    lines += ["", "How its table was read:"] if kept else []
    lines += [f"  {key} = {brief(str(values), 160)}" for key, values in kept.items()]
    lines += ["", "Parameters:"]
    lines += [f"  {key} = {value}" for key, value in sorted(found["parameters"].items())]
    click.echo(printable("\n".join(lines)))


@pckid.command(short_help="See it work on a built-in table of penguins.")
@click.option("--out", type=click.Path(file_okay=False), default="pckid-demo", show_default=True,
              metavar="FOLDER", help="Where to put the results.")  # fmt: skip
def demo(out: str) -> None:
    """Cluster a built-in table: 344 penguins of three species, with measurements missing. The
    species are not used to find the clusters, only to see afterwards how well they agree. The table
    itself is put beside the results, to try the other commands on.

    \b
    Examples:
      pckid demo
      pckid demo --out results
    """
    from pckid._utils.commands import write_command
    from pckid.data import penguins_path
    from pckid.frontends.cli.outputs import open_writer
    from pckid.frontends.formats.opening import open_table
    from pckid.frontends.preparing import prepare

    os.makedirs(out, exist_ok=True)
    suffix = "xlsx" if find_spec("xlsxwriter") else "csv"
    table_path = os.path.join(out, f"penguins.{suffix}")
    labels_path = os.path.join(out, f"penguins-clusters.{suffix}")
    report_path = os.path.join(out, "penguins-report.html")
    say("Palmer penguins: six measurements of 344 birds. The species is kept aside.\n")
    prepared = prepare(open_table(str(penguins_path())))
    with open_writer(table_path) as writer:
        numbers = {name: prepared.X[:, j] for j, name in enumerate(prepared.names[:-1])}
        writer.write(prepared.table, {}, numbers)
    given = {"path": table_path, "n_clusters": 3, "labels": "label"}
    click.get_current_context().invoke(cluster, **given, out=labels_path, report_path=report_path)
    options = {"k": 3, "label": "label", "out": f"clusters.{suffix}", "report": "report.html"}
    say(f"By hand   {write_command(['cluster', table_path], options)}")


@pckid.command(short_help="Cluster tables in the browser, on this machine alone.")
@click.option("--port", type=click.IntRange(0, 65535),
              help="Port to listen on, 0 for any; by default 8501 or the next.")  # fmt: skip
@click.option("--no-browser", is_flag=True, help="Print the address and open no browser.")
def app(port: int | None, no_browser: bool) -> None:
    """Start the app and open it in the browser: drop a table, see what its columns hold, find
    groups, read the report, download the labels, place new rows. Ctrl-C stops it.

    It listens on 127.0.0.1 only and sends nothing anywhere: tables stay on this machine, in memory.

    \b
    Examples:
      pckid app
      pckid app --port 8600 --no-browser
    """
    try:
        from pckid.frontends.app.server import make_address, open_port, serve
    except ModuleNotFoundError as error:
        raise click.ClickException(
            f"The app needs {error.name}. Install it with: python -m pip install 'pckid[app]'"
        ) from None
    try:
        listener = open_port(port)
    except OSError as error:
        why = os.strerror(error.errno or 0)
        raise click.ClickException(f"Port {port} cannot be used: {why}.") from None
    address, token = make_address(listener)
    say(f"The app is at {address} (Ctrl-C stops it).")
    try:
        serve(listener, address, token, browser=not no_browser)
    except KeyboardInterrupt:
        say("Stopped.")


@pckid.command(short_help="Print what to cite, as BibTeX.")
def cite() -> None:
    """Print what to cite, as BibTeX: the paper that introduced the method, and this software. A
    report has a paragraph on the method beside it.

    \b
    Examples:
      pckid cite
      pckid cite >> references.bib
    """
    from pckid.say.citation import BIBTEX

    click.echo(BIBTEX, nl=False)


@pckid.command(short_help="Print a script for completion by the shell's Tab key.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a script which lets SHELL complete commands and options by the Tab key.

    \b
    Examples:
      pckid completion bash >> ~/.bashrc
      pckid completion zsh >> ~/.zshrc
      pckid completion fish > ~/.config/fish/completions/pckid.fish
    """
    from click.shell_completion import get_completion_class

    script = get_completion_class(shell)
    assert script is not None  # click has these three
    click.echo(script(pckid, {}, "pckid", "_PCKID_COMPLETE").source())
