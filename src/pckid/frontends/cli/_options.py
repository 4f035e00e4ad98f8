"""Options that several commands share."""

from collections.abc import Callable
from functools import reduce
from typing import Any

import click

from pckid._utils.commands import as_argument
from pckid.exceptions import OptionError
from pckid.frontends.cli._say import be_quiet
from pckid.frontends.options import OPTIONS

HEADINGS = {
    "The clusters": ("n_clusters", "wants_verdict", "settings", "random_state"),
    "Which columns, and as what": (
        "columns", "drop", "categorical", "row_names", "labels", "known", "weights", "log_columns",
    ),
    "How the table is read": (
        "take_advice", "na_values", "limits", "numbers", "dates", "delimiter",
        "encoding", "sheet", "skip_first", "skip_below", "skip_last", "header",
    ),
    "Several lines for each case": ("case", "time"),
    "What is written": (
        "out", "report_path", "model_path", "only_labels", "outliers", "as_json", "quiet",
    ),
}  # fmt: skip
"""Options that most people meet, by the headings under which help lists them."""
_WIDEST = 22  # of what stands before what an option does, unless that begins in the next line


class TableCommand(click.Command):
    """A command about a table: options that do not suit it are wrong as click has it.

    Help lists options under headings, and those that few people need with `--help-all` alone.
    """

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
        for heading, names in HEADINGS.items():
            with formatter.section(heading):
                shown = [records.pop(name) for name in names if name in records]
                formatter.write_dl(shown, col_max=_WIDEST)
        helps = [name for name in records if "help" in name]
        asked = [records.pop(name) for name in helps]
        if ctx.meta.get("help_all"):
            with formatter.section("Seldom needed"):
                formatter.write_dl(list(records.values()), col_max=_WIDEST)
        with formatter.section("Help"):
            formatter.write_dl(asked, col_max=_WIDEST)

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
    help="Show options that few people need, too, and exit.",
)  # fmt: skip


def of_table(*names: str) -> Decorator:
    """Offer options of a table, as they are described in `frontends.options`."""
    return stack_options(*map(_of_table, names))


def _of_table(name: str) -> Decorator:
    """Make one of them an option of a shell."""
    described = OPTIONS[name]
    if name == "header":
        what = "The first row holds data, not names."
        return click.option(" /--no-header", name, default=True, help=what)
    kind: Any = click.IntRange(0) if described.shows == "N" else None
    if described.choices:
        kind = click.Choice(described.choices)
    return click.option(
        as_argument(name), name, type=kind, help=described.told, metavar=described.shows or None,
        is_flag=described.default is False, multiple=described.several,
        default=None if described.default in ("", ()) else described.default,
    )  # fmt: skip


reading = of_table(
    "na_values", "not_missing", "ignore_case", "limits", "numbers", "dates", "delimiter", "decimal",
    "encoding", "sheet", "skip_first", "skip_below", "skip_last", "drop_rows", "header",
)  # fmt: skip

cases = of_table("case", "time", "variable", "value", "static", "bins", "from_first")

jobs = click.option(
    "--jobs", "n_jobs", type=int, callback=not_zero, help="Processor cores to use; -1 for all."
)

outliers = click.option(
    "--outliers", is_flag=True,
    help="Add a column `outlier_score`; rows above 3 are unusual.",
)  # fmt: skip

writing = stack_options(
    click.option(
        "--out", "-o", type=click.Path(dir_okay=False), metavar="FILE",
        help="Write the rows here (.csv, .tsv, .xlsx, .parquet, .arrow, .csv.gz and the like).",
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
