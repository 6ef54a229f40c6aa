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


@st.composite
def files(draw: st.DrawFn) -> list[str]:
    words = st.builds(
        lambda line, name, parameters: line.format(name=name, parameters=parameters),
        st.sampled_from(LINES), st.sampled_from(NAMES), st.sampled_from(PARAMETERS),
    )  # fmt: skip
    return draw(st.lists(words, max_size=12))


@st.composite
def changes(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """Two versions of a file that share most lines."""
    old = draw(files())
    new = list(old)
    for line in draw(st.lists(st.sampled_from([*old, *draw(files()), "}\n"]), max_size=3)):
        at = draw(st.integers(0, len(new)))
        new[at : at + draw(st.integers(0, 1))] = [line] if draw(st.booleans()) else []
    return "".join(old).encode("latin-1"), "".join(new).encode("latin-1")


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
