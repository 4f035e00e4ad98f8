"""Progress: what watchers hear, what `verbose` prints, and what scikit-learn's callbacks hear."""

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from types import SimpleNamespace

import pytest
from helpers import groups

from pckid import PCKID, ProbabilisticClusterKernel, assess
from pckid._utils.parallel import run_in_threads
from pckid._utils.progress import Moment, part, parts, steps, tell, watch
from pckid.say.progress import write_moment

X = groups()[0]
PLAN = {"n_inits": 4, "max_components": 5, "random_state": 0}


def watched(work):
    """Do some work, and list the moments that were told."""
    told = []
    with watch(told.append):
        work()
    return told


class TestWatch:
    def test_parts_of_parts_add_up(self):
        def work():
            with part(0.5, "read"):
                with part(0.5):
                    tell(1, 2)
                tell(1, 2)  # of what is left of it
            with part(1.0, "write"):
                pass

        told = [(moment.share, moment.doing) for moment in watched(work)]
        assert told == [
            (0, "read"), (0, "read"), (0.125, "read"), (0.25, "read"), (0.375, "read"),
            (0.5, "read"), (0.5, "write"), (1, "write"), (1, "write"),
        ]  # fmt: skip

    def test_parts_at_the_same_time(self):
        def work():
            def do_one(own):
                with own:
                    tell(1, 1)

            with ThreadPoolExecutor(3) as pool:
                for own in parts(0.9, 3, "judge"):
                    pool.submit(copy_context().run, do_one, own)

        shares = [moment.share for moment in watched(work)]
        assert shares == sorted(shares)
        assert {round(share, 9) for share in shares} >= {0.3, 0.6, 0.9, 1}

    def test_it_never_falls(self):
        def work():
            with part(1.0, "judge"):
                tell(3, 4)
                with part(0.8):
                    tell(0, 9)

        shares = [moment.share for moment in watched(work)]
        assert shares == sorted(shares)
        assert shares[1:4] == [0.75, 0.75, 0.75]

    @pytest.mark.parametrize("n_threads", [1, 3])
    def test_a_task_is_one_step_whatever_it_does(self, n_threads):
        def task(_):
            tell(1, 1)
            with part(1.0, "write"):
                pass

        def work():
            with part(1.0, "repeat"):
                run_in_threads(task, [(i,) for i in range(4)], n_threads, steps(4))

        told = watched(work)
        assert [moment.share for moment in told] == [0, 0.25, 0.5, 0.75, 1, 1, 1]
        assert {moment.doing for moment in told} == {"repeat"}

    def test_nothing_happens_where_nobody_watches(self):
        with part(0.5, "read"):
            tell(1, 2)

    def test_work_within_work_has_one_watcher(self):
        inner = []

        def work():
            with part(1.0, "fit"), watch(inner.append):
                tell(1, 2)

        assert watched(work)[1].share == 0.5
        assert inner == []

    def test_an_error_is_no_end(self):
        told = []
        with pytest.raises(KeyError), watch(told.append), part(1.0, "read"):
            raise KeyError
        assert [moment.share for moment in told] == [0]
        with part(1.0, "write"):  # nobody watches any more
            tell(1, 1)
        assert len(told) == 1

    @pytest.mark.parametrize("k", [3, "auto"])
    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_a_fit_and_its_verdict(self, k, n_jobs):
        def work():
            with part(0.5):
                model = PCKID(k, **PLAN, n_jobs=n_jobs).fit(X)
            with part(1.0):
                assess(model, X, n_resamples=48)

        told = watched(work)
        shares = [moment.share for moment in told]
        assert shares == sorted(shares)
        assert shares[-1] == 1
        first = "choose" if k == "auto" else "train"
        assert list(dict.fromkeys(m.doing for m in told)) == [first, "cluster", "judge", "repeat"]
        for doing in (first, "repeat"):  # no leap to the end, though tables share calls
            assert len({m.share for m in told if m.doing == doing}) >= 4


def test_moments_in_words():
    assert write_moment(Moment(0.0, "read", 0.0, None)) == "Reading the table, 0 %"
    ends = [write_moment(Moment(0.999, "write", 9.0, s)).split(", ")[1:] for s in (0.2, 7, 58, 100)]
    assert ends == [
        ["99 %", "about 1 s left"], ["99 %", "about 7 s left"], ["99 %", "about 60 s left"],
        ["99 %", "about 2 min left"],
    ]  # fmt: skip
    assert write_moment(Moment(0.1, "write", 9.0, 9000.0)).endswith("about 2 h left")


