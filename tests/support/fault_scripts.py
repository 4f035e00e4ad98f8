"""Programs that are struck by a fault, or strike themselves."""

UNDER_LIMIT = """
import resource, sys
limit = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
sys.argv[:2] = ["pckid"]
from pckid.frontends.cli import main
main()
"""

PEAK = """
import sys
from pckid.frontends.cli import main
try:
    main()
except SystemExit:
    pass
line = next(l for l in open('/proc/self/status') if l.startswith('VmPeak'))
print(line.split()[1], file=sys.stderr)
"""

DYING_WORKER = """
import glob, os, signal, sys, threading, time, warnings
import joblib, numpy as np, pckid
warnings.simplefilter("ignore")
X = np.random.default_rng(0).normal(size=(300, 6))
model = pckid.PCKID(2, n_inits=30, max_components=12, random_state=0)

def workers():
    found = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            pid, parent = path.split("/")[2], open(path).read().rpartition(")")[2].split()[1]
            if int(parent) == os.getpid() and "popen_loky" in open(f"/proc/{pid}/cmdline").read():
                found.append(int(pid))
        except OSError:
            pass
    return found

def strike():
    for _ in range(6000):
        if found := workers():
            time.sleep(float(sys.argv[1]))
            try:
                os.kill(found[0], signal.SIGKILL)
            except ProcessLookupError:
                pass
            return
        time.sleep(0.01)

threading.Thread(target=strike, daemon=True).start()
try:
    with joblib.parallel_config(backend="loky", n_jobs=2):
        model.fit(X)
    end = "finished"
except joblib.externals.loky.process_executor.TerminatedWorkerError:
    end = "refused"
labels = pckid.PCKID(2, n_inits=2, max_components=3, random_state=0).fit_predict(X)
assert len(labels) == 300
print(end)
"""

DYING_DASK_WORKER = """
import os, signal, sys, threading, time
import dask, dask.array as da, distributed, numpy as np, pckid

def strike(cluster):
    time.sleep(float(sys.argv[1]))
    victim = next(iter(cluster.workers.values()))
    pid = victim.process.pid
    os.kill(pid, signal.SIGKILL)
    while victim.process is None or victim.process.pid in (None, pid):
        time.sleep(0.1)

def labels(X):
    model = pckid.PCKID(2, n_inits=20, max_components=12, random_state=0)
    return np.asarray(model.fit(X).labels_).tolist()

if __name__ == "__main__":
    X = np.random.default_rng(0).normal(size=(20000, 4))
    dask.config.set({"distributed.deploy.lost-worker-timeout": "600s",
                     "distributed.comm.timeouts.connect": "600s",
                     "distributed.comm.timeouts.tcp": "600s"})
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0",
                                  local_directory=".", silence_logs=50, memory_limit=None) as local:
        striker = threading.Thread(target=strike, args=(local,))
        striker.start()
        with distributed.Client(local):
            found = labels(da.from_array(X, chunks=(500, 4)))
        striker.join()
        while not all(each.process and each.process.status.name == "running"
                      for each in local.workers.values()):
            time.sleep(0.1)
    print("same" if found == labels(X) else "different")
"""
