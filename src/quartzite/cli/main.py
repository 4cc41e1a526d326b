"""The entry point of ``quartzite``: says what to install when the extra is missing."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    try:
        from quartzite.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in {"typer", "rich"}:
            raise
        sys.exit(f"the command line needs {error.name}, which is not installed: pip install 'quartzite[cli]'")
    app()
