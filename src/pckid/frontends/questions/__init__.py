"""Questions about a table: a file for each says how it is found, its sentences and its answers.

The shell, Python, the app and the golden files are made from these. `question` says what each has;
`case_and_time` and `cells_of_text` is what several share.
"""

from collections.abc import Sequence

from pckid.frontends.dialect import Dialect
from pckid.frontends.formats.findings import Doubt
from pckid.frontends.questions.ambiguous_dates import AMBIGUOUS_DATES
from pckid.frontends.questions.ambiguous_numbers import AMBIGUOUS_NUMBERS
from pckid.frontends.questions.code_for_missing import CODE_FOR_MISSING
from pckid.frontends.questions.columns_are_rows import COLUMNS_ARE_ROWS
from pckid.frontends.questions.determined import DETERMINED
from pckid.frontends.questions.earlier_result import EARLIER_RESULT
from pckid.frontends.questions.extra_rows import EXTRA_ROWS
from pckid.frontends.questions.flags_of_missing import FLAGS_OF_MISSING
from pckid.frontends.questions.hidden_cells import HIDDEN_CELLS
from pckid.frontends.questions.infinite_numbers import INFINITE_NUMBERS
from pckid.frontends.questions.known_groups import KNOWN_GROUPS
from pckid.frontends.questions.limits import LIMITS
from pckid.frontends.questions.long_tails import LONG_TAILS
from pckid.frontends.questions.may_be_a_code import MAY_BE_A_CODE
from pckid.frontends.questions.may_be_labels import MAY_BE_LABELS
from pckid.frontends.questions.may_be_outcomes import OUTCOMES
from pckid.frontends.questions.may_name_the_rows import MAY_NAME_THE_ROWS
from pckid.frontends.questions.mixed_dates import MIXED_DATES
from pckid.frontends.questions.mixed_units import MIXED_UNITS
from pckid.frontends.questions.no_answer import NO_ANSWER
from pckid.frontends.questions.no_numbers import NO_NUMBERS
from pckid.frontends.questions.nothing_left import NOTHING_LEFT
from pckid.frontends.questions.ordered_levels import ORDERED_LEVELS
from pckid.frontends.questions.other_unit import OTHER_UNIT
from pckid.frontends.questions.outlier import OUTLIER
from pckid.frontends.questions.places import PLACES
from pckid.frontends.questions.question import Answer, Question, Seen
from pckid.frontends.questions.repeated_ids import REPEATED_IDS
from pckid.frontends.questions.rows_below_names import ROWS_BELOW_NAMES
from pckid.frontends.questions.rows_in_order import ROWS_IN_ORDER
from pckid.frontends.questions.same_order import SAME_ORDER
from pckid.frontends.questions.spelling_variants import SPELLING_VARIANTS
from pckid.frontends.questions.text_among_numbers import TEXT_AMONG_NUMBERS
from pckid.frontends.questions.too_many_categories import TOO_MANY_CATEGORIES
from pckid.frontends.questions.unit_left_out import UNIT_LEFT_OUT
from pckid.frontends.questions.word_for_missing import WORD_FOR_MISSING

# In the order in which they are looked for: a later one may depend on what an earlier one found.
QUESTIONS: dict[str, Question] = {
    question.code: question
    for question in (
        NOTHING_LEFT,
        COLUMNS_ARE_ROWS,
        EARLIER_RESULT,
        AMBIGUOUS_DATES,
        MIXED_DATES,
        MIXED_UNITS,
        AMBIGUOUS_NUMBERS,
        UNIT_LEFT_OUT,
        EXTRA_ROWS,
        HIDDEN_CELLS,
        LIMITS,
        NO_NUMBERS,
        TEXT_AMONG_NUMBERS,
        ROWS_BELOW_NAMES,
        TOO_MANY_CATEGORIES,
        SPELLING_VARIANTS,
        CODE_FOR_MISSING,
        NO_ANSWER,
        OUTLIER,
        INFINITE_NUMBERS,
        MAY_NAME_THE_ROWS,
        MAY_BE_A_CODE,
        PLACES,
        REPEATED_IDS,
        ROWS_IN_ORDER,
        KNOWN_GROUPS,
        WORD_FOR_MISSING,
        OUTCOMES,
        FLAGS_OF_MISSING,
        MAY_BE_LABELS,
        DETERMINED,
        LONG_TAILS,
        SAME_ORDER,
        ORDERED_LEVELS,
        OTHER_UNIT,
    )
}
"""All questions, by the codes of their doubts."""
_SCOPES = ("rows", "column", "table")


def ask_questions(seen: Seen) -> list[Doubt]:
    """Ask all questions of a table: those about its rows first, then column by column.

    A model has settled how its columns are used, and nothing is asked about that.
    """
    for question in QUESTIONS.values():
        if seen.known is None or not question.about_use:
            found = [*question.find(seen)]
            seen.doubts += found
            if question.scope == "column":
                stopping = (doubt for doubt in found if doubt.stops)
                seen.stopped |= {name for doubt in stopping for name in doubt.columns}

    def place(doubt: Doubt) -> tuple[int, int]:
        scope = QUESTIONS[doubt.code].scope
        return _SCOPES.index(scope), seen.places[doubt.column] if scope == "column" else 0

    return sorted(seen.doubts, key=place)


def write_evidence(doubt: Doubt) -> str:
    """Write what was found."""
    return QUESTIONS[doubt.code].write_evidence(doubt)


def write_advice(doubt: Doubt, words: Dialect) -> str:
    """Write what to do, in the words of a front end."""
    return QUESTIONS[doubt.code].write_advice(doubt, words)


def list_answers(doubt: Doubt) -> list[Answer]:
    """List the answers that the app offers; the first is what is advised, if anything is."""
    return QUESTIONS[doubt.code].answers(doubt)


def urgency(doubt: Doubt) -> int:
    """Rank what is asked: what stops a run, then what is asked before clusters, then after."""
    return 0 if doubt.stops else 1 + QUESTIONS[doubt.code].refines


def is_about_rows(doubt: Doubt) -> bool:
    """Whether it is about rows of the table rather than its columns."""
    return QUESTIONS[doubt.code].scope == "rows"


__all__: Sequence[str] = ()
