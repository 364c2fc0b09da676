"""Document: guarded YAML (and so JSON) in, each value with the line it stands on.

A file from elsewhere may be hostile: deep nesting crashes the parser's own C code, an alias makes a
few lines into billions, a tag asks for code. So the events of a file are walked through once, with
limits and without building anything, before a tree is made of it. No value is guessed: every scalar
is the text that was written, so `no` is not False and `1:30` not ninety.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NoReturn

import attrs
import yaml

from testbed.errors import HarnessError

BYTES_MAX = 1024 * 1024
DEPTH_MAX = 20
NODES_MAX = 20_000

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PLAIN = re.compile(r"-?[A-Za-z0-9_./][A-Za-z0-9_./@*#+= -]*")
_LOST = re.compile(r"(^|\s)#\d")
_HIDDEN = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""What cannot stand in a YAML file as it is, or is taken for the end of a line."""


@attrs.frozen
class Document:
    """One value of a file: a text, a list or a mapping; and where it stands."""

    value: str | list[Document] | dict[str, Document]
    path: str
    line: int
    refusal: type[HarnessError]
    """What is raised if it is not what was expected."""
    span: tuple[int, int] = (0, 0)
    """Where it begins and ends in the text, so that it may be changed and all else kept."""
    name_span: tuple[int, int] = (0, 0)
    """The same of its name, if it has one."""
    name_line: int = 0
    """The line its name stands on, if it has one: the value may stand below."""

    def refuse(self, said: str, next_step: str) -> NoReturn:
        """Say what is wrong with it: where, what was expected, what to do."""
        end = "" if said.endswith("?") else "."
        raise self.refusal(f"{self.path}, line {self.line}: {said}{end}\nNext: {next_step}")

    def refuse_name(self, said: str, next_step: str) -> NoReturn:
        """The same of its name."""
        attrs.evolve(self, line=self.name_line).refuse(said, next_step)

    @property
    def shown(self) -> str:
        """What was found, for an error."""
        if isinstance(self.value, dict):
            return "a mapping"
        if isinstance(self.value, list):
            return "a list"
        return repr(self.value if len(self.value) <= 60 else self.value[:57] + "…")

    def text(self, what: str, next_step: str) -> str:
        """The text it is."""
        if not isinstance(self.value, str):
            self.refuse(f"expected {what}, found {self.shown}", next_step)
        return self.value

    def items(self, what: str, next_step: str) -> list[Document]:
        """The list it is."""
        if not isinstance(self.value, list):
            self.refuse(f"expected {what}, found {self.shown}", next_step)
        return self.value

    def fields(self, what: str, next_step: str) -> dict[str, Document]:
        """The mapping it is."""
        if not isinstance(self.value, dict):
            self.refuse(f"expected {what}, found {self.shown}", next_step)
        return self.value


def read(path: str, refusal: type[HarnessError]) -> str:
    """The text of a file, unless it is larger than any of its kind."""
    try:
        with Path(path).open("rb") as file:
            raw = file.read(BYTES_MAX + 1)
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
    """The one document of a text, checked before anything is built of it."""
    _check_comments(text, path, refusal)
    try:
        _check_events(text, path, refusal)
        node = yaml.compose(text, Loader=_Loader)
    except yaml.YAMLError as error:
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
    """That text as a YAML scalar: as it is where that is safe, else in quotes."""
    if _PLAIN.fullmatch(text) and " #" not in text and text == text.strip():
        return text
    said = _HIDDEN.sub(lambda found: _escaped(found[0]), json.dumps(text, ensure_ascii=False))
    return said.replace("#", _escaped("#")) if _LOST.search(said) else said


def _escaped(character: str) -> str:
    return f"\\u{ord(character):04x}"


def _check_comments(text: str, path: str, refusal: type[HarnessError]) -> None:
    """YAML takes ` #2` for a comment and drops it unseen; here it is meant as the second."""
    for number, line in enumerate(text.split("\n"), 1):
        if _LOST.search(line):
            raise refusal(
                f"{path}, line {number}: a comment that begins with a number, or a number that "
                f"YAML takes for a comment: {line.strip()!r}.\n"
                "Next: glue the number to the name (`pods/default/p#2`), or begin the comment "
                "with a word."
            )


def _check_events(text: str, path: str, refusal: type[HarnessError]) -> None:
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
            raise refusal(
                f"{path}, line {mark.line + 1}: {wrong}.\n"
                "Next: write it as plain mappings, lists and texts."
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
        told = _tree(value, path, refusal)
        fields[text] = attrs.evolve(told, name_span=name.span, name_line=name.line)
    return Document(fields, path, line, refusal, span)
