"""Progress: what `verbose` prints, and what scikit-learn's callbacks hear."""

import re

import pytest
from helpers import groups

from pckid import PCKID, ProbabilisticClusterKernel
from pckid._utils import progress as _progress
from pckid.n_clusters import CHOOSING
from pckid.runs import MAX_NULL_OF_RUN

X = groups()[0]
PLAN = {"n_inits": 4, "max_components": 5, "random_state": 0}


class TestVerbose:
    def test_nothing_by_default(self, capsys):
        PCKID(3, **PLAN).fit(X)
        assert capsys.readouterr() == ("", "")

    @pytest.mark.parametrize("estimator", [PCKID, ProbabilisticClusterKernel])
    def test_lines_count_the_mixtures(self, capsys, estimator):
        own = {"n_clusters": 3} if estimator is PCKID else {}
        estimator(**own, **PLAN, verbose=1).fit(X)
        first, *lines = capsys.readouterr().out.splitlines()
        what = "90 rows × 4 columns, 16 mixtures with 56 components on 45 rows each"
        assert first == f"[{estimator.__name__}] {what}"
        pattern = rf"\[{estimator.__name__}\] (\d+) mixtures, \d+\.\d s"
        counts = [int(re.fullmatch(pattern, line)[1]) for line in lines]
        assert counts == sorted(counts)
        assert counts[-1] == 4 * 4

    def test_one_prints_about_ten_lines_and_two_all(self, capsys):
        for verbose, expected in ((1, 10), (2, 95)):
            with _progress.training_progress(object(), 95, "things", verbose) as advance:
                for _ in range(95):
                    advance(3)
            lines = capsys.readouterr().out.splitlines()
            assert len(lines) == expected
            assert lines[-1].startswith("[object] 285 things, ")


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


def test_a_fit_that_chooses_k_is_one_fit_to_callbacks_and_two_phases_to_a_counter():
    pytest.importorskip("sklearn.callback")
    listener, told = Listener(), []
    counter = _progress.StepCounter(lambda *step: told.append(step))
    model = PCKID("auto", **PLAN).set_callbacks(listener, counter).fit(X)
    assert [h[0] for h in listener.heard].count("setup") == 1
    chosen = [(n_done, n_steps) for n_done, n_steps, phase in told if phase == CHOOSING]
    n_null = len(model.choice_.compared.null_statistics)
    assert chosen == [(i, MAX_NULL_OF_RUN) for i in (*range(1, n_null + 1), MAX_NULL_OF_RUN)]
