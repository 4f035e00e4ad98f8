"""Workers in processes of their own, some of which are killed: the same labels."""

import os
import signal

import joblib
import numpy as np
import pytest
from helpers import SMALL, groups

from pckid import PCKID

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.slow
X, TRUTH = groups(n_samples=400, n_features=5)
OPTIONS = {**SMALL, "max_samples": 150}


@pytest.fixture(scope="module")
def workers(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("workers"))
    # On a busy machine a worker takes its time to start, to answer and to come back.
    patience = {
        "distributed.comm.timeouts.connect": "600s",
        "distributed.comm.timeouts.tcp": "600s",
        "distributed.deploy.lost-worker-timeout": "600s",
    }
    with (
        dask.config.set(patience),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", local_directory=folder,
            silence_logs=50, memory_limit=None,
        ) as cluster,
    ):  # fmt: skip
        yield cluster


@pytest.fixture
def client(workers):
    with distributed.Client(workers) as client:
        # One that another test killed may not be back yet, and joblib trains at home beside one.
        client.wait_for_workers(2, timeout=600)
        yield client


@pytest.fixture(scope="module")
def expected():
    return PCKID(3, **OPTIONS).fit(X).labels_


def deadly(folder, blocks, deaths):
    """Make blocks of X; the first load of each block named in `deaths` ends with its worker."""

    def load(values, block_info=None):
        (number,) = block_info[0]["chunk-location"][:1]
        for turn in range(deaths.count(number)):
            mark = os.path.join(folder, f"{number}-{turn}")
            if not os.path.exists(mark):
                open(mark, "x").close()
                os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
        return values

    return da.from_array(X, chunks=(400 // blocks, 5)).map_blocks(load, dtype=float, meta=X[:0])


def test_labels_survive_workers_killed_while_they_survey_and_label(client, tmp_path, expected):
    # The survey loads each block once, and so does the labelling: one death in either.
    rows = deadly(str(tmp_path), 8, [3])
    model = PCKID(3, **OPTIONS).fit(rows)
    assert len(list(tmp_path.iterdir())) == 1
    (tmp_path / "3-0").unlink()
    assert np.array_equal(model.labels_.compute(), expected)
    assert len(list(tmp_path.iterdir())) == 1


def test_labels_survive_a_block_that_kills_twice(client, tmp_path, expected):
    rows = deadly(str(tmp_path), 8, [5, 5])
    found = PCKID(3, **OPTIONS).fit_predict(rows).compute()
    assert len(list(tmp_path.iterdir())) == 2
    assert np.array_equal(found, expected)


def test_members_of_the_ensemble_are_trained_by_the_workers(client, expected):
    before = sum(client.run(lambda dask_worker: len(dask_worker.state.log)).values())
    with joblib.parallel_config(backend="dask"):
        assert np.array_equal(PCKID(3, **OPTIONS).fit(X).labels_, expected)
    after = sum(client.run(lambda dask_worker: len(dask_worker.state.log)).values())
    assert after > before


def test_known_rows_keep_their_group_on_the_workers(client):
    known = np.array([None] * 400, dtype=object)
    known[::40] = np.array(["x", "y", "z"])[TRUTH[::40]]
    known[1] = known[TRUTH[::40].argmax() * 40]  # may be wrong
    expected = PCKID(3, **OPTIONS).fit(X, known=known)
    model = PCKID(3, **OPTIONS)
    model.fit(da.from_array(X, chunks=(50, 5)), known=da.from_array(known, chunks=70))
    assert np.array_equal(model.labels_.compute(), expected.labels_)
    assert model.known_groups_ == expected.known_groups_
