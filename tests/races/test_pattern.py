"""Pattern: each sentence is read, printed back the same, and fits the Options it speaks of."""

from __future__ import annotations

import attrs
from hypothesis import given

from testbed.races.pattern import Pattern, parse_pattern, pattern_of, verbs_and_keys
from testbed.turns.option import ANSWER, DELIVER, FEED, PICK, RESUME, SERVE, START, WAKE, Option
from tests.each_row import each_row
from tests.shared.race_texts import DRAWN, POD, SENTENCES


def option(
    kind: str, path: str, verb: str = "", key: str = "", change: str = "", nth: int = 1
) -> Option:
    """One that is never performed."""
    return Option(kind, path, lambda: None).about(verb, key, change, nth)


BIND = "create/binding"


@each_row(("text", "pattern"), SENTENCES.items(), ids=SENTENCES.keys())
def test_every_form_is_read_and_printed_back(text: str, pattern: Pattern) -> None:
    """Each part of the sentence is where it belongs."""
    assert parse_pattern(text) == pattern
    assert str(pattern) == text


@each_row(
    "text",
    [
        "", "alpha", "alpha bind", "alpha bind pods/default/c now", " alpha get n", "alpha  get n",
        "delivery of pods/default/c", "wake of alpha", "answer to alpha", "start of",
        "turn of alpha beta gamma", "feed of pods to api-2 soon",
    ],
)  # fmt: skip
def test_what_is_no_sentence_is_none(text: str) -> None:
    """A word too few, or too many."""
    assert parse_pattern(text) is None


@given(DRAWN)
def test_what_is_printed_is_read_as_it_was(pattern: Pattern) -> None:
    """Of any kind, of any task, life and number."""
    assert parse_pattern(str(pattern)) == pattern


FITS = [
    ("alpha bind pods/default/c", option(SERVE, "alpha/main", BIND, POD)),
    ("alpha create pods/default/c/binding", option(SERVE, "alpha/main", BIND, POD)),
    ("alpha/binder bind pods/default/c", option(SERVE, "alpha/binder", BIND, POD)),
    ("al* [bc]ind pods/*", option(SERVE, "alpha/binder", BIND, POD)),
    ("alpha update/status pods/default/c", option(SERVE, "alpha/main", "update/status", POD)),
    ("alpha update pods/default/c/status", option(SERVE, "alpha/main", "update/status", POD)),
    ("alpha bind.2 pods/default/c", option(SERVE, "alpha/main", f"{BIND}.2", POD)),
    ("answer to alpha bind pods/default/c", option(ANSWER, "alpha/main", BIND, POD)),
    ("delivery of pods/default/c to beta", option(DELIVER, "beta/watch-pods", "", POD, "ADDED")),
    (
        "delivery of ADDED pods/default/c to beta",
        option(DELIVER, "beta/watch-pods", "", POD, "ADDED"),
    ),
    ("delivery of pods/* to beta/watch-pods#2", option(DELIVER, "beta/watch-pods#2", "", POD)),
    ("feed of pods to api-2", option(FEED, "api-2/feed-pods", "", "pods")),
    ("wake of alpha flush", option(WAKE, "alpha/main", "flush")),
    ("wake of alpha fl*", option(WAKE, "alpha/flusher", "flush")),
    ("start of alpha", option(START, "alpha/main")),
    ("start of store", option(START, "store/start")),
    ("start of alpha/binder", option(START, "alpha/binder")),
    ("turn of alpha", option(RESUME, "alpha/loop")),
    ("turn of alpha/loop", option(RESUME, "alpha/loop")),
]


@each_row(("text", "speaks_of"), FITS, ids=[text for text, _ in FITS])
def test_a_sentence_fits_what_it_speaks_of_and_nothing_else(text: str, speaks_of: Option) -> None:
    """Not another kind, not another actor; by a spoken verb, or by verb and suffix."""
    pattern = parse_pattern(text)
    assert pattern is not None
    assert pattern.fits(speaks_of)
    others = [o for _, o in FITS if o.kind != speaks_of.kind]
    others.append(option(speaks_of.kind, "gamma/main", speaks_of.verb, speaks_of.key))
    assert [str(other) for other in others if pattern.fits(other)] == []


NEAR = [
    ("alpha bind pods/default/c", option(SERVE, "alpha/main", BIND, "pods/default/cc")),
    ("alpha create pods/default/c", option(SERVE, "alpha/main", BIND, POD)),
    ("alpha update pods/default/c", option(SERVE, "alpha/main", "update/status", POD)),
    ("alpha bind pods/default/c", option(SERVE, "alpha/main", f"{BIND}.2", POD)),
    ("alpha/loop get pods/default/c", option(SERVE, "alpha/main", "get", POD)),
    ("start of alpha", option(START, "alpha/binder")),
    ("start of alpha/binder", option(START, "alpha/main")),
    ("wake of alpha flush", option(WAKE, "alpha/main", "flusher")),
    ("delivery of pods/default/c to beta", option(DELIVER, "beta/watch-pods", "", "pods")),
    ("delivery of DELETED pods/* to beta", option(DELIVER, "beta/watch-pods", "", POD, "ADDED")),
]


@each_row(("text", "other"), NEAR, ids=[text for text, _ in NEAR])
def test_what_is_only_near_does_not_fit(text: str, other: Option) -> None:
    """The same object's subresource, a later part, another task, a longer name."""
    pattern = parse_pattern(text)
    assert pattern is not None
    assert not pattern.fits(other)


@each_row("speaks_of", [o for _, o in FITS], ids=str)
@each_row("by_task", [True, False])
def test_what_an_option_is_called_fits_it(speaks_of: Option, by_task: bool) -> None:
    """By its actor or by its task, also when it is read back."""
    pattern = pattern_of(speaks_of, by_task=by_task, nth=2)
    assert pattern is not None
    assert pattern.nth == 2
    assert pattern.fits(speaks_of)
    assert parse_pattern(str(pattern)) == pattern


def test_a_pick_and_a_fault_have_no_sentence() -> None:
    """They have lines of their own in a race file."""
    for kind in (PICK, "fault"):
        assert pattern_of(option(kind, "alpha/main"), by_task=True, nth=1) is None


def test_an_operation_is_called_by_its_spoken_word() -> None:
    """`bind`, where there is one; else the subresource stands behind the object."""
    assert verbs_and_keys(option(SERVE, "alpha/main", BIND, POD))[0] == ("bind", POD)
    called = pattern_of(option(SERVE, "alpha/main", "update/status", POD), by_task=False, nth=1)
    assert str(called) == "alpha update pods/default/c/status"


def test_the_life_stands_on_the_actor() -> None:
    """In front of the task."""
    pattern = attrs.evolve(Pattern(SERVE, "alpha/loop", "get", POD), life=2)
    assert str(pattern) == "alpha@2/loop get pods/default/c"
