"""What a change of a C file removes and redeclares, told from its pieces, is what its whole versions say."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from stackmerge.hazard.checks import outline
from stackmerge.hazard.checks.difference import differing

NAMES = ("open", "close", "seek", "é")
PARAMETERS = ("void", "int a", "int a,\n\tint b", "int (*call)(void)", "const char *s, ...")
LINES = (
    "int {name}({parameters})\n{{\n\tcall({name}(1));\n}}\n",
    "static int {name}({parameters}) {{\n\tif (x) {{\n\t}}\n}}\n",
    "int {name}({parameters});\n",
    "#define {name} 1\n",
    "  #  define {name}(x) (x)\n",
    "struct s {{\n\tint {name};\n}};\n",
    "}} {name}({parameters}) {{\n",
    "}}\n",
    "\n",
    "}}int {name}({parameters});\n",
    "{name}({parameters})\n",
    "\t{name}({parameters});\n",
    "\x00\xff}}\r\n",
)


Line = tuple[str, str, str]


def lines() -> st.SearchStrategy[Line]:
    return st.tuples(st.sampled_from(LINES), st.sampled_from(NAMES), st.sampled_from(PARAMETERS))


def written(file: list[Line]) -> bytes:
    return "".join(line.format(name=name, parameters=given) for line, name, given in file).encode("latin-1")


@st.composite
def changes(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """Two versions of a file that share most lines: some are gone, new, or have other parameters."""
    old = draw(st.lists(lines(), max_size=12))
    new = list(old)
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(new)))
        kind = draw(st.sampled_from(("gone", "new", "other")))
        if kind == "new":
            new.insert(at, draw(lines()))
        elif kind == "gone":
            del new[at : at + 1]
        elif at < len(new):
            line, name, _ = new[at]
            new[at] = (line, name, draw(st.sampled_from(PARAMETERS)))
    return written(old), written(new)


@settings(max_examples=500, deadline=None)
@given(change=changes())
def test_pieces_say_what_whole_files_say(change: tuple[bytes, bytes]) -> None:
    old, new = (data.decode("utf-8", "replace") for data in change)
    found = differing(*change, "c")
    assert found.removed == outline.defined(old, "c") - outline.defined(new, "c")
    before, after = outline.declared(old), outline.declared(new)
    for name in before.keys() & after.keys():
        if not set(before[name]) & set(after[name]):
            assert name in found.redeclared, name
