"""Label selectors: which objects are meant, as data and as a line of text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testbed.objects import Requirement
from testbed.objects.labels import ABSENT, EXISTS, IN, NOT_IN, parse
from tests.each_row import each_row

WEB = {"app": "web", "env": "a", "empty": ""}


@pytest.mark.spec("API-47")
@each_row(
    ("requirement", "holds"),
    [
        (Requirement("app", IN, ("web", "db")), True),
        (Requirement("app", IN, ("db",)), False),
        (Requirement("app", IN), False),
        (Requirement("none", IN, ("", "web")), False),
        (Requirement("empty", IN, ("",)), True),
        (Requirement("app", NOT_IN, ("db",)), True),
        (Requirement("app", NOT_IN, ("web",)), False),
        (Requirement("none", NOT_IN, ("web", "")), True),
        (Requirement("app", EXISTS), True),
        (Requirement("empty", EXISTS), True),
        (Requirement("none", EXISTS), False),
        (Requirement("app", ABSENT), False),
        (Requirement("none", ABSENT), True),
        (Requirement("app", "Gt", ("1",)), False),
        (Requirement("app", "in", ("web",)), False),
    ],
)
def test_a_requirement_holds_of_labels(requirement: Requirement, holds: bool) -> None:
    """What is absent is in no list, and so is not in any; an unknown operator holds of nothing."""
    assert requirement.holds(WEB) is holds


@each_row(
    ("text", "requirements"),
    [
        ("", ()),
        ("  ", ()),
        ("a", (Requirement("a", EXISTS),)),
        ("!a", (Requirement("a", ABSENT),)),
        (" ! a ", (Requirement("a", ABSENT),)),
        ("a=b", (Requirement("a", IN, ("b",)),)),
        ("a==b", (Requirement("a", IN, ("b",)),)),
        ("a = b", (Requirement("a", IN, ("b",)),)),
        ("a>7,b<1", (Requirement("a", "Gt", ("7",)), Requirement("b", "Lt", ("1",)))),
        ("a=", (Requirement("a", IN, ("",)),)),
        ("a=,b", (Requirement("a", IN, ("",)), Requirement("b", EXISTS))),
        ("a!=b", (Requirement("a", NOT_IN, ("b",)),)),
        ("a in (y, x)", (Requirement("a", IN, ("x", "y")),)),
        ("a in (x,x)", (Requirement("a", IN, ("x",)),)),
        ("a in ()", (Requirement("a", IN, ("",)),)),
        ("a in (x,,y)", (Requirement("a", IN, ("", "x", "y")),)),
        ("a notin(x)", (Requirement("a", NOT_IN, ("x",)),)),
        ("in in (in,notin)", (Requirement("in", IN, ("in", "notin")),)),
        ("in", (Requirement("in", EXISTS),)),
        ("inside", (Requirement("inside", EXISTS),)),
        ("k8s.io/x_y=1.0", (Requirement("k8s.io/x_y", IN, ("1.0",)),)),
        (
            "a=b,c!=d,e in (x,y),!f",
            (
                Requirement("a", IN, ("b",)),
                Requirement("c", NOT_IN, ("d",)),
                Requirement("e", IN, ("x", "y")),
                Requirement("f", ABSENT),
            ),
        ),
    ],
)
def test_a_line_of_text_is_read(text: str, requirements: tuple[Requirement, ...]) -> None:
    """As kubectl and every client write it; values sorted, each once."""
    assert parse(text) == requirements


@each_row(
    ("text", "place"),
    [
        (",", ","),
        ("a,", ""),
        ("a,,b", ",b"),
        ("a b", "b"),
        ("a=b c", "c"),
        ("!a=b", "=b"),
        ("!a in (b)", "in (b)"),
        ("a in b", "b"),
        ("a in (b", ""),
        ("a in (b c)", "c)"),
        ("a in (b))", ")"),
        ("a===b", "=b"),
        ("=b", "=b"),
        ("-a", "-a"),
        ("a=b!", "!"),
        ("!", ""),
        ("!!a", "!a"),
        ("a in (b),(c)", "(c)"),
        ("a=b/c", "b/c"),
        ("a/b/c", "a/b/c"),
        ("a-=b", "a-=b"),
        (f"a={'b' * 64}", "b" * 64),
    ],
)
def test_what_is_no_selector_is_refused(text: str, place: str) -> None:
    """And the refusal shows where it breaks."""
    with pytest.raises(ValueError, match="a label selector such as app=web,tier!=db") as raised:
        parse(text)
    assert str(raised.value).endswith(f", at {place!r}" if place else ", at its end")


KEYS, VALUES = st.sampled_from("abc"), st.sampled_from(["", "x", "y", "in"])
drawn = st.one_of(
    st.builds(
        Requirement,
        KEYS,
        st.sampled_from([IN, NOT_IN]),
        st.sets(VALUES, min_size=1).map(lambda values: tuple(sorted(values))),
    ),
    st.builds(Requirement, KEYS, st.sampled_from([EXISTS, ABSENT])),
)


def told(one: Requirement, space: str) -> str:
    """A requirement as text."""
    match one.operator:
        case "Exists":
            return one.key
        case "DoesNotExist":
            return f"!{space}{one.key}"
        case _:
            word = "in" if one.operator == IN else "notin"
            return f"{one.key} {space}{word}{space}({f',{space}'.join(one.values)}{space})"


@settings(max_examples=100, derandomize=True, deadline=None)
@given(st.lists(drawn, max_size=4), st.sampled_from(["", " ", "\t"]))
def test_what_is_written_is_read_as_the_same(said: list[Requirement], space: str) -> None:
    """With blanks or without."""
    assert parse(f"{space},{space}".join(told(one, space) for one in said)) == tuple(said)


def test_a_long_line_is_read_in_one_walk() -> None:
    """A hostile selector of many blanks, commas or brackets is refused at once."""
    for bad in ("a" + " " * 50_000 + "b", "a in (" + "x," * 50_000, "(" * 50_000, "!" * 50_000):
        with pytest.raises(ValueError, match="a label selector"):
            parse(bad)
    assert len(parse(",".join(["a=b"] * 10_000))) == 10_000
