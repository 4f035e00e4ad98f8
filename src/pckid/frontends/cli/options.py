"""The options of commands, and help that lists them under headings."""

from types import SimpleNamespace
from typing import Any

import click

from pckid._utils.commands import as_argument
from pckid.exceptions import OptionError
from pckid.frontends.formats.registry import list_formats
from pckid.frontends.options import OF_KINDS, OPTIONS, CaseOptions

HEADINGS = {
    "The clusters": ("n_clusters", "wants_verdict", "settings", "random_state"),
    "Which columns, and as what": (
        "columns", "drop", "categorical", "row_names", "labels", "known", "weights", "place",
        "log_columns",
    ),
    "How the table is read": (
        "take_advice", "na_values", "limits", "numbers", "dates", "delimiter",
        "encoding", "sheet", "skip_first", "skip_last", "header",
    ),
    "Several lines for each case": ("case", "time"),
    "What is written": (
        "out", "report_path", "model_path", "only_labels", "outliers", "as_json", "quiet",
    ),
}  # fmt: skip
"""Options that most people meet, by the headings under which help lists them."""
_NEED_CASE = ("variable", "value", "static", "from_first", "out_long")
_NOT_LONG = ("row_names", "stream", "outcomes", "place", "ordinal", *OF_KINDS)
_WIDEST = 22  # of what stands before what an option does, unless that begins in the next line


