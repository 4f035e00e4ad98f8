"""Lines of a file that no call runs, so that a test can name what nothing shows."""

import inspect
import sys
from contextlib import contextmanager


def lines_of(module):
    """List the numbers of the lines within a module's functions."""
    found, waiting = set(), [compile(inspect.getsource(module), module.__file__, "exec")]
    while waiting:
        code = waiting.pop()
        waiting += [each for each in code.co_consts if inspect.iscode(each)]
        if code.co_flags & inspect.CO_NEWLOCALS:  # neither modules nor classes
            found |= {line for *_, line in code.co_lines() if line and line > code.co_firstlineno}
    return found


@contextmanager
def watching(*modules):
    """Yield a list, into which lines of modules' functions come that nothing within runs."""
    files = {module.__file__: lines_of(module) for module in modules}
    before, missed = sys.gettrace(), []

    def watch(frame, event, argument):
        waiting = files.get(frame.f_code.co_filename)
        if waiting is None:
            return None
        if event == "line":
            waiting.discard(frame.f_lineno)
        return watch

    sys.settrace(watch)
    try:
        yield missed
    finally:
        sys.settrace(before)
    for module in modules:
        source = inspect.getsource(module).splitlines()
        for line in sorted(files[module.__file__]):
            missed.append(f"{module.__name__}, line {line}: {source[line - 1].strip()}")
