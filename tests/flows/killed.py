"""A build without Prefect's server, to be killed: killed.py RUN SECRET_FILE FAMILIES."""

from __future__ import annotations

import sys
from pathlib import Path

from agentbound.flows.commands.build import build_command
from agentbound.flows.stages import run_stages


def main() -> None:
    run, secret, families = sys.argv[1:]
    build_command(
        run=Path(run),
        preset="quick",
        families=int(families),
        categories=[],
        risk_classes=["refund_abuse"],
        secret=Path(secret),
        version="0.1.0",
        taxonomy_dirs=[],
        workers=1,
        execute=run_stages,
    )


if __name__ == "__main__":
    main()
