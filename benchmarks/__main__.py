"""Run all benchmarks that need no GPU, one after the other."""

import subprocess
import sys

for name in ("mnist_size", "large_n"):
    print(f"\n{name}", flush=True)
    subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=True)
