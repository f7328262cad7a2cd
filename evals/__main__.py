"""`python -m evals`: the same as `backscroll eval`."""

import typer

from evals.command import evaluate

if __name__ == "__main__":
    typer.run(evaluate)
