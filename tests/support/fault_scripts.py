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
