"""`python -m experiments`."""

from experiments.commands import experiments

if __name__ == "__main__":
    experiments(prog_name="python -m experiments")
