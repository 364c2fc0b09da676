"""YAML lines: reads YAML (and so JSON) with guards, and keeps the line of each value.

A file from elsewhere may be hostile. Four guards stand before anything is built of it:

1. Size: no more than BYTES_MAX are read, whatever the file claims to be.
2. Depth: deep nesting overflows the stack of the parser's C code, which crashes the process.
3. Anchors and aliases: with ten lines of `*a, *a, *a` a file grows to billions of values. An alias
   is refused; an anchor alone does no harm. The number of values is limited, too.
4. Tags: a tag asks for code. None is ever executed, so it is refused, too.

The parser's events are walked for this first, one by one, and no tree is built from them until all
have passed. No type is guessed: a value is the text that was written, so `no` is not False, and
`1:30` is not ninety.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

import attrs
import yaml

from testbed.code.files import read_bytes
from testbed.errors import HarnessError
from testbed.objects.manifests.nesting import too_deep_at

BYTES_MAX = 1024 * 1024
DEPTH_MAX = 20
NODES_MAX = 20_000

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PLAIN = re.compile(r"-?[A-Za-z0-9_./][A-Za-z0-9_./@*#+= -]*")
_LOST = re.compile(r"(^|\s)#\d")
_HIDDEN = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""Characters that may not stand in YAML as they are, or that end a line there."""


@attrs.frozen
class Document:
    """One value of a file: a text, a list or a mapping, and its place."""

    value: str | list[Document] | dict[str, Document]
    path: str
    line: int
    refusal: type[HarnessError]
    """The error that is raised if it is not what was expected."""
    span: tuple[int, int] = (0, 0)
    """Where it begins and ends in the text, so that it can be changed and all else kept."""
    name_span: tuple[int, int] = (0, 0)
    """Where its name begins and ends, if it has one."""
    name_line: int = 0
    """The line of its name, if it has one; the value may stand below it."""

    def refuse(self, problem: str, next_step: str) -> NoReturn:
        """Raise an error: where it is, what is wrong with it, what to do."""
        end = "" if problem.endswith("?") else "."
        raise self.refusal(f"{self.path}, line {self.line}: {problem}{end}\nNext: {next_step}")

    def refuse_name(self, problem: str, next_step: str) -> NoReturn:
        """Raise such an error about its name."""
        attrs.evolve(self, line=self.name_line).refuse(problem, next_step)

    @property
    def shown(self) -> str:
        """What was found, in words for an error."""
        if isinstance(self.value, dict):
            return "a mapping"
        if isinstance(self.value, list):
            return "a list"
        return repr(self.value if len(self.value) <= 60 else self.value[:57] + "…")

    def text(self, what: str, next_step: str) -> str:
        """Return its text, or refuse it if it is none."""
        if not isinstance(self.value, str):
            self.refuse(f"expected {what}, found {self.shown}", next_step)
        return self.value

    def items(self, what: str, next_step: str) -> list[Document]:
        """Return its list, or refuse it if it is none."""
        if not isinstance(self.value, list):
            self.refuse(f"expected {what}, found {self.shown}", next_step)
        return self.value

    def fields(self, what: str, next_step: str) -> dict[str, Document]:
        """Return its mapping, or refuse it if it is none."""
        if not isinstance(self.value, dict):
            self.refuse(f"expected {what}, found {self.shown}", next_step)
        return self.value


def read(path: str, refusal: type[HarnessError]) -> str:
    """Return the text of a file; refuse one that is too large, or no text in UTF-8."""
    try:
        raw = read_bytes(path, BYTES_MAX + 1)
        if len(raw) <= BYTES_MAX:
            return raw.decode()
    except OSError as error:
        raise refusal(
            f"{path}: cannot be read: {error.strerror}.\nNext: give the path of a file."
        ) from error
    except UnicodeDecodeError as error:
        raise refusal(
            f"{path}: not a text: {error.reason} at byte {error.start}.\n"
            "Next: give a YAML file in UTF-8."
        ) from error
    raise refusal(
        f"{path}: too large: it may have {BYTES_MAX:,} bytes, this has more.\n"
        "Next: give the file that a search has written, or one like it."
    )


