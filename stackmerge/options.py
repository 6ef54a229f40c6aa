"""Options that many commands share."""

from pathlib import Path
from typing import Annotated

import typer

Repo = Annotated[Path, typer.Option("--repo", help="The repository (default: the current directory).")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
File = Annotated[
    str, typer.Option("--manifest", metavar="FILE", help="The manifest, in the top of the repository.")
]
Onto = Annotated[str | None, typer.Option("--onto", metavar="REV", help="The new base.")]
ApplyEdits = Annotated[
    bool,
    typer.Option(
        "--apply-hazard-edits", help="Where a hazard blocks, make the edits that its rule prescribes."
    ),
]
Events = Annotated[
    str,
    typer.Option(
        "--events", metavar="FILE|-", help="Write what happens, as it happens, as one JSON object a line."
    ),
]
HERE = Path()
MANIFEST = "stackmerge.yaml"
