"""Scalar: each word is what Kubernetes takes it for, and what is written is read as it was."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from testbed.objects.manifests.scalar import lines, name_of, resolve, written
from tests.each_row import each_row

WORDS = {
    "y Yes on TRUE": True,
    "n No off False": False,
    "~ null NULL": None,
    "017 0o17 15 +15 1_5 0xF 0b1111 1.5e1": 15,
    "-017 -0b1111": -15,
    "08 8.": 8,
    "1e3 1E+3 1_000": 1000,
    ".5 +.5 5e-1": 0.5,
    "18446744073709551615": 2**64 - 1,
    "1e21": 1e21,
}


@each_row(("words", "value"), WORDS.items())
def test_a_word_is_what_kubernetes_takes_it_for(words: str, value: object) -> None:
    """As go-yaml v2 resolves it and JSON then writes it: a whole float is a whole number."""
    for word in words.split():
        assert (resolve(word), type(resolve(word))) == (value, type(value)), word
    assert resolve("") is None


@each_row(
    "word",
    [
        "nULL",
        "yES",
        "1:30",
        "2025-01-01",
        "1.2.3",
        "-",
        "--",
        ".",
        "0x",
        "0o8",
        "12a",
        "1e999",
        "x",
    ],
)
def test_all_else_is_the_text_that_was_written(word: str) -> None:
    """No date, nothing to the base of sixty, and nothing that only looks like a number."""
    assert resolve(word) == word


@each_row("word", [".inf", "-.INF", "+.Inf", ".nan", ".NaN"])
def test_a_number_that_json_does_not_have_is_refused(word: str) -> None:
    """Kubernetes has it as JSON in between, where there is no such thing."""
    with pytest.raises(ValueError, match="JSON does not have"):
        resolve(word)


def test_a_name_is_a_text_whatever_it_looks_like() -> None:
    """A port number, or `on`, is a name; a fraction, or nothing at all, is none."""
    assert [name_of(word) for word in ("on", "n", "8080", "app")] == [
        "true",
        "false",
        "8080",
        "app",
    ]
    for word in ("1.5", "~", ""):
        with pytest.raises(ValueError, match="a name"):
            name_of(word)


TEXTS = st.text() | st.from_regex(r"[-+.0-9a-zA-Z_:~<= #]{1,8}", fullmatch=True)


@settings(derandomize=True, deadline=None)
@given(TEXTS)
@example("no")
@example("a: b")
@example("a #b")
@example("...")
@example("\x85\u2028\ufeff\x7f")
@example("😀")
def test_a_text_is_read_as_it_was_written(text: str) -> None:
    """By a plain reader of YAML 1.1, and, if it stands without quotes, by ours."""
    said = written(text)
    assert yaml.safe_load(f"{said}\n") == text
    assert yaml.safe_load(f"{said}: 1\n") == {text: 1}
    assert said.startswith('"') or resolve(said) == text


SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | TEXTS
TREES = st.recursive(
    SCALARS, lambda each: st.lists(each, max_size=3) | st.dictionaries(TEXTS, each, max_size=3)
)


@settings(derandomize=True, deadline=None)
@given(TREES)
def test_a_tree_is_read_as_it_was_written(tree: object) -> None:
    """However lists and mappings are nested, and with any of them empty."""
    text = "\n".join(lines(tree)) + "\n"
    assert yaml.safe_load(text) == tree
    assert json.dumps(yaml.safe_load(text), sort_keys=True) == json.dumps(tree, sort_keys=True)


def test_names_are_sorted() -> None:
    """So equal trees are equal bytes."""
    assert list(lines({"b": [{"d": 1, "c": {}}], "a": []})) == ["a: []", "b:", "- c: {}", "  d: 1"]
