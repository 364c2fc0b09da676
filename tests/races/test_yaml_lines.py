"""Document: hostile YAML is refused with its line before anything is built; a scalar stays text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from testbed.errors import RaceRefused
from testbed.races import yaml_lines as document
from testbed.races.yaml_lines import BYTES_MAX, DEPTH_MAX, NODES_MAX, Document, parse, quoted, read
from tests.each_row import each_row


def plain(given: Document) -> object:
    """The same without paths and lines."""
    if isinstance(given.value, dict):
        return {name: plain(value) for name, value in given.value.items()}
    if isinstance(given.value, list):
        return [plain(item) for item in given.value]
    return given.value


def read_as(text: str) -> object:
    """What a text is read as."""
    return plain(parse(text, "a.yaml", RaceRefused))


HOSTILE = {
    "a tag": ("a: !!python/object/apply:os.system [ls]", "line 1: a tag (tag:yaml.org,2002:py"),
    "a tag on a key": ("!!str a: b", "line 1: a tag (tag:yaml.org,2002:str)"),
    "an alias": ("a: &x [1]\nb: *x", "line 2: an alias (*x): write the value out"),
    "a billion laughs": ("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]", "line 2: an alias (*a)"),
    "a merge": ("a: &x {b: c}\nd:\n  <<: *x", "line 3: an alias (*x)"),
    "deep nesting": ("[" * 200_000, f"line 1: nesting deeper than {DEPTH_MAX}"),
    "deep mappings": ("{a: " * 200_000, f"line 1: nesting deeper than {DEPTH_MAX}"),
    "deep blocks": (
        "\n".join(" " * n + "a:" for n in range(900)), f"line {DEPTH_MAX + 1}: nesting deeper"
    ),
    "a huge list": ("[" + "a," * 30_000 + "]", f"line 1: more than {NODES_MAX:,} values"),
    "a name twice, whose value stands below": (
        "a:\n  - 1\na: 3", "line 3: 'a' a second time (line 1 has it)"
    ),
    "a name twice": ("a: 1\nb: 2\na: 3", "line 3: 'a' a second time (line 1 has it)"),
    "two documents": ("a: 1\n---\nb: 2", "line 2: a second document: give each its own file"),
    "a name that is a list": ("? [a]\n: b", "line 1: expected a name, found a list"),
    "a bad indent": ("a: 1\n  b: 2", "line 2: this is no YAML: "),
    "an open quote": ('a: "b', "line 1: this is no YAML: "),
    "a control character": ("b: c\na: \x00", "line 2: this is no YAML: "),
    "a number lost": ("a: alpha get notes/default/n #2", "line 1: a comment that begins with a nu"),
    "a comment with a number": ("a: b\n#2 of them", "line 2: a comment that begins with a number"),
    "nothing": ("", "a.yaml: empty"),
    "only a comment": ("# nothing here\n", "a.yaml: empty"),
}  # fmt: skip


@each_row(("text", "said"), HOSTILE.values(), ids=HOSTILE.keys())
def test_what_is_hostile_or_broken_is_refused_with_its_line(text: str, said: str) -> None:
    """Whatever it is, in one short error with the place and the next step."""
    with pytest.raises(RaceRefused) as caught:
        parse(text, "a.yaml", RaceRefused)
    told = str(caught.value)
    assert told.startswith(f"a.yaml, {said}" if said.startswith("line") else said), told
    assert "\nNext: " in told
    assert len(told) < 500


@each_row(
    "word", ["no", "on", "true", "1:30", "0o17", "1e3", "null", "~", "2026-01-01", "=", "0x1f"]
)
def test_a_scalar_stays_the_text_that_was_written(word: str) -> None:
    """YAML 1.1 takes these for a bool, a number, a date or nothing at all; here they are text."""
    assert read_as(f"a: {word}") == {"a": word}


def test_what_is_left_empty_is_an_empty_text() -> None:
    """It is for the reader of a field to refuse it."""
    assert read_as("a:\nb: []") == {"a": "", "b": []}


def test_every_value_knows_its_line() -> None:
    """Of a mapping, a list, and a text in them, in block style and in flow style."""
    top = parse("# one\na:\n  - b: c\n\n  - {d: [e,\n     f]}\n", "a.yaml", RaceRefused)
    assert isinstance(top.value, dict)
    items = top.value["a"].items("", "")
    assert [item.line for item in items] == [3, 5]
    inner = items[1].fields("", "")["d"].items("", "")
    assert [(item.value, item.line) for item in inner] == [("e", 5), ("f", 6)]


TEXTS = st.text(st.characters(exclude_categories=["C"]), max_size=8)
NESTED = st.recursive(
    TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(NESTED)
@example({"a": "b #2"})
def test_json_is_read_too(value: object) -> None:
    """Any of it, but what YAML would take for a comment with a number."""
    text = json.dumps(value, ensure_ascii=False)
    if document._LOST.search(text):
        with pytest.raises(RaceRefused, match="begins with a number"):
            read_as(text)
    else:
        assert read_as(text) == value


@given(st.text(max_size=30) | st.text("ab#2 *&!|>%@`'\":{}[],-?~=/.\\", max_size=12))
@example("a #b")
@example("a #2")
@example("#1")
@example("- a")
@example("a: b")
@example(" a ")
def test_what_is_quoted_is_read_as_it_was(text: str) -> None:
    """As a value, as a name, and within a list."""
    said = quoted(text)
    assert read_as(f"a: {said}") == {"a": text}
    assert read_as(f"a: [{said}, {said}]") == {"a": [text, text]}
    assert read_as(f"- {said}: b") == [{text: "b"}]


def test_a_file_is_read_with_a_limit(tmp_path: Path) -> None:
    """To the last byte that is allowed, and not one more."""
    file = tmp_path / "a.yaml"
    file.write_text("a" * BYTES_MAX)
    assert read(str(file), RaceRefused) == "a" * BYTES_MAX
    file.write_text("a" * (BYTES_MAX + 1))
    with pytest.raises(RaceRefused, match="too large: it may have 1,048,576 bytes"):
        read(str(file), RaceRefused)


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """It is missing, it is a folder, it is not UTF-8."""
    file = tmp_path / "a.yaml"
    with pytest.raises(RaceRefused, match=r"a\.yaml: cannot be read: No such file"):
        read(str(file), RaceRefused)
    with pytest.raises(RaceRefused, match="cannot be read: Is a directory"):
        read(str(tmp_path), RaceRefused)
    file.write_bytes(b"ab: \xff")
    with pytest.raises(RaceRefused, match="not a text: invalid start byte at byte 4"):
        read(str(file), RaceRefused)


@each_row(
    ("wanted", "found"),
    [("text", "a mapping"), ("items", "a mapping"), ("fields", "a list"), ("fields", "'…'")],
)
def test_what_is_of_another_shape_is_told(wanted: str, found: str) -> None:
    """What was expected, and what was found: a long text is cut short."""
    text = {"a mapping": "{a: b}", "a list": "[a]", "'…'": "x" * 70}[found]
    with pytest.raises(RaceRefused, match="line 1: expected a thing, found") as caught:
        getattr(parse(text, "a.yaml", RaceRefused), wanted)("a thing", "write one.")
    told = found.replace("…", "x" * 57 + "…")
    assert str(caught.value).endswith(f"expected a thing, found {told}.\nNext: write one.")
