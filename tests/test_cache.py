"""The cache of resolutions: what is added and forgotten holds, whatever is saved in between."""

from __future__ import annotations

from stackmerge import cache
from stackmerge.repository import Repository
from stackmerge.resolution import Provenance
from tests.sandbox import Sandbox

ONE, OTHER = "a" * 40, "b" * 40
HERE = Provenance(path="f", source="hand", step="red", head="1" * 40)


def answers(repository: Repository, conflict: str) -> list[bytes]:
    return [repository.objects.blob(text.postimage) for text in repository.resolutions().text(conflict)]


def seeded(repository: Repository, *conflicts: str) -> None:
    seed = repository.resolutions()
    for conflict in conflicts:
        seed.add_text(conflict, b"pre" + conflict.encode(), b"wrong", HERE)
    cache.save(repository, seed, "seed")


def test_each_of_two_answers_takes_the_place_of_a_wrong_one(fork: Sandbox) -> None:
    fork.commit({"f": "f\n"}, "one")
    with Repository(fork.path) as repository:
        seeded(repository, ONE, OTHER)
        ours = repository.resolutions()
        for conflict in (ONE, OTHER):
            ours.forget_text_of(conflict, "f", "red", "1" * 40, (b"", b"right"))
            ours.add_text(conflict, b"pre" + conflict.encode(), b"right", HERE)
            cache.save(repository, ours, "mend")
        assert [answers(repository, conflict) for conflict in (ONE, OTHER)] == [[b"right"], [b"right"]]


def test_what_is_forgotten_stays_forgotten_when_others_save_meanwhile(fork: Sandbox) -> None:
    fork.commit({"f": "f\n"}, "one")
    with Repository(fork.path) as repository:
        seeded(repository, ONE)
        ours, others = repository.resolutions(), repository.resolutions()
        ours.forget(f"rr-cache/{ONE}")
        others.add_text(OTHER, b"pre", b"post", HERE)
        cache.save(repository, others, "theirs")
        cache.save(repository, ours, "forget")
        assert [answers(repository, conflict) for conflict in (ONE, OTHER)] == [[], [b"post"]]


def test_an_answer_of_another_step_is_kept_when_one_forgets_its_own(fork: Sandbox) -> None:
    fork.commit({"f": "f\n"}, "one")
    there = Provenance(path="g", source="hand", step="blue", head="2" * 40)
    with Repository(fork.path) as repository:
        seeded(repository, ONE)
        ours = repository.resolutions()
        ours.add_text(ONE, b"pre" + ONE.encode(), b"wrong", there)
        ours.add_text(ONE, b"pre" + ONE.encode(), b"other", there)
        ours.forget_text_of(ONE, "f", "red", "1" * 40, (b"", b"right"))
        cache.save(repository, ours, "mend")
        assert answers(repository, ONE) == [b"wrong", b"other"]
        assert [t.provenance for t in repository.resolutions().text(ONE)] == [(there,), (there,)]
        ours.forget_text_of(ONE, "g", "blue", "2" * 40, (b"", b"right"))
        cache.save(repository, ours, "mend")
        assert answers(repository, ONE) == []
        assert repository.resolutions().text_ids() == []
