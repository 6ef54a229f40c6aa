"""The demo's commits: what each is called, what it stands on, and which folder of sources it lays over that."""

from __future__ import annotations

from dataclasses import dataclass, replace

CONV_STATE = "python/freetoken/models/qwen4_exp/conv_state.py"


@dataclass(frozen=True)
class Change:
    """One commit. ``parent`` is the key of another one, or a ref, with ``^0``, that is there already.

    ``day`` counts from the first commit; ``refs`` will point to it; ``deletes`` are paths.
    """

    key: str
    subject: str
    who: str
    day: int
    files: str = ""
    parent: str = ""
    refs: tuple[str, ...] = ()
    deletes: tuple[str, ...] = ()


ADA = "Ada Lindqvist <ada@example.com>"
BEN = "Ben Okafor <ben@example.com>"
CHI = "Chi Tanaka <chi@example.com>"
KEEPER = "Kim Keeper <kim@example.com>"

# (key, subject, author, day, tags); each stands on the one before.
_MAIN: tuple[tuple[str, str, str, int, tuple[str, ...]], ...] = (
    ("start", "Load, compile, sample", ADA, 0, ()),
    ("gdn-201", "Gated delta net: the short convolution (#201)", BEN, 6, ()),
    ("ple-233", "Per-layer n-gram embeddings (#233)", CHI, 13, ()),
    ("disk-262", "Keep the n-gram table on disk (#262)", CHI, 20, ()),
    ("top-k-318", "Top-k sampling (#318)", ADA, 31, ()),
    ("gdn-state-352", "Gated delta net: keep the state in the layer (#352)", BEN, 38, ()),
    ("hash-out-381", "N-gram hash into a given buffer (#381)", CHI, 45, ("e0886cc",)),
    ("gdn-reset-402", "Gated delta net: reset a slot (#402)", BEN, 50, ()),
    ("progress-430", "Say which file of weights is being loaded (#430)", ADA, 53, ()),
    ("release-0.1.3", "Version 0.1.3", ADA, 54, ("cac247a", "v0.1.3")),
    ("greedy-471", "Greedy sampling in mixed batches (#471)", ADA, 58, ()),
    ("weight-error-518", "Name the tensor that a checkpoint lacks (#518)", ADA, 61, ()),
    ("jit-arch-521", "Compile for sm_100 and sm_120 (#521)", BEN, 62, ()),
    ("install-index-524", "Install from the wheel index (#524)", ADA, 63, ("cc1f5c2",)),
    ("double-buffer-588", "Two eager staging buffers, and a fence for the graph's (#588)", CHI, 70, ("d3512b4",)),
)  # fmt: skip


def _main() -> tuple[Change, ...]:
    """Upstream's main, one squashed pull request after the other."""
    made: list[Change] = []
    for key, subject, who, day, tags in _MAIN:
        files = "pulls/521b" if key == "jit-arch-521" else f"upstream/{key}"
        refs = ("refs/heads/main", *(f"refs/tags/{tag}" for tag in tags))
        deletes = (CONV_STATE,) if key == "gdn-state-352" else ()
        made.append(Change(key, subject, who, day, files, made[-1].key if made else "", refs, deletes))
    return tuple(made)


def _pull(number: int, subject: str, who: str, day: int, parent: str) -> Change:
    return Change(f"pr-{number}", subject, who, day, f"pulls/{number}", parent, (f"refs/pull/{number}/head",))


UPSTREAM = (
    *_main(),
    _pull(338, "Fuse the n-gram row-id hash into one Triton kernel", CHI, 34, "disk-262"),
    _pull(339, "Sync the convolution's state before a prefill reads it", BEN, 34, "disk-262"),
    _pull(415, "Min-p sampling", ADA, 51, "disk-262"),
    _pull(433, "A seed for each request", ADA, 55, "top-k-318"),
    _pull(548, "Run on GPUs that have no bfloat16", BEN, 66, "hash-out-381"),
    replace(
        _pull(521, "Compile for newer architectures", BEN, 46, "disk-262"), key="521a", files="pulls/521a"
    ),
    replace(_pull(521, "Use what is special to each", BEN, 47, "521a"), files="pulls/521b"),
)

# The fork's own pull requests, which are branches of it.
FORK = (
    Change(
        "pr-67",
        "Fill the rows of a graph on a thread, submitted before the launch",
        KEEPER,
        48,
        "pulls/67",
        "refs/tags/e0886cc^0",
        ("refs/heads/ple-filler", "refs/pull/67/head"),
    ),
    Change(
        "pr-77",
        "Test that overlapped decode does not hang",
        KEEPER,
        49,
        "pulls/77",
        "refs/tags/e0886cc^0",
        ("refs/heads/no-graph-fence-test", "refs/pull/77/head"),
    ),
)
