"""Cases of one kind, of which a few run in the quick tests and all in the long ones."""

import pytest


def one_in(number, cases):
    """Return cases for `parametrize`, all but the first of each `number` marked `slow`."""
    return [
        case if place % number == 0 else pytest.param(case, marks=pytest.mark.slow)
        for place, case in enumerate(cases)
    ]