class TableCommand(click.Command):
    """A command about a table: options that do not suit it are wrong as click has it.

    Help lists options under headings, and those that few people need with `--help-all` alone.
    """

    def __init__(self, *args: Any, **how: Any) -> None:
        super().__init__(*args, **how)
        self.help = (self.help or "").replace("FORMATS", list_formats())

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under their headings."""
        records = {
            str(param.name): (record[0].lstrip(" /"), record[1])  # "/ --no-header"
            for param in self.get_params(ctx)
            if isinstance(param, click.Option) and (record := param.get_help_record(ctx))
        }
        if "help_all" not in records:
            with formatter.section("Options"):
                formatter.write_dl(list(records.values()))
            return
        helps = [name for name in records if "help" in name]
        usual = {*helps, *(name for names in HEADINGS.values() for name in names)}
        sections: dict[str, Any] = dict(HEADINGS)
        if ctx.meta.get("help_all"):
            sections["Seldom needed"] = [name for name in records if name not in usual]
        for heading, names in (sections | {"Help": helps}).items():
            with formatter.section(heading):
                formatter.write_dl([records[name] for name in names], col_max=_WIDEST)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except OptionError as error:
            named = [as_argument(name) for name in error.options]
            if len(named) == 1:
                raise click.BadParameter(str(error), ctx, param_hint=named[0]) from None
            raise click.UsageError(f"{error} Check {' and '.join(named)}.", ctx) from None


def _show_all(ctx: click.Context, param: click.Parameter, asked: bool) -> None:
    """Print help with all options, and end."""
    if asked and not ctx.resilient_parsing:
        ctx.meta["help_all"] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


def not_zero(ctx: click.Context, param: click.Parameter, value: int | None) -> int | None:
    """Refuse zero, which counts no cores and does not mean all of them."""
    if value == 0:
        raise click.BadParameter("give a number of cores, or -1 for all of them.")
    return value


def of_table(*names: str) -> list[click.Option]:
    """Make options of a shell of those that `frontends.options` describes."""
    made = []
    for name in names:
        _, default, told, _, shows, choices, _ = option = OPTIONS[name]
        flags, kind = [as_argument(name), name], click.IntRange(0) if shows == "N" else None
        if name == "header":
            flags, told = [" /--no-header", name], "The first row holds data, not names."
        made.append(click.Option(
            flags, type=click.Choice(choices) if choices else kind, help=told,
            metavar=shows or None, is_flag=isinstance(default, bool), multiple=option.several,
            default=None if default in ("", ()) else default,
        ))  # fmt: skip
    return made


def file_option(flags: list[str], shows: str, told: str) -> click.Option:
    """Make an option that names a file."""
    return click.Option(flags, type=click.Path(dir_okay=False), metavar=shows, help=told)


READING = of_table(
    "na_values", "not_missing", "ignore_case", "limits", "numbers", "dates", "delimiter", "decimal",
    "encoding", "sheet", "table", "layer", "skip_first", "skip_below", "skip_last", "drop_rows",
    "keep_rows", "visible_rows", "header", "transpose",
)  # fmt: skip
CONFIDENCE = file_option(
    ["--confidence", "confidence_path"], "FILE.tif",
    "Of an image, write how surely each pixel belongs to its cluster here.",
)  # fmt: skip
MERGE = click.Option(
    ["--merge"], multiple=True, metavar="NUMBERS",
    help="Of an image, join these clusters into one class: 0,3. May be repeated; --names are then "
    "those of the classes.",
)  # fmt: skip
CLASSES = file_option(
    ["--classes"], "FILE.csv",
    "Of an image, the names and colours of clusters, in columns cluster, name and colour. Those of "
    "one name are joined into a class.",
)  # fmt: skip
SMOOTH = click.Option(
    ["--smooth"], type=int, metavar="N",
    help="Of an image, average memberships over N × N pixels; 1 for none. 5 by default, and as for "
    "the model's own image.",
)  # fmt: skip
CASES = of_table("case", "time", "variable", "value", "static", "bins", "from_first")
OUTLIERS = click.Option(
    ["--outliers"], is_flag=True, help="Add a column `outlier_score`; rows above 3 are unusual."
)
WRITING = [
    file_option(["--out", "-o"], "FILE",
                "Write the rows here (.csv, .tsv, .xlsx, .parquet, .arrow, .jsonl, .h5ad, .csv.gz "
                "and the like); into a database (.sqlite, .db, .duckdb) as a new table."),
    click.Option(["--out-table"], default="clusters", show_default=True, metavar="NAME",
                 help="Name of the new table, where --out is a database."),
    click.Option(["--escape-formulas"], is_flag=True,
                 help="Put an apostrophe before text which a spreadsheet would run as a formula."),
    click.Option(["--json", "as_json"], is_flag=True,
                 help="Print a summary as JSON to standard output; rows go to --out only."),
    click.Option(["--quiet", "-q"], is_flag=True, help="Print nothing but results and errors."),
]  # fmt: skip
OUT_LONG = file_option(
    ["--out-long"], "FILE", "With --case, write all lines here, each with the cluster of its case."
)
HELP_ALL = click.Option(
    ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_show_all,
    help="Show options that few people need, too, and exit.",
)  # fmt: skip


def pick_case(given: SimpleNamespace) -> CaseOptions | None:
    """Pick the options that say how lines make cases; refuse those that do not go together."""
    if not given.case:
        asked = [key for key in _NEED_CASE if getattr(given, key, None)]
        if asked or given.bins != "auto":
            name = as_argument((asked or ["bins"])[0])
            raise click.UsageError(f"{name} is about lines of cases: add --case and --time.")
        if given.time:
            given.place, given.time = (*given.place, given.time), None
        return None
    if not given.time:
        raise click.UsageError("--case needs --time, the column with the time of each line.")
    if bool(given.variable) != bool(given.value):
        raise click.UsageError("--variable and --value go together.")
    for key in _NOT_LONG:
        if getattr(given, key, None):
            raise click.UsageError(f"{as_argument(key)} does not go with --case.")
    static = tuple(name.strip() for names in given.static for name in names.split(","))
    bins: Any = [edge.strip() for edge in given.bins.split(",")]
    if len(bins) == 1:
        bins = int(given.bins) if given.bins.isdecimal() else given.bins
    return CaseOptions(
        given.case, given.time, given.variable, given.value, static, bins,
        given.from_first, bool(getattr(given, "out_long", None)),
    )  # fmt: skip
