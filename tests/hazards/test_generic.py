"""The generic kinds: one merge that went wrong for each, and a twin of it that only looks so."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from stackmerge.hazard.rule import KINDS
from tests.hazards.trees import Scratch

Files = dict[str, str]


@dataclass(frozen=True)
class Case:
    """A merge. ``says`` is the rule's answer, empty for none."""

    rule: str
    name: str
    base: Files
    ours: Files
    theirs: Files
    merged: Files
    says: str = ""
    others: set[tuple[str, str]] = field(default_factory=set)


def numbered(first: int, last: int) -> str:
    """Lines that keep two changes apart."""
    return "".join(f"LINE_{n} = {n}\n" for n in range(first, last))


def macro(name: str) -> str:
    """A handler as PHP's sources write it: the macro makes a function of the name."""
    return f"static PHP_INI_MH({name}) {{\n\treturn SUCCESS;\n}}\n"


MID = numbered(1, 9)
F = "def f(a):\n    return a\n"
F2 = "def f(a, b):\n    return a + b\n"
C_OLD, C_NEW = (
    "int open_it(const char *name)\n{\n\treturn 0;\n}\n",
    "int open_it(const char *name, int how)\n{\n\treturn how;\n}\n",
)
C_MID = "".join(f"int variable_{n};\n" for n in range(9))
C_CALL = 'int run(void)\n{\n\treturn open_it("a, b");\n}\n'
CONFIG, LATER = "class Config:\n    a = 1\n", "class Config(Config):\n    b = 2\n"
PATCH = "    check_everything(one)\n    count_everything(two)\n    close_everything(three)\n"
A, B = "def first():\n    begin_it()\n", "def second():\n    begin_it()\n"
FIRST = "revision = 'a'\ndown_revision = None\n"
SECOND = "revision = 'b'\ndown_revision = 'a'\n"
RIVAL = "revision = 'c'\ndown_revision = 'a'\n"
THIRD = "revision = 'c'\ndown_revision = 'b'\n"
OTHER = "class Other:\n    def take(self): ...\n"
REST = "    x = 1\n    y = 2\n    z = 3\n    q = 4\n"
GETTER = "    @property\n    def p(self): ...\n"
SETTER = "    @p.setter\n    def p(self, v): ...\n"
CLASS = "class Box:\n    def take(self):\n        return 1\n"

