"""Documents: many in one text, each by itself; what is hostile is refused before it is built."""

from __future__ import annotations

from typing import Any

import pytest

from testbed.objects.manifests.yaml_stream import (
    Broken,
    DocumentReader,
    DocumentText,
    parts,
)
from tests.each_row import each_row


def trees(text: str | bytes, **limits: int) -> list[Any]:
    """Every document of a text."""
    reader = DocumentReader(**limits)
    raw = text.encode() if isinstance(text, str) else text
    return [tree for part in parts(raw) for tree in reader.trees(part)]


def test_quotes_make_a_text_of_any_word() -> None:
    """Without them a word is what Kubernetes takes it for, as a value and as a name."""
    text = "a: [no, 'no', \"5\", 5, ~, 1.5]\non: |\n  x\n"
    assert trees(text) == [{"a": [False, "no", "5", 5, None, 1.5], "true": "x\n"}]


def test_json_is_yaml() -> None:
    """With tabs, and with a character in two halves, which only JSON has."""
    assert trees('{\n\t"a": "\\ud83d\\ude00\\\\ud83d",\n\t"b/c": [true, null, 1.0]}') == [
        {"a": "😀\\ud83d", "b/c": [True, None, 1]}
    ]
    assert trees("a: '\\ud83d\\ude00'") == [{"a": "\\ud83d\\ude00"}]


def test_an_alias_is_what_it_names() -> None:
    """Also as defaults of a mapping (`<<`): its own names win, then the first of several."""
    text = "a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  c: 3\ne:\n  <<: [{b: 4}, *x]\nf: [&y no, *y]"
    assert trees(text) == [
        {
            "a": {"b": 1, "c": 2},
            "d": {"b": 1, "c": 3},
            "e": {"b": 4, "c": 2},
            "f": [False, False],
        }
    ]
    assert trees("'<<': {a: 1}") == [{"<<": {"a": 1}}]


def laughs(levels: int, wide: int) -> str:
    """A few lines that stand for `wide ** levels` values."""
    first = f"- &a0 [{', '.join(['x'] * wide)}]\n"
    more = (f"- &a{n} [{', '.join([f'*a{n - 1}'] * wide)}]\n" for n in range(1, levels))
    return first + "".join(more)


HOSTILE = {
    "an alias bomb": (laughs(20, 9), 7, "more than 2,000,000 values, with all that its aliases"),
    "deep lists": ("[" * 200_000, 1, "nesting deeper than 100"),
    "deep JSON": ('{"a":' * 200_000, 1, "nesting deeper than 100"),
    "deep dashes": ("- " * 200_000, 1, "nesting deeper than 100"),
    "an alias of itself": ("a: &x\n  b: *x", 2, "an alias (*x) of nothing that is complete before"),
    "an alias of another document": ("&x a: b\n---\n- *x", 3, "an alias (*x) of nothing"),
    "an alias for a name": ("a: &x b\n? *x\n: c", 2, "an alias (*x) for a name"),
    "a tag": ("a: !!python/object/apply:os.system [ls]", 1, "a tag (tag:yaml.org,2002:python/obje"),
    "a tag of a text": ("a: 1\nb: !!str 5", 2, "a tag (tag:yaml.org,2002:str)"),
    "a name twice": ("a:\n  b: 1\n  c: 2\n  b: 3", 4, "'b' a second time"),
    "a name twice, in JSON": ('{"a": 1,\n"a": 2}', 2, "'a' a second time"),
    "a name twice, said otherwise": ("true: 1\non: 2", 2, "'true' a second time"),
    "a name that is a list": ("? [a]\n: b", 1, "expected a name, found a list"),
    "a name that is nothing": ("~: b", 1, "expected a name, found '~'"),
    "a merge of a text": ("a: 1\n<<: b", 2, "expected a mapping to merge"),
    "no number of JSON": ("a: .nan", 1, "a number that JSON does not have"),
    "junk": (bytes(range(256)) * 100, 1, "neither YAML nor JSON: control characters are not"),
    "no UTF-8": (b"a: 1\nb: \xc3\x28", 2, "neither YAML nor JSON: "),
    "an open bracket": ("a: 1\n---\nb: [\n", 4, "neither YAML nor JSON: "),
    "half a character": ('{"a": "\\ud83d"}', 1, "neither YAML nor JSON: "),
}


@each_row(("text", "line", "said"), HOSTILE.values(), ids=HOSTILE.keys())
def test_what_is_hostile_or_broken_is_refused_with_its_line(
    text: str | bytes, line: int, said: str
) -> None:
    """Whatever it is: what is wrong, where, and what to do."""
    with pytest.raises(Broken) as caught:
        trees(text)
    assert caught.value.line == line
    assert said in caught.value.problem
    assert caught.value.next_step.endswith(".")


def test_a_broken_document_hides_no_other() -> None:
    """Each begins at its own `---`; the limit of values is that of the whole text."""
    reader, read, broken = DocumentReader(nodes_max=20), [], []
    for part in parts(b"a: [\n---\nb: 1\n---\nc: ]\n---\nd: 2\n"):
        try:
            read += reader.trees(part)
        except Broken as error:
            broken.append(error.line)
    assert (read, broken) == ([{"b": 1}, {"d": 2}], [2, 5])
    assert not reader.is_full
    with pytest.raises(Broken, match="more than 20 values"):
        reader.trees(DocumentText(b"[" + b"x, " * 21 + b"]", 1))
    assert reader.is_full


def test_names_and_values_and_what_aliases_repeat_are_counted() -> None:
    """Four for `{a: [b]}`; an alias counts for all that it names, and so does what holds it."""
    for text, nodes in (("{a: [b]}", 4), ("- &x [b]\n- *x", 5), ("- &y [&x [b], *x]\n- *y", 11)):
        assert trees(text, nodes_max=nodes)
        with pytest.raises(Broken, match="more than"):
            trees(text, nodes_max=nodes - 1)


def test_progress_is_told_by_lines() -> None:
    """Every few thousand values, and never backwards."""
    (part,) = parts(b"- a\n" * 20_000)
    told: list[int] = []
    DocumentReader().trees(part, told.append)
    assert len(told) > 3
    assert told == sorted(told)
