"""Options that several commands share."""

from collections.abc import Callable
from functools import reduce
from typing import Any

import click

from pckid._utils.commands import as_argument
from pckid.exceptions import OptionError
from pckid.frontends.cli._say import be_quiet

HEADINGS = {
    "The clusters": ("n_clusters", "wants_verdict", "settings", "random_state"),
    "Which columns, and as what": (
        "columns", "drop", "categorical", "row_names", "labels", "known", "weights", "groups",
        "log_columns",
    ),
    "How the table is read": (
        "take_advice", "na_values", "ignore_case", "limits", "numbers", "dates", "delimiter",
        "encoding", "sheet", "skip_first", "skip_below", "skip_last", "no_header",
    ),
    "Several lines for each case": ("case", "time"),
    "What is written": (
        "out", "report_path", "model_path", "only_labels", "outliers", "as_json", "quiet",
    ),
}  # fmt: skip
"""Options that most people meet, by the headings under which help lists them."""


class TableCommand(click.Command):
    """A command about a table: options that do not suit it are wrong as click has it.

    Help lists options under headings, and those that few people need with `--help-all` alone.
    """

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under their headings."""
        records = {
            str(param.name): record
            for param in self.get_params(ctx)
            if (record := param.get_help_record(ctx)) is not None
        }
        if "help_all" not in records:
            super().format_options(ctx, formatter)
            return
        for heading, names in HEADINGS.items():
            with formatter.section(heading):
                formatter.write_dl([records.pop(name) for name in names if name in records])
        helps = [name for name in records if "help" in name]
        asked = [records.pop(name) for name in helps]
        if ctx.meta.get("help_all"):
            with formatter.section("Seldom needed"):
                formatter.write_dl(list(records.values()))
        with formatter.section("Help"):
            formatter.write_dl(asked)

    def invoke(self, ctx: click.Context) -> Any:
        be_quiet(ctx.params.get("quiet", False))
        try:
            return super().invoke(ctx)
        except OptionError as error:
            named = [as_argument(name) for name in error.options]
            if len(named) == 1:
                raise click.BadParameter(str(error), ctx, param_hint=named[0]) from None
            raise click.UsageError(f"{error} Check {' and '.join(named)}.", ctx) from None


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def stack_options(*options: Decorator) -> Decorator:
    """Apply options so that help lists them in the order given."""
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)


def not_zero(ctx: click.Context, param: click.Parameter, value: int | None) -> int | None:
    """Refuse zero, which counts no cores and does not mean all of them."""
    if value == 0:
        raise click.BadParameter("give a number of cores, or -1 for all of them.")
    return value


def _show_all(ctx: click.Context, param: click.Parameter, asked: bool) -> None:
    """Print help with all options, and end."""
    if asked and not ctx.resilient_parsing:
        ctx.meta["help_all"] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


help_all = click.option(
    "--help-all", is_flag=True, is_eager=True, expose_value=False, callback=_show_all,
    help="Show all options, those that few people need among them, and exit.",
)  # fmt: skip

reading = stack_options(
    click.option(
        "--na-values", "--missing", "na_values", multiple=True, metavar="[NAME=]TOKEN",
        help="A further content of cells that means missing, such as -9999, or age=-9 in one "
        "column. May be repeated. "
        "Always missing, in upper or lower case: an empty cell, NA, N/A, NaN, null, "
        "missing, ?, ., --, a spreadsheet's error values, and the like in other languages, such "
        "as k.A., n/d and s/d; among numbers also none, nil and -.",
    ),
    click.option(
        "--not-missing", multiple=True, metavar="TOKEN",
        help="A content of cells that usually means missing, and is a value here. May be repeated.",
    ),
    click.option(
        "--ignore-case", is_flag=True,
        help="Categories that differ in capitals and blanks only are one: f and F.",
    ),
    click.option(
        "--limits", type=click.Choice(["value", "half", "missing"]),
        help="What becomes of limits such as <0.5 and >100 among numbers: the number itself, half "
        "of it where it follows <, or missing. Asked about by default.",
    ),
    click.option(
        "--numbers", multiple=True, metavar="[NAME=]FORMAT",
        help="How numbers are written, as 1234.56 would be: 1,234.56 or 1.234,56 or 1 234,56 or "
        "1'234.56 or 1234,56, for instance. For one column or for all. Detected by default; "
        "currency, percent signs and units always are. May be repeated.",
    ),
    click.option(
        "--dates", multiple=True, metavar="[NAME=]CHOICE",
        help="What becomes of dates and durations: leave-out (default), use (days; durations in "
        "hours), month, hour; day-first or month-first use dates such as 3/4/2021; letters of "
        "strptime use those written otherwise: born='%d %b %Y'. For one column or for all. May be "
        "repeated.",
    ),
    click.option("--delimiter", help='Separator of cells; "tab" for a tab. Detected by default.'),
    click.option(
        "--decimal", type=click.Choice([".", ","]), help="Decimal separator. Detected by default."
    ),
    click.option("--encoding", help="Encoding of a text table. UTF-8 by default."),
    click.option(
        "--sheet", metavar="NAME",
        help="Sheet of a spreadsheet: its name, its number from 1, or all for every one with the "
        "columns of the first. By default the first that holds a table.",
    ),
    click.option(
        "--skip-first", type=click.IntRange(0), metavar="N",
        help="Lines of a text file, or rows of a sheet, above the table. Detected by default.",
    ),
    click.option(
        "--skip-below", type=click.IntRange(0), default=0, metavar="N",
        help="Rows below the names to leave out, such as units and the questions of a survey.",
    ),
    click.option(
        "--skip-last", type=click.IntRange(0), default=0, metavar="N",
        help="Rows at the end of a text file or sheet to leave out, such as totals and notes. "
        "Blank ones are not counted.",
    ),
    click.option("--no-header", is_flag=True, help="The first row holds data, not names."),
)  # fmt: skip

jobs = click.option(
    "--jobs", "n_jobs", type=int, callback=not_zero, help="Processor cores to use; -1 for all."
)

outliers = click.option(
    "--outliers", is_flag=True,
    help="Add a column `outlier_score`: how unlike every cluster a row is, in standard "
    "deviations. Rows above 3 are unusual.",
)  # fmt: skip

writing = stack_options(
    click.option(
        "--out", "-o", type=click.Path(dir_okay=False), metavar="FILE",
        help="Write the rows here (.csv, .tsv, .xlsx, .parquet, .arrow; .csv.gz and the like "
        "are compressed) instead of to standard output.",
    ),
    click.option(
        "--escape-formulas", is_flag=True,
        help="Put an apostrophe before text which a spreadsheet would run as a formula.",
    ),
    click.option(
        "--json", "as_json", is_flag=True,
        help="Print a summary as JSON to standard output; rows go to --out only.",
    ),
    click.option("--quiet", "-q", is_flag=True, help="Print nothing but results and errors."),
)  # fmt: skip

out_long = click.option(
    "--out-long", type=click.Path(dir_okay=False), metavar="FILE",
    help="With --case, write all lines here, each with the cluster of its case.",
)  # fmt: skip

cases = stack_options(
    click.option(
        "--case", metavar="NAME",
        help="The table has several lines for each case, such as the visits of a patient; this "
        "column names the case. Each case gets one cluster.",
    ),
    click.option(
        "--time", metavar="NAME",
        help="Column with the time of each line, for --case: numbers or dates.",
    ),
    click.option(
        "--variable", metavar="NAME",
        help="With --case, where each line holds one value: the column that says what was "
        "measured.",
    ),
    click.option(
        "--value", metavar="NAME", help="With --variable, the column that holds the value."
    ),
    click.option(
        "--static", multiple=True, metavar="NAMES",
        help="With --case, columns that are the same in all lines of a case. By default those that "
        "change within at most a tenth of the cases; the commonest value of the case is taken.",
    ),
    click.option(
        "--bins", default="auto", metavar="BINS", show_default=True,
        help="With --case, which times share a column: each (none do), a number of bins with about "
        "equally many lines, or their edges, such as 0,6,12,inf. auto is each for up to 50 times "
        "if the median case has half of them, and else as many bins as it has times.",
    ),
    click.option(
        "--from-first", is_flag=True,
        help="With --case, count time from the first line of each case.",
    ),
)  # fmt: skip