CASES = [
    Case("symbol-removed", "a renamed function, imported by new code",
         {"m.py": F}, {"m.py": F.replace("def f", "def renamed")},
         {"m.py": F, "n.py": "from m import f\n"},
         {"m.py": F.replace("def f", "def renamed"), "n.py": "from m import f\n"}),
    Case("symbol-removed", "a renamed function of a longer name, imported by new code",
         {"m.py": "def helper(): ...\n"}, {"m.py": "def helped(): ...\n"},
         {"m.py": "def helper(): ...\n", "n.py": "from m import helper\n"},
         {"m.py": "def helped(): ...\n", "n.py": "from m import helper\n"}, "warn"),
    Case("symbol-removed", "new code brings its own function of that name",
         {"m.py": "def helper(): ...\n"}, {"m.py": "X = 1\n"},
         {"m.py": "def helper(): ...\n", "n.py": "def helper(): ...\nhelper()\n"},
         {"m.py": "X = 1\n", "n.py": "def helper(): ...\nhelper()\n"}),
    Case("symbol-removed", "a method that is gone everywhere, called by new code",
         {"m.py": CLASS.replace("take", "take_one")}, {"m.py": CLASS.replace("take", "pop_one")},
         {"m.py": CLASS.replace("take", "take_one"), "n.py": "def use(box):\n    return box.take_one()\n"},
         {"m.py": CLASS.replace("take", "pop_one"), "n.py": "def use(box):\n    return box.take_one()\n"}, "warn"),
    Case("symbol-removed", "a C function that is gone, called by new code",
         {"a.c": C_OLD, "b.c": C_MID}, {"a.c": C_OLD.replace("open_it", "open_one"), "b.c": C_MID},
         {"a.c": C_OLD, "b.c": C_MID + C_CALL},
         {"a.c": C_OLD.replace("open_it", "open_one"), "b.c": C_MID + C_CALL}, "warn"),
    Case("symbol-removed", "only a comment speaks of it",
         {"m.py": "def helper(): ...\n"}, {"m.py": "X = 1\n"},
         {"m.py": "def helper(): ...\n", "n.py": "# like m.helper(), from m import helper\n"},
         {"m.py": "X = 1\n", "n.py": "# like m.helper(), from m import helper\n"}),
    Case("duplicate-definition", "the same function at both ends",
         {"m.py": MID}, {"m.py": F + MID}, {"m.py": MID + F}, {"m.py": F + MID + F}, "block"),
    Case("duplicate-definition", "one for each platform",
         {"m.py": MID}, {"m.py": "if WINDOWS:\n    def f(): ...\n" + MID},
         {"m.py": MID + "if LINUX:\n    def f(): ...\n"},
         {"m.py": "if WINDOWS:\n    def f(): ...\n" + MID + "if LINUX:\n    def f(): ...\n"}),
    Case("duplicate-definition", "a property and its setter",
         {"m.py": f"class A:\n{REST}"}, {"m.py": f"class A:\n{GETTER}{REST}"}, {"m.py": f"class A:\n{REST}{SETTER}"},
         {"m.py": f"class A:\n{GETTER}{REST}{SETTER}"}),
    Case("duplicate-definition", "the same C function at both ends",
         {"m.c": C_MID}, {"m.c": C_OLD + C_MID}, {"m.c": C_MID + C_NEW}, {"m.c": C_OLD + C_MID + C_NEW}, "block"),
    Case("duplicate-definition", "the preprocessor chooses",
         {"m.c": C_MID}, {"m.c": f"#ifdef A\n{C_OLD}#endif\n{C_MID}"}, {"m.c": f"{C_MID}#ifndef A\n{C_OLD}#endif\n"},
         {"m.c": f"#ifdef A\n{C_OLD}#endif\n{C_MID}#ifndef A\n{C_OLD}#endif\n"}),
    Case("duplicate-definition", "two functions that one macro makes",
         {"m.c": C_MID}, {"m.c": macro("first") + C_MID}, {"m.c": C_MID + macro("second")},
         {"m.c": macro("first") + C_MID + macro("second")}),
    Case("duplicate-definition", "one function that a macro makes, twice",
         {"m.c": C_MID}, {"m.c": macro("first") + C_MID}, {"m.c": C_MID + macro("first")},
         {"m.c": macro("first") + C_MID + macro("first")}, "warn"),
    Case("duplicate-definition", "a function in capitals, which a macro could be",
         {"m.c": C_MID}, {"m.c": C_OLD.replace("open_it", "OPEN") + C_MID},
         {"m.c": C_MID + C_NEW.replace("open_it", "OPEN")},
         {"m.c": C_OLD.replace("open_it", "OPEN") + C_MID + C_NEW.replace("open_it", "OPEN")}, "warn"),
    Case("duplicate-definition", "a C function that a parent has twice",
         {"m.c": C_OLD + C_NEW + C_MID}, {"m.c": C_OLD * 2 + C_NEW + C_MID}, {"m.c": C_OLD + C_NEW + C_MID + C_NEW},
         {"m.c": C_OLD * 2 + C_NEW + C_MID + C_NEW}, "warn"),
    Case("duplicate-definition", "a class that extends the one before it",
         {"m.py": MID}, {"m.py": CONFIG + MID}, {"m.py": MID + LATER}, {"m.py": CONFIG + MID + LATER}),
    Case("duplicate-definition", "a function whose default is the one before it",
         {"m.py": MID}, {"m.py": F + MID}, {"m.py": MID + "def f(a, then=f): ...\n"},
         {"m.py": F + MID + "def f(a, then=f): ...\n"}),
    Case("duplicate-definition", "a function that is decorated with the one before it",
         {"m.py": MID}, {"m.py": F + MID}, {"m.py": MID + "@f\ndef f(): ...\n"},
         {"m.py": F + MID + "@f\ndef f(): ...\n"}),
    Case("duplicate-definition", "a function that calls itself, at both ends",
         {"m.py": MID}, {"m.py": F + MID}, {"m.py": MID + "def f(a):\n    return f(a)\n"},
         {"m.py": F + MID + "def f(a):\n    return f(a)\n"}, "block"),
    Case("duplicate-definition", "a key that is a number, and one that is its text",
         {"m.yaml": "a: 1\nb: 2\nc: 3\n"}, {"m.yaml": "1: x\na: 1\nb: 2\nc: 3\n"},
         {"m.yaml": 'a: 1\nb: 2\nc: 3\n"1": y\n'}, {"m.yaml": '1: x\na: 1\nb: 2\nc: 3\n"1": y\n'}),
    Case("duplicate-definition", "one key twice, quoted in two ways",
         {"m.yaml": "a: 1\nb: 2\nc: 3\n"}, {"m.yaml": "new: x\na: 1\nb: 2\nc: 3\n"},
         {"m.yaml": 'a: 1\nb: 2\nc: 3\n"new": y\n'}, {"m.yaml": 'new: x\na: 1\nb: 2\nc: 3\n"new": y\n'}, "block"),
    Case("duplicate-definition", "one key twice",
         {"m.yaml": "a: 1\nb: 2\nc: 3\n"}, {"m.yaml": "new: 1\na: 1\nb: 2\nc: 3\n"},
         {"m.yaml": "a: 1\nb: 2\nc: 3\nnew: 2\n"},
         {"m.yaml": "new: 1\na: 1\nb: 2\nc: 3\nnew: 2\n"}, "block"),
    Case("duplicate-definition", "one key in two mappings",
         {"m.yaml": "a: {}\nb: 2\nc: {}\n"}, {"m.yaml": "a: {new: 1}\nb: 2\nc: {}\n"},
         {"m.yaml": "a: {}\nb: 2\nc: {new: 1}\n"},
         {"m.yaml": "a: {new: 1}\nb: 2\nc: {new: 1}\n"}),
    Case("lost-addition", "one side's test is dropped",
         {"t.py": "def test_a(): ...\n"}, {"t.py": "def test_a(): ...\ndef test_ours(): ...\n"},
         {"t.py": "def test_a(): ...\ndef test_theirs(): ...\n"},
         {"t.py": "def test_a(): ...\ndef test_ours(): ...\n"}, "warn"),
    Case("lost-addition", "both tests are kept",
         {"t.py": "def test_a(): ...\n"}, {"t.py": "def test_a(): ...\ndef test_ours(): ...\n"},
         {"t.py": "def test_a(): ...\ndef test_theirs(): ...\n"},
         {"t.py": "def test_a(): ...\ndef test_ours(): ...\ndef test_theirs(): ...\n"}),
    Case("lost-addition", "a fix is undone",
         {"m.py": "if count > limit:\n    stop()\n"}, {"m.py": "if count >= limit:\n    stop()\n"},
         {"m.py": "if count > limit:\n    log(count)\n    stop()\n"},
         {"m.py": "if count > limit:\n    log(count)\n    stop()\n"}, "warn"),
    Case("lost-addition", "the lines are written anew and use every name",
         {"m.py": "x = 1\n"}, {"m.py": "x = compute(first)\n"}, {"m.py": "x = reduce(second)\n"},
         {"m.py": "x = compute(reduce(first, second))\n"}),
    Case("signature-changed", "a new call of the old form",
         {"m.py": F}, {"m.py": F2}, {"m.py": F, "n.py": "from m import f\nf(1)\n"},
         {"m.py": F2, "n.py": "from m import f\nf(1)\n"},
         "warn"),
    Case("signature-changed", "the new parameter has a default",
         {"m.py": F}, {"m.py": F2.replace("b)", "b=2)", 1)}, {"m.py": F, "n.py": "from m import f\nf(1)\n"},
         {"m.py": F2.replace("b)", "b=2)", 1), "n.py": "from m import f\nf(1)\n"}),
    Case("signature-changed", "the call unpacks its arguments",
         {"m.py": F}, {"m.py": F2}, {"m.py": F, "n.py": "from m import f\nf(*x)\n"},
         {"m.py": F2, "n.py": "from m import f\nf(*x)\n"}),
    Case("signature-changed", "a method of another class with that name",
         {"m.py": CLASS, "o.py": OTHER},
         {"m.py": CLASS.replace("(self)", "(self, n)"), "o.py": OTHER},
         {"m.py": CLASS, "o.py": OTHER, "n.py": "x.take()\n"},
         {"m.py": CLASS.replace("(self)", "(self, n)"), "o.py": OTHER, "n.py": "x.take()\n"}),
    Case("signature-changed", "a new call in C of the old form",
         {"a.c": C_OLD, "b.c": C_MID}, {"a.c": C_NEW, "b.c": C_MID}, {"a.c": C_OLD, "b.c": C_MID + C_CALL},
         {"a.c": C_NEW, "b.c": C_MID + C_CALL}, "warn"),
    Case("signature-changed", "a new call in C of the new form",
         {"a.c": C_OLD, "b.c": C_MID}, {"a.c": C_NEW, "b.c": C_MID}, {"a.c": C_OLD, "b.c": C_MID + C_CALL},
         {"a.c": C_NEW, "b.c": C_MID + C_CALL.replace('b")', 'b", 1)')}),
    Case("lint-delta", "an import goes with its last use, and a use comes",
         {"m.py": f"import os\n{MID}os.sep\n{MID}"}, {"m.py": MID + MID},
         {"m.py": f"import os\n{MID}os.sep\n{MID}os.getcwd()\n"},
         {"m.py": f"{MID}{MID}os.getcwd()\n"}, "block"),
    Case("lint-delta", "a name that one side lacks already",
         {"m.py": MID}, {"m.py": f"_('a')\n{MID}"}, {"m.py": f"{MID}_('b')\n"}, {"m.py": f"_('a')\n{MID}_('b')\n"}),
    Case("double-applied", "the same lines in two functions",
         {"m.py": A + B}, {"m.py": A + PATCH + B}, {"m.py": A + B + PATCH}, {"m.py": A + PATCH + B + PATCH}, "warn"),
    Case("double-applied", "git takes the same patch once",
         {"m.py": A + B}, {"m.py": A + PATCH + B + "END = 1\n"}, {"m.py": "START = 1\n" + A + PATCH + B},
         {"m.py": "START = 1\n" + A + PATCH + B + "END = 1\n"}),
    Case("changed-default", "the old default is back",
         {"m.py": "def f(a=1): ...\n"}, {"m.py": "def f(a=2): ...\n"}, {"m.py": "def f(a=1, b=3): ...\n"},
         {"m.py": "def f(a=1, b=3): ...\n"}, "warn"),
    Case("changed-default", "the new default is taken",
         {"m.py": "def f(a=1): ...\n"}, {"m.py": "def f(a=2): ...\n"}, {"m.py": "def f(a=1, b=3): ...\n"},
         {"m.py": "def f(a=2, b=3): ...\n"}),
    Case("changed-default", "a setting that neither side gave",
         {"m.toml": "a = 1\nb = 1\n"}, {"m.toml": "a = 2\nb = 1\n"}, {"m.toml": "a = 3\nb = 1\n"},
         {"m.toml": "a = 4\nb = 1\n"}, "warn"),
    Case("unique-id", "two migrations behind one",
         {"db/versions/a.py": FIRST},
         {"db/versions/a.py": FIRST, "db/versions/b.py": SECOND},
         {"db/versions/a.py": FIRST, "db/versions/c.py": RIVAL},
         {"db/versions/a.py": FIRST, "db/versions/b.py": SECOND,
          "db/versions/c.py": RIVAL}, "warn"),
    Case("unique-id", "one migration follows the other",
         {"db/versions/a.py": FIRST},
         {"db/versions/a.py": FIRST, "db/versions/b.py": SECOND},
         {"db/versions/a.py": FIRST, "db/versions/c.py": RIVAL},
         {"db/versions/a.py": FIRST, "db/versions/b.py": SECOND,
          "db/versions/c.py": THIRD}),
    Case("unique-id", "two rows of one id",
         {"m.csv": "id,name\n1,a\n2,b\n"}, {"m.csv": "id,name\n7,c\n1,a\n2,b\n"},
         {"m.csv": "id,name\n1,a\n2,b\n7,d\n"},
         {"m.csv": "id,name\n7,c\n1,a\n2,b\n7,d\n"}, "warn"),
    Case("unique-id", "two rows of two ids",
         {"m.csv": "id,name\n1,a\n2,b\n"}, {"m.csv": "id,name\n7,c\n1,a\n2,b\n"},
         {"m.csv": "id,name\n1,a\n2,b\n8,d\n"},
         {"m.csv": "id,name\n7,c\n1,a\n2,b\n8,d\n"}),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.rule}: {c.name}")