def parse(text: str, path: str, refusal: type[HarnessError]) -> Document:
    """Read the one document of a text; all guards pass before anything is built of it."""
    _check_comments(text, path, refusal)
    try:
        _check_events(text, path, refusal)
        node = yaml.compose(text, Loader=_Loader)
    except yaml.YAMLError as error:
        if (deep := too_deep_at(text, DEPTH_MAX)) is not None:
            raise _wrong(f"nesting deeper than {DEPTH_MAX}", deep, path, refusal) from error
        mark, position = (getattr(error, name, None) for name in ("problem_mark", "position"))
        line = text.count("\n", 0, position or 0) + 1 if mark is None else mark.line + 1
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or error
        raise refusal(
            f"{path}, line {line}: this is no YAML: {problem}.\n"
            "Next: look for a missing colon, quote or blank before that place."
        ) from error
    if node is None:
        raise refusal(f"{path}: empty.\nNext: give a file with content.")
    return _tree(node, path, refusal)


def quoted(text: str) -> str:
    """Return a text as a YAML scalar: as it is where that is safe, otherwise in quotes."""
    if _PLAIN.fullmatch(text) and " #" not in text and text == text.strip():
        return text
    scalar = _HIDDEN.sub(lambda found: _escaped(found[0]), json.dumps(text, ensure_ascii=False))
    # Even in quotes ` #2` would be refused by `_check_comments`, which sees lines, not values.
    return scalar.replace("#", _escaped("#")) if _LOST.search(scalar) else scalar


def _escaped(character: str) -> str:
    return f"\\u{ord(character):04x}"


def _check_comments(text: str, path: str, refusal: type[HarnessError]) -> None:
    """Refuse ` #2`: it is meant as a number, but YAML drops it unseen, as a comment."""
    for number, line in enumerate(text.split("\n"), 1):
        if _LOST.search(line):
            raise refusal(
                f"{path}, line {number}: a comment that begins with a number, or a number that "
                f"YAML takes for a comment: {line.strip()!r}.\n"
                "Next: glue the number to the name (`pods/default/p#2`), or begin the comment "
                "with a word."
            )


def _check_events(text: str, path: str, refusal: type[HarnessError]) -> None:
    """Refuse a text that is too deep or has too many values, an alias, a tag, a second document.

    The parser is lazy: it stops at the first wrong event, before it reads what comes behind it.
    """
    depth = nodes = documents = 0
    for event in yaml.parse(text, Loader=_Loader):
        wrong = ""
        if isinstance(event, yaml.AliasEvent):
            wrong = f"an alias (*{event.anchor}): write the value out"
        elif (tag := getattr(event, "tag", None)) is not None:
            wrong = f"a tag ({tag}): nothing in a file is ever executed; leave it out"
        elif isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            wrong = "a second document: give each its own file" if documents > 1 else ""
        elif isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            wrong = f"nesting deeper than {DEPTH_MAX}" if depth > DEPTH_MAX else ""
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        nodes += isinstance(event, yaml.NodeEvent)
        if nodes > NODES_MAX:
            wrong = f"more than {NODES_MAX:,} values"
        if wrong:
            mark: Any = event.start_mark
            raise _wrong(wrong, mark.line, path, refusal)


def _wrong(what: str, line: int, path: str, refusal: type[HarnessError]) -> HarnessError:
    return refusal(
        f"{path}, line {line + 1}: {what}.\nNext: write it as plain mappings, lists and texts."
    )


def _tree(node: Any, path: str, refusal: type[HarnessError]) -> Document:
    line = node.start_mark.line + 1
    span = (node.start_mark.index, node.end_mark.index)
    if isinstance(node, yaml.ScalarNode):
        return Document(node.value, path, line, refusal, span)
    if isinstance(node, yaml.SequenceNode):
        items = [_tree(item, path, refusal) for item in node.value]
        return Document(items, path, line, refusal, span)
    fields: dict[str, Document] = {}
    for key, value in node.value:
        name = _tree(key, path, refusal)
        text = name.text("a name", "write `name: value`.")
        if text in fields:
            first = fields[text].name_line
            name.refuse(f"{text!r} a second time (line {first} has it)", "leave one of them out.")
        document = _tree(value, path, refusal)
        fields[text] = attrs.evolve(document, name_span=name.span, name_line=name.line)
    return Document(fields, path, line, refusal, span)
