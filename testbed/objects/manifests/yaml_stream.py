"""YAML stream: the YAML or JSON documents of a text as plain trees, within limits.

A file from elsewhere may be hostile, and the parser's own composer crashes on deep nesting. So this
file builds the trees itself, without recursion, from the tokens that the parser calls events. It
counts them against limits while the trees grow. An alias counts for everything that it stands for,
so a tree that is too large is refused before it is built. A document begins at every line `---`,
also within a broken one, so that one broken document hides no other.

A tree does not keep the lines of its values, since that would cost more than the tree. If something
in it is wrong, its text is parsed again to find the line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, NoReturn

import attrs
import yaml

from testbed.objects.manifests.nesting import too_deep_at
from testbed.objects.manifests.scalar import name_of, resolve

BYTES_MAX = 64 * 1024 * 1024
DEPTH_MAX = 100
NODES_MAX = 2_000_000
OFTEN = 4096
"""Progress is reported each time this many values have been read."""

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_BEGINS = re.compile(rb"^---(?=[ \t\r\n]|\Z)", re.MULTILINE)
_CONTENT = re.compile(rb"^(?![ \t]*(#|\r?$)|%)", re.MULTILINE)
"""Matches a line that is neither empty nor a comment nor a directive."""
_PAIR = re.compile(rb"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|.)", re.S)


class Broken(ValueError):
    """A text that cannot be read: the line, what is wrong, and what to do."""

    def __init__(self, line: int, problem: str, next_step: str) -> None:
        super().__init__(line, problem, next_step)
        self.line = line
        self.problem = problem
        self.next_step = next_step


@attrs.frozen
class DocumentText:
    """The text between two `---` lines, usually one document, and where it begins."""

    text: bytes
    line: int
    """The number of its first line."""


def parts(text: bytes) -> Iterator[DocumentText]:
    """Each part of a text between `---` lines that has content, in order."""
    begins = (found.start() for found in _BEGINS.finditer(text))
    line, start = 1, 0
    for end in chain(begins, (len(text),)):
        part = text[start:end]
        if _CONTENT.search(part.removeprefix(b"---")):
            yield DocumentText(part, line)
        line, start = line + part.count(b"\n"), end


class DocumentReader:
    """Reads the parts of one text, and counts their values against the limits."""

    def __init__(self, *, nodes_max: int = NODES_MAX, depth_max: int = DEPTH_MAX) -> None:
        self.nodes_max = nodes_max
        self.depth_max = depth_max
        self.nodes = 0
        """The number of values so far, with those that aliases stand for."""
        self._names: dict[str, str] = {}

    @property
    def is_full(self) -> bool:
        """Whether its limit is reached."""
        return self.nodes > self.nodes_max

    def shared(self, name: str) -> str:
        """The name as one shared string: a cluster repeats a few names thousands of times."""
        if len(self._names) < OFTEN:
            return self._names.setdefault(name, name)
        return self._names.get(name, name)

    def trees(
        self, part: DocumentText, at_line: Callable[[int], None] = lambda _: None
    ) -> list[Any]:
        """The documents of a part; None for an empty one. Raises Broken."""
        grown = _Growing(self, part)
        for count, event in enumerate(_events(part, self.depth_max)):
            grown.take(event)
            if count % OFTEN == 0:
                at_line(_line(part, event))
        return grown.documents


def lines_of(part: DocumentText, paths: list[tuple[int, str]]) -> list[int]:
    """The line of each (document number, path) in a part, or of the nearest value around it."""
    found = [part.line for _ in paths]
    for number, path, line in _places(part):
        for place, (wanted, target) in enumerate(paths):
            if number == wanted and _leads(path, target):
                found[place] = line
    return found


def _leads(path: str, target: str) -> bool:
    return target.startswith(path) and (not path or target[len(path) :][:1] in ("", ".", "["))


def _places(part: DocumentText) -> Iterator[tuple[int, str, int]]:
    """For every value of a part: the number of its document, its path, and its line."""
    number, around = -1, [_Around("", is_list=False)]
    for event in _events(part):
        if isinstance(event, yaml.DocumentStartEvent):
            number, around = number + 1, [_Around("", is_list=False, name="")]
        elif isinstance(event, yaml.CollectionEndEvent):
            around.pop()
        elif isinstance(event, yaml.NodeEvent):
            here, line = around[-1], _line(part, event)
            if here.is_list or here.name is not None:
                path, line = here.next_path(line)
                yield number, path, line
            elif isinstance(event, yaml.ScalarEvent):
                here.name, here.line = _name(event), line
            if isinstance(event, yaml.CollectionStartEvent):
                is_list = isinstance(event, yaml.SequenceStartEvent)
                around.append(_Around(path, is_list=is_list))


@attrs.define
class _Around:
    """The list or mapping around the current place."""

    path: str
    is_list: bool
    name: str | None = None
    """In a mapping, the name of the next value, once it was read."""
    line: int = 0
    """The line of that name."""
    count: int = 0

    def next_path(self, line: int) -> tuple[str, int]:
        """The path and the line of the next value."""
        if self.is_list:
            self.count += 1
            return f"{self.path}[{self.count - 1}]", line
        name, self.name = self.name or "", None
        path = f"{self.path}.{name}" if self.path and name else self.path or name
        return path, self.line or line


@attrs.define
class _Open:
    """A list or mapping that is still growing."""

    value: Any
    anchor: str | None
    began: int
    """How many values were read before it."""
    is_list: bool
    name: str | None = None
    """In a mapping, the name of the next value, once it was read."""
    is_merge: bool = False
    """Whether that name is `<<`: the next value gives defaults for names that are missing."""
    beneath: list[dict[str, Any]] = attrs.field(factory=list)

    @property
    def takes_name(self) -> bool:
        """Whether a name comes next."""
        return not self.is_list and self.name is None


class _Growing:
    """The documents of one part, as far as its tokens have been taken."""

    def __init__(self, reader: DocumentReader, part: DocumentText) -> None:
        self._reader = reader
        self._part = part
        self.documents: list[Any] = []
        self._open: list[_Open] = []
        self._known: dict[str, tuple[Any, int]] = {}
        """By anchor: its value, and of how many values that consists."""

    def take(self, event: Any) -> None:
        """Add one token to the trees. Raises Broken."""
        if (take := _TAKES.get(type(event))) is not None:
            take(self, event)

    def _count(self, event: Any, values: int) -> None:
        reader = self._reader
        reader.nodes += values
        if reader.nodes > reader.nodes_max:
            problem = f"more than {reader.nodes_max:,} values, with all that its aliases repeat"
            self._refuse(event, problem, "write out less, or give it in several files.")

    def take_scalar(self, event: Any) -> None:
        """Add a text, a number or the like, or take it as a name."""
        self._count(event, 1)
        if event.tag is not None:
            self._refuse(event, f"a tag ({event.tag})", "leave it out, and quote what is a text.")
        if self._open and self._open[-1].takes_name:
            self._take_name(event, self._open[-1])
            return
        value = event.value
        if event.implicit[0]:
            try:
                value = resolve(value)
            except ValueError as error:
                self._refuse(event, str(error), "give a number, or quote it to mean the text.")
        if event.anchor is not None:
            self._known[event.anchor] = (value, 1)
        self._put(value, event)

    def _take_name(self, event: Any, around: _Open) -> None:
        try:
            name = _name(event)
        except ValueError:
            self._refuse(event, f"expected a name, found {event.value!r}", "quote it.")
        if name in around.value:
            self._refuse(event, f"{name!r} a second time", "leave one of the two out.")
        around.is_merge = name == "<<" and event.implicit[0]
        around.name = self._reader.shared(name)

    def take_alias(self, event: Any) -> None:
        """Add the value of an anchor once more."""
        if event.anchor not in self._known:
            problem = f"an alias (*{event.anchor}) of nothing that is complete before it"
            self._refuse(event, problem, f"write &{event.anchor} where its value stands first.")
        if self._open[-1].takes_name:
            self._refuse(event, f"an alias (*{event.anchor}) for a name", "write the name out.")
        value, values = self._known[event.anchor]
        self._count(event, values)
        self._put(value, event)

    def begin(self, event: Any) -> None:
        """Open a list or mapping; what comes next goes into it."""
        self._count(event, 1)
        if event.tag is not None:
            self._refuse(event, f"a tag ({event.tag})", "leave it out.")
        if len(self._open) == self._reader.depth_max:
            raise _too_deep(_line(self._part, event), self._reader.depth_max)
        is_list = isinstance(event, yaml.SequenceStartEvent)
        if self._open and self._open[-1].takes_name:
            found = "a list" if is_list else "a mapping"
            self._refuse(event, f"expected a name, found {found}", "quote it if it is a text.")
        value: Any = [] if is_list else {}
        self._open.append(_Open(value, event.anchor, self._reader.nodes - 1, is_list))

    def end(self, event: Any) -> None:
        """Close the innermost list or mapping."""
        # `<<` gives defaults. They are filled in only now, so that they never replace a name that
        # the mapping itself has, before the `<<` or after it.
        ended = self._open.pop()
        for below in ended.beneath:
            for name, value in below.items():
                ended.value.setdefault(name, value)
        if ended.anchor is not None:
            self._known[ended.anchor] = (ended.value, self._reader.nodes - ended.began)
        self._put(ended.value, event)

    def _put(self, value: Any, event: Any) -> None:
        if not self._open:
            self.documents.append(value)
            return
        around = self._open[-1]
        if around.is_list:
            around.value.append(value)
            return
        assert around.name is not None
        if around.is_merge:
            self._lay_beneath(around, value, event)
        else:
            around.value[around.name] = value
        around.name = None

    def _lay_beneath(self, around: _Open, value: Any, event: Any) -> None:
        below = value if isinstance(value, list) else [value]
        if not all(isinstance(each, dict) for each in below):
            problem = "expected a mapping to merge (<<), found something else"
            self._refuse(event, problem, "say `<<: *name` of a mapping, or quote the <<.")
        around.beneath += below

    def _refuse(self, event: Any, problem: str, next_step: str) -> NoReturn:
        raise Broken(_line(self._part, event), problem, next_step)


_TAKES: dict[type, Callable[[_Growing, Any], None]] = {
    yaml.ScalarEvent: _Growing.take_scalar,
    yaml.AliasEvent: _Growing.take_alias,
    yaml.MappingStartEvent: _Growing.begin,
    yaml.SequenceStartEvent: _Growing.begin,
    yaml.MappingEndEvent: _Growing.end,
    yaml.SequenceEndEvent: _Growing.end,
}


def _line(part: DocumentText, event: Any) -> int:
    return part.line + int(event.start_mark.line)


def _name(event: Any) -> str:
    return name_of(event.value) if event.implicit[0] else str(event.value)


def _too_deep(line: int, depth_max: int) -> Broken:
    return Broken(line, f"nesting deeper than {depth_max}", "look for a bracket too many.")


def _events(part: DocumentText, depth_max: int = DEPTH_MAX) -> Iterator[Any]:
    """The parser's events for a part; Broken if it is not YAML."""
    text = part.text
    try:
        parser = _Loader(_joined(text))
        while not isinstance(event := parser.get_event(), yaml.StreamEndEvent):
            yield event
    except (yaml.YAMLError, UnicodeError) as error:
        deep = too_deep_at(text.decode(errors="replace"), depth_max)
        if deep is not None:
            raise _too_deep(part.line + deep, depth_max) from error
        mark = getattr(error, "problem_mark", None)
        if mark is None:
            at = getattr(error, "position", None) or getattr(error, "start", None) or 0
            line = part.line + text.count(b"\n", 0, at)
        else:
            line = part.line + mark.line
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or error
        raise Broken(
            line,
            f"this is neither YAML nor JSON: {problem}",
            "look for a missing colon, quote or blank before that place.",
        ) from error


def _joined(text: bytes) -> bytes:
    """The text, with escapes for two halves of one character (`\\ud83d\\ude00`) joined: JSON may
    write characters beyond the first 65,536 so, and YAML cannot."""
    if text.removeprefix(b"---").lstrip()[:1] not in (b"{", b"["):
        return text
    return _PAIR.sub(_one, text)


def _one(found: re.Match[bytes]) -> bytes:
    if found[1] is None:
        return found[0]
    high, low = int(found[1], 16), int(found[2], 16)
    return chr(0x10000 + (high - 0xD800) * 0x400 + low - 0xDC00).encode()