def test_the_wrong_merge_is_named_and_its_twin_is_not(scratch: Scratch, case: Case) -> None:
    expected = {(case.rule, case.says)} if case.says else set()
    assert scratch.said(case.base, case.ours, case.theirs, case.merged, case.rule) == expected


def test_every_kind_has_a_wrong_merge_and_a_twin() -> None:
    for kind in KINDS:
        answers = {bool(case.says) for case in CASES if case.rule in _rules_of(kind)}
        assert answers == {True, False}, kind


def _rules_of(kind: str) -> set[str]:
    words = {
        "symbol_removed_vs_added_ref": "symbol-removed",
        "signature_changed_vs_new_call": "signature-changed",
    }
    return {words.get(kind, kind.replace("_", "-"))}


def test_nothing_blocks_before_the_merge(scratch: Scratch) -> None:
    for case in CASES:
        found = scratch.ask(case.base, case.ours, case.theirs, None)
        assert not [f for f in found if f.severity == "block"], case.name


def test_without_ruff_the_answer_is_not_checked(scratch: Scratch, monkeypatch: pytest.MonkeyPatch) -> None:
    from stackmerge.hazard.checks import lint_delta

    monkeypatch.setattr(lint_delta, "_ruff", lambda: None)
    case = next(c for c in CASES if c.rule == "lint-delta" and c.says)
    said = scratch.said(case.base, case.ours, case.theirs, case.merged, "lint-delta")
    assert said == {("lint-delta", "not checked")}


@pytest.mark.parametrize("case", [c for c in CASES if c.says], ids=lambda c: f"{c.rule}: {c.name}")
def test_a_byte_order_mark_hides_nothing(scratch: Scratch, case: Case) -> None:
    """What is wrong is wrong with the mark of UTF-8 before it, too (Unicode 15, section 23.8)."""
    sides = [
        {name: text.encode("utf-8-sig") for name, text in files.items()}
        for files in (case.base, case.ours, case.theirs, case.merged)
    ]
    assert scratch.said(*sides, case.rule) == {(case.rule, case.says)}
