"""Options that several commands share."""

from collections.abc import Callable
from typing import Any

import click

from pckid._utils.commands import as_argument
from pckid.exceptions import OptionError


class TableCommand(click.Command):
    """A command about a table: options that do not suit it are wrong as click has it."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
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

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def not_zero(ctx: click.Context, param: click.Parameter, value: int | None) -> int | None:
    """Refuse zero, which counts no cores and does not mean all of them."""
    if value == 0:
        raise click.BadParameter("give a number of cores, or -1 for all of them.")
    return value


def share_or_rows(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """Read a share up to 1, or a whole number of rows."""
    if value is None or 0 < value <= 1:
        return value
    if value >= 2 and value == int(value):
        return int(value)
    raise click.BadParameter("give a share between 0 and 1, or a whole number of rows from 2 on.")


def html_name(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Refuse a report under a name that promises another format than HTML."""
    if value and not value.lower().endswith((".html", ".htm")):
        raise click.BadParameter(f"a report is HTML: end {value!r} in .html.")
    return value


reading_options = stack_options(
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
        "--limits", type=click.Choice(["value", "half", "missing"]),
        help="What becomes of limits such as <0.5 among numbers: the number itself, half of it, or "
        "missing. Asked about by default.",
    ),
    click.option(
        "--numbers", multiple=True, metavar="[NAME=]FORMAT",
        help="How numbers are written, as 1234.56 would be: 1,234.56 or 1.234,56 or 1 234,56 or "
        "1'234.56 or 1234,56, for instance. For one column or for all. Found out by default; "
        "currency, percent signs and units always are. May be repeated.",
    ),
    click.option(
        "--dates", multiple=True, metavar="[NAME=]CHOICE",
        help="What becomes of dates and durations: leave-out (default), use (days; durations in "
        "hours), month, hour; day-first or month-first use dates such as 3/4/2021. For one column "
        "or for all. May be repeated.",
    ),
    click.option("--delimiter", help='Sign between cells; "tab" for a tab. Found out by default.'),
    click.option(
        "--decimal", type=click.Choice([".", ","]), help="Decimal sign. Found out by default."
    ),
    click.option("--encoding", help="Encoding of a text table. UTF-8 by default."),
    click.option(
        "--sheet", metavar="NAME",
        help="Sheet of a spreadsheet: its name, or its number from 1. By default the first that "
        "holds a table.",
    ),
    click.option(
        "--skip-first", type=click.IntRange(0), metavar="N",
        help="Lines of a text file, or rows of a sheet, above the table. Found out by default.",
    ),
    click.option(
        "--skip-last", type=click.IntRange(0), default=0, metavar="N",
        help="Rows at the end of a text file or sheet to leave out, such as totals and notes. "
        "Blank ones are not counted.",
    ),
    click.option(
        "--units-row", is_flag=True, help="Leave out the row below the names, which holds units."
    ),
    click.option(
        "--visible-only", is_flag=True, help="Leave out rows that a sheet hides, as a filter does."
    ),
    click.option("--no-header", is_flag=True, help="The first row holds data, not names."),
    click.option(
        "--max-unpacked", type=click.FloatRange(min=0, min_open=True, max=1e6), metavar="GB",
        help="Refuse a compressed table, or one from a pipe, that takes more gigabytes unpacked. "
        "By default 4, and no limit for Parquet that is read in batches.",
    ),
)  # fmt: skip
"""How a table is to be read."""

column_options = stack_options(
    click.option(
        "--columns", multiple=True, metavar="NAMES",
        help="Use these columns only: names with commas between them. May be repeated.",
    ),
    click.option(
        "--drop", multiple=True, metavar="NAMES", help="Leave these columns out of the clustering."
    ),
    click.option(
        "--categorical", multiple=True, metavar="NAMES",
        help="Columns of numbers that are codes of categories. Columns of text always are.",
    ),
    click.option("--id", "row_names", metavar="NAME", help="Column that names the rows; not used."),
    click.option(
        "--label", "labels", metavar="NAME",
        help="Column with known groups: compared with the clusters, never used to find them.",
    ),
)  # fmt: skip
"""Which columns are clustered."""

ensemble_options = stack_options(
    click.option(
        "--inits", "n_inits", type=click.IntRange(1),
        help="Mixture models for every number of components; 10 by default.",
    ),
    click.option(
        "--max-components", type=click.IntRange(2),
        help="Largest number of components of a mixture model. By default 1.5 times the root of "
        "the number of rows, at most 60.",
    ),
    click.option(
        "--max-samples", type=float, callback=share_or_rows,
        help="Share of the rows that each model sees; a whole number above 1 counts rows. By "
        "default half of the rows, at most 500.",
    ),
    click.option(
        "--embedding", type=click.Choice(["random_walk", "kernel_pca"]),
        help="How rows are laid out before they are grouped; random_walk by default.",
    ),
    click.option(
        "--paper", is_flag=True,
        help="Cluster as in the paper's experiments: its mixtures, its weights, its embedding. "
        "Options given beside it still hold.",
    ),
    click.option(
        "--same-units", "scaling", flag_value="common",
        help="All columns of numbers are in the same unit, as pixels, bands or dates of a series "
        "are: one that varies more tells more. Otherwise all columns tell alike.",
    ),
    click.option(
        "--informative", "missingness", flag_value="informative",
        help="Missingness itself carries information about the clusters, as where values are "
        "missing because of what they would have been.",
    ),
)  # fmt: skip
"""The ensemble of mixture models."""

jobs_option = click.option(
    "--jobs", "n_jobs", type=int, callback=not_zero, help="Processor cores to use; -1 for all."
)
"""How many threads there are."""

running_options = stack_options(
    click.option(
        "--seed", "random_state", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True,
        help="Start of the random numbers: the same seed gives the same clusters.",
    ),
    jobs_option,
    click.option("--device", help='Where to compute, such as "cuda". The processor by default.'),
)  # fmt: skip
"""How the computation runs."""

outliers_option = click.option(
    "--outliers", is_flag=True,
    help="Add a column `outlier_score`: how unlike every cluster a row is, in standard "
    "deviations. Rows above 3 are unusual.",
)  # fmt: skip
"""Whether outlier scores are written."""

writing_options = stack_options(
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
"""Where results go."""

streaming_options = stack_options(
    click.option(
        "--stream/--no-stream", "stream", default=None,
        help="Read the table in batches, or whole. By default in batches if it is large.",
    ),
    click.option(
        "--scheduler", metavar="ADDRESS",
        help="Let the workers of a running Dask scheduler read the table and do the work.",
    ),
    click.option(
        "--resume", is_flag=True,
        help="Keep labels in FILE.resume beside --out while they are found. The same command after "
        "a stop goes on from there; the fit itself is repeated.",
    ),
    click.option(
        "--only-labels", is_flag=True,
        help="Write the column of --id, or the number of the row, and no other column beside "
        "the result.",
    ),
)  # fmt: skip
"""Tables larger than memory."""

long_output = click.option(
    "--out-long", type=click.Path(dir_okay=False), metavar="FILE",
    help="With --case, write all lines here, each with the cluster of its case.",
)  # fmt: skip
"""Where the lines of a long table go."""

case_options = stack_options(
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
"""Tables with several lines for each case."""

series_options = stack_options(
    case_options,
    long_output,
    click.option(
        "--group", "groups", multiple=True, metavar="NAME=PATTERN",
        help="Columns in the same unit, which share one scale, by a pattern of their names: "
        "ndvi=ndvi_*. May be repeated.",
    ),
)  # fmt: skip
"""Series, and groups of columns."""