class TestVerbose:
    def test_nothing_by_default(self, capsys):
        PCKID(3, **PLAN).fit(X)
        assert capsys.readouterr() == ("", "")

    @pytest.mark.parametrize("estimator", [PCKID, ProbabilisticClusterKernel])
    def test_lines_tell_how_far(self, capsys, estimator):
        own = {"n_clusters": 3} if estimator is PCKID else {}
        counts = []
        for verbose in (1, 2):
            estimator(**own, **PLAN, verbose=verbose).fit(X)
            lines = capsys.readouterr().out.splitlines()
            name = estimator.__name__
            what = "90 rows × 4 columns, 16 mixtures with 56 components on 45 rows each"
            assert f"[{name}] {what}" in lines
            lines.remove(f"[{name}] {what}")
            pattern = rf"\[{name}\] (Fitting|Clustering) [a-z ]+, (\d+) %"
            shares = [int(re.match(pattern, line)[2]) for line in lines]
            assert shares == sorted(shares)
            assert shares[-1] == 100
            counts.append(len(lines))
        assert counts[0] <= 12
        assert counts[0] <= counts[1]

    def test_a_notebook_has_one_bar_of_tqdm(self, capsys, monkeypatch):
        pytest.importorskip("tqdm")
        notebook = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=True))
        monkeypatch.setitem(sys.modules, "IPython", notebook)
        model = PCKID(3, **PLAN, verbose=1).fit(X)
        assess(model, X, n_resamples=2)
        told = capsys.readouterr()
        assert " %" not in told.out
        assert "Clustering the rows" in told.err
        assert "Clustering random halves of the rows" in told.err


class Listener:
    """Writes down what it hears."""

    def __init__(self, fail=False):
        self.heard, self.fail = [], fail

    def setup(self, estimator, context):
        self.heard.append(("setup", context.task_name))

    def teardown(self, estimator, context):
        self.heard.append(("teardown", context.task_name))

    def on_fit_task_begin(self, estimator, context):
        self.heard.append(("begin", context.task_name, context.task_id, context.max_subtasks))

    def on_fit_task_end(self, estimator, context):
        self.heard.append(("end", context.task_name, context.task_id, context.max_subtasks))
        if self.fail:
            raise RuntimeError("the callback failed")


@pytest.mark.parametrize("estimator", [PCKID, ProbabilisticClusterKernel])
class TestCallbacks:
    @pytest.fixture(autouse=True)
    def _needs_callbacks(self):
        pytest.importorskip("sklearn.callback")

    def test_hear_of_the_fit_and_of_each_task_once(self, estimator):
        listener = Listener()
        estimator(**PLAN).set_callbacks(listener).fit(X)
        heard = listener.heard
        assert heard[0] == ("setup", "fit")
        assert heard[-1] == ("teardown", "fit")
        assert heard[1][:2] == ("begin", "fit")
        assert heard[-2][:2] == ("end", "fit")
        n_tasks = heard[1][3]
        assert n_tasks >= 1
        for event in ("begin", "end"):
            told = [h[2] for h in heard if h[:2] == (event, "mixtures")]
            assert told == list(range(n_tasks))

    def test_are_torn_down_after_an_error(self, estimator, monkeypatch):
        def fail(*args, **kwargs):
            raise FloatingPointError("the mixtures failed")

        monkeypatch.setattr("pckid.ensemble.training.train_batches", fail)
        listener = Listener()
        model = estimator(**PLAN).set_callbacks(listener)
        with pytest.raises(FloatingPointError):
            model.fit(X)
        assert listener.heard[0] == ("setup", "fit")
        assert listener.heard[-1] == ("teardown", "fit")

    def test_may_fail_themselves(self, estimator):
        listener = Listener(fail=True)
        with pytest.raises(RuntimeError, match="the callback failed"):
            estimator(**PLAN).set_callbacks(listener).fit(X)
        assert listener.heard[-1] == ("teardown", "fit")

    def test_leave_nothing_behind(self, estimator):
        model = estimator(**PLAN).set_callbacks(Listener()).fit(X)
        assert not hasattr(model, "_callback_fit_ctx")
        model.fit(X)

    def test_change_no_result(self, estimator):
        with_one = estimator(**PLAN).set_callbacks(Listener()).fit(X).transform(X)
        assert (with_one == estimator(**PLAN).fit(X).transform(X)).all()

    def test_sklearns_progress_bar_runs(self, estimator, capsys):
        from sklearn.callback import ProgressBar

        pytest.importorskip("rich")
        estimator(**PLAN).set_callbacks(ProgressBar()).fit(X)
        (line,) = capsys.readouterr().out.splitlines()
        assert line.startswith(f"{estimator.__name__} - fit ")
        assert " 100% " in line


def test_a_fit_that_chooses_k_is_one_fit_to_callbacks():
    pytest.importorskip("sklearn.callback")
    listener = Listener()
    PCKID("auto", **PLAN).set_callbacks(listener).fit(X)
    assert [h[0] for h in listener.heard].count("setup") == 1
