"""How things are timed and weighed here."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path
from typing import Any

import numpy as np
from joblib import cpu_count
from threadpoolctl import threadpool_info


def write_json(path: Path | None, figures: Any) -> None:
    """Write figures where they are wanted, a file that git shows line by line."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(figures, indent=1) + "\n")


def machine() -> dict[str, Any]:
    """Describe the machine, and how busy it is: programs that want to run for each core."""
    blas = {f"{p['internal_api']} {p['version']}" for p in threadpool_info() if p["version"]}
    return {
        "processor": _processor(),
        "cores": cpu_count(),
        "numpy": np.__version__,
        "blas": ", ".join(sorted(blas)),
        "busy": os.getloadavg()[1] / (os.cpu_count() or 1),
    }


def _processor() -> str:
    """Read the name of the processor from the kernel (Linux), else what Python knows."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
