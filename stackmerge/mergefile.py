"""``git merge-file``: a three-way merge of contents, as rerere replays an answer."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from stackmerge.attributes import PathAttributes
from stackmerge.git import Git


def merge_file(git: Git, base: bytes, ours: bytes, theirs: bytes, attributes: PathAttributes) -> bytes | None:
    """``git merge-file`` on three contents; None when it conflicts or when one of them is binary."""
    if any(b"\0" in data[:8000] for data in (base, ours, theirs)):
        return None
    with TemporaryDirectory(prefix="stackmerge-merge-") as name:
        files = [Path(name, stage) for stage in ("ours", "base", "theirs")]
        for file, data in zip(files, (ours, base, theirs), strict=True):
            file.write_bytes(data)
        options = ["--union"] if attributes.merge == "union" else []
        options += [f"--marker-size={attributes.marker_size}"]
        names = [str(file) for file in files]
        done = git.run("merge-file", "-p", "-q", *options, "--", *names, ok=range(128))
    return done.stdout if done.returncode == 0 else None
