"""One JSON document on stdout."""

import json
from typing import Any

import typer

from sdckit.choose.plain import clean


def emit(document: Any) -> None:
    """Print one JSON document on stdout."""
    typer.echo(json.dumps(clean(document), ensure_ascii=False, indent=2))
