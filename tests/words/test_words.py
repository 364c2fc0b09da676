"""Spoken: what people call an Operation, and back."""

from __future__ import annotations

from testbed.words import MEANT, PAST, WORDS, meant, past, spoken, withheld
from tests.each_row import each_row


@each_row("asked", [*WORDS, ("update", ""), ("update", "status"), ("txn", "")])
def test_what_is_spoken_means_what_was_asked(asked: tuple[str, str]) -> None:
    """There and back again, for those with a word of their own and those without."""
    assert meant(spoken(*asked)) == asked


def test_to_create_a_binding_is_to_bind() -> None:
    """And to create an eviction is to evict; each word has one meaning, and a past."""
    assert spoken("create", "binding") == "bind"
    assert spoken("create", "eviction") == "evict"
    assert len(MEANT) == len(WORDS)
    assert all(word in PAST for word in WORDS.values())


@each_row(
    ("word", "said"),
    [
        ("bind", "bound"),
        ("update", "updated"),
        ("update/status", "updated the status of"),
        ("approve", "asked approve of"),
    ],
)
def test_what_was_done_is_said_in_the_past(word: str, said: str) -> None:
    """Also of a subresource without a word of its own, and of an unknown verb."""
    assert past(word) == said


@each_row(
    ("kind", "said"),
    [
        ("serve", "its bind of pods/default/web"),
        ("answer", "the answer to its bind of pods/default/web"),
        ("deliver", "its news of pods/default/web"),
        ("resume", "its next move"),
    ],
)
def test_what_is_held_back_is_named(kind: str, said: str) -> None:
    """A request, an answer, news; or just the next move of an actor."""
    assert withheld(kind, "create/binding.2", "pods/default/web") == said
