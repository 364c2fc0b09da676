"""Trace: the record of one Run, one line of JSON for each Step; its choices alone replay it."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import attrs

from testbed.errors import ScenarioError, TraceRefused
from testbed.objects.codec import decode, encode, encode_line
from testbed.store.endpoint import Operation
from testbed.store.footprint import Footprint, Marks
from testbed.turns.option import HOLD, Choice, Option, Sentence

FORMAT = "testbed-trace/1"
SAID = "said"
"""The name of the fact that is a sentence for people, without its subject and full stop."""
FILE_BYTES_MAX = 256 * 1024 * 1024


class Step:
    """One Option performed, held back or released, or one pick decided: who, what, when and why."""

    __slots__ = (
        "because", "causes", "choice", "marks", "now_ms", "number", "of", "operation", "option",
        "outcome", "records", "revision",
    )  # fmt: skip

    def __init__(self, number: int, option: Option, choice: int, of: int, marks: Marks) -> None:
        self.number = number
        """From 1; picks, holds and releases count as well."""
        self.option = option
        self.choice = choice
        """The index that the Chooser gave; from `of` on, the indices are faults."""
        self.of = of
        """How many ready Options there were."""
        self.marks = marks
        self.now_ms = 0
        self.causes = option.causes
        self.revision = ""
        """The revision of the Store that was read or written."""
        self.outcome = ""
        """The reason of a refusal; empty if nothing was refused."""
        self.because = 0
        """The number of the Record that its caller gave as `because`; 0 if none."""
        self.operation: Operation | None = None
        """What a `serve` was asked; for stories, and not part of the line."""
        self.records: tuple[Record, ...] = ()
        """The Records that were written in it; each has a line of its own."""

    @property
    def kind(self) -> str:
        """The kind of its Option: serve, answer, feed, deliver, start, resume, wake, fault or pick;
        or hold, release, pass."""
        return self.option.kind

    @property
    def sentence(self) -> Sentence:
        """The identity of its Option."""
        return self.option.sentence

    @property
    def did(self) -> Footprint:
        """What it touched; exact once the turn has ended, but for what is late (see Marks)."""
        return self.marks.footprint() | self.marks.late | self.option.own

    def line(self) -> dict[str, Any]:
        """Its line in a trace; empty fields are left out."""
        option = self.option
        line: dict[str, Any] = {"n": self.number, "at": self.now_ms, "do": option.kind}
        line["who"] = option.path
        for word, value in (
            ("verb", option.verb),
            ("key", option.key),
            ("change", option.change),
            ("nth", option.nth if option.nth > 1 else 0),
            ("label", option.label),
            ("rv", self.revision),
            ("refused", self.outcome),
            ("because", self.because),
        ):
            if value:
                line[word] = value
        if option.kind == HOLD and option.due_ms > self.now_ms:
            line["until_ms"] = option.due_ms
        line["choice"] = self.choice
        line["of"] = self.of
        line["by"] = self.causes
        # `option.own` is left out: it follows from the fields above.
        did = self.marks.footprint()
        if did.reads:
            line["reads"] = sorted(did.reads)
        if did.writes:
            line["writes"] = sorted(did.writes)
        return line


@attrs.frozen
class Record:
    """A line that an actor wrote into the trace, for invariants and stories; no actor reads it."""

    number: int
    """From 1, in the order they were written."""
    step: int
    """The turn in which it was written."""
    now_ms: int
    path: str
    """The task that wrote it."""
    name: str
    facts: dict[str, Any]
    """Its facts, copied when it was written, so that a list among them may change later."""

    def __attrs_post_init__(self) -> None:
        try:
            facts = {name: _as_it_is_now(value) for name, value in self.facts.items()}
            encode(facts)
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise ScenarioError(
                f"{self.path} records {self.name!r} with what cannot stand in a trace: {error}.\n"
                "Next: record strings, whole numbers, lists of them, or objects of the Store."
            ) from error
        object.__setattr__(self, "facts", facts)

    @property
    def said(self) -> str:
        """What the actor did, without its name: `chose n1 for pods/default/c`. It is the fact
        `said`, or else the name of the Record and its facts."""
        facts = self.facts
        if isinstance(said := facts.get(SAID), str) and said:
            return said
        given = " ".join(f"{name}={value}" for name, value in facts.items())
        return f"recorded {self.name} {given}".rstrip()

    @property
    def speaks_of(self) -> frozenset[str]:
        """The strings among its facts, such as keys of objects and names."""
        return frozenset(value for value in self.facts.values() if isinstance(value, str))

    def line(self) -> dict[str, Any]:
        """Its line in a trace."""
        return {
            "record": self.number,
            "at": self.now_ms,
            "who": self.path,
            "name": self.name,
            "facts": self.facts,
        }


UNCHANGING = frozenset({str, int, bool, type(None)})
"""The types of nearly all facts; values of these need no copy."""


def _as_it_is_now(value: Any) -> Any:
    """A copy of a value that could still change; a set, which has no order, as a sorted list."""
    if type(value) in UNCHANGING:
        return value
    if isinstance(value, (list, tuple)):
        return [each if type(each) in UNCHANGING else _as_it_is_now(each) for each in value]
    if isinstance(value, dict):
        return {name: _as_it_is_now(each) for name, each in value.items()}
    if isinstance(value, (set, frozenset)):
        return decode(encode(value))
    return value


class Trace:
    """The record of one Run, during the Run and after it.

    By default it has the choices only. With `keep` it also has all Steps and Records, and renders
    them when asked. With a `sink` it writes each line as soon as the turn has ended, and keeps
    none. Every line ends with a running checksum of all lines so far, so a reader can tell where a
    file was cut or edited.
    """

    def __init__(
        self, header: dict[str, Any], *, keep: bool = False, sink: IO[bytes] | None = None
    ) -> None:
        self.header = {"format": FORMAT, **header}
        self.keep = keep
        self.sink = sink
        self.choices: list[Choice] = []
        """The decisions of the Chooser; they are enough to replay the Run."""
        self.numbered = 0
        """How many Steps the Run has had."""
        self.items: list[Step | Record] = []
        """Steps and Records in order; with `keep` all of them, else those of the turn under way."""
        self.end: dict[str, Any] | None = None
        """The last line; None until the Run has ended."""
        self.bytes_written = 0
        self._sum = 0
        self._written = 0

    @property
    def steps(self) -> list[Step]:
        """The Steps without the Records; empty unless the trace is kept."""
        return [item for item in self.items if isinstance(item, Step)]

    @property
    def is_read(self) -> bool:
        """Whether it is kept or written; if not, no Step need be made."""
        return self.keep or self.sink is not None

    def begin(self) -> None:
        """Write the header; called once, before the first turn."""
        if self.sink is not None:
            self._write(self.header)

    def flush(self) -> None:
        """Write the lines of the turn that has just ended; called by the Play."""
        if self.sink is not None:
            for item in self.items[self._written :]:
                self._write(item.line())
        if not self.keep:
            self.items.clear()
        self._written = len(self.items)

    def close(self, end: dict[str, Any]) -> None:
        """Write the last line: how the Run ended."""
        self.end = end
        if self.sink is not None:
            self.flush()
            self._write(end)
            self.sink.flush()

    def _write(self, content: dict[str, Any]) -> None:
        line, self._sum = summed(content, self._sum)
        assert self.sink is not None
        self.sink.write(line)
        self.bytes_written += len(line)

    def lines(self) -> Iterator[bytes]:
        """All lines of a kept trace, as in a file."""
        total = 0
        end = [] if self.end is None else [self.end]
        for content in (self.header, *(item.line() for item in self.items), *end):
            line, total = summed(content, total)
            yield line

    def digest(self) -> str:
        """SHA-256 over all lines of a kept trace."""
        digest = hashlib.sha256()
        for line in self.lines():
            digest.update(line)
        return digest.hexdigest()


def summed(content: dict[str, Any], before: int) -> tuple[bytes, int]:
    """A line of JSON that ends in the running checksum, and that checksum; `before` is that of the
    line before."""
    body = encode_line(content)
    total = zlib.crc32(body, before)
    return b'%s,"sum":"%08x"}\n' % (body[:-1], total), total


@attrs.frozen
class Recorded:
    """A trace that was read back from a file and checked."""

    path: str
    header: dict[str, Any]
    steps: tuple[dict[str, Any], ...]
    """The lines that are Steps, not Records: turns, picks and what is no turn."""
    lines: tuple[bytes, ...]
    end: dict[str, Any]


COPY_AGAIN = "Next: copy the whole file again, or record the Run again."
USE_AS_IT_IS = "Next: use the file as it was recorded; to change a Run, record another."


def load(path: str) -> Recorded:
    """Read a trace and check every line of it; TraceRefused says which line is wrong, and how."""
    lines = _read(path).splitlines(keepends=True)
    header = _header(path, lines)
    contents: list[dict[str, Any]] = []
    total = 0
    for number, line in enumerate(lines, 1):
        content, total = _checked(path, number, line, total)
        contents.append(content)
    end = contents[-1]
    if "end" not in end:
        raise TraceRefused(
            f"{path}, line {len(lines)}: the trace is cut short: it must end with a line "
            f'{{"end": …}}, and the last one is {_shown(lines[-1])}.\n{COPY_AGAIN}'
        )
    steps = tuple(content for content in contents[1:-1] if "do" in content)
    return Recorded(path, header, steps, tuple(lines), end)


def _read(path: str) -> bytes:
    """All of the file; refused if it is larger than any trace, such as a device that never ends."""
    try:
        with Path(path).open("rb") as file:
            raw = file.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        raise TraceRefused(
            f"{path}: cannot be read: {error.strerror}.\n"
            "Next: record one with `testbed run lost_update --trace race.jsonl`."
        ) from error
    if len(raw) > FILE_BYTES_MAX:
        raise TraceRefused(
            f"{path}: too large: a trace may have {FILE_BYTES_MAX:,} bytes, this has more.\n"
            "Next: limit the Run (`world.limit(turns_max=…)`) and record it again."
        )
    return raw


def _header(path: str, lines: list[bytes]) -> dict[str, Any]:
    header: Any = None
    with suppress(ValueError, IndexError):
        header = decode(lines[0])
    if not isinstance(header, dict) or "format" not in header:
        raise TraceRefused(
            f'{path}, line 1: this is no trace: expected a JSON header with "format": '
            f'"{FORMAT}", found {_shown(lines[0]) if lines else "an empty file"}.\n'
            "Next: record one with `testbed run SCENARIO --trace FILE`."
        )
    if header["format"] != FORMAT:
        raise TraceRefused(
            f"{path}, line 1: format {header['format']!r}, this testbed reads {FORMAT!r}; "
            f"it was recorded by testbed {header.get('testbed', '?')}.\n"
            "Next: record the Run again, or replay it with the testbed that recorded it."
        )
    return header


def _checked(path: str, number: int, line: bytes, before: int) -> tuple[dict[str, Any], int]:
    body, mark, rest = line.rpartition(b',"sum":"')
    if not mark or not line.endswith(b'"}\n'):
        raise TraceRefused(
            f"{path}, line {number}: the trace is cut short or corrupt here: expected a JSON "
            f'object that ends in its "sum", found {_shown(line)}.\n{COPY_AGAIN}'
        )
    total = zlib.crc32(body + b"}", before)
    if rest != b'%08x"}\n' % total:
        raise TraceRefused(
            f"{path}, line {number}: the line was edited, or one before it is missing: its sum "
            f"is {rest[:8].decode(errors='replace')}, its content gives {total:08x}.\n"
            f"{USE_AS_IT_IS}"
        )
    try:
        content = decode(line)
    except ValueError:
        content = None
    wrong = _misshapen(content, number)
    if wrong:
        raise TraceRefused(
            f"{path}, line {number}: no testbed wrote this line: expected {wrong}, found "
            f"{_shown(line)}.\n{USE_AS_IT_IS}"
        )
    return content, total


def _misshapen(content: Any, number: int) -> str:
    """What is wrong with a line although its sum is right: what was expected, or an empty text.
    Any program can work out a sum, so the fields are checked, too."""
    if not isinstance(content, dict):
        return "a JSON object"
    if number == 1:
        switches = content.get("switches")
        if not isinstance(content.get("scenario"), str) or not isinstance(switches, dict):
            return 'a name as "scenario" and an object as "switches"'
        return _misshapen_world(content)
    if "do" not in content:
        return ""
    texts = [content.get(word, "") for word in ("verb", "key", "change", "label")]
    if not all(isinstance(text, str) for text in (content["do"], content.get("who"), *texts)):
        return 'strings as "do", "who", "verb", "key", "change" and "label"'
    numbers = [content.get(word) for word in ("choice", "of", "at")]
    more = (content.get("nth", 1), content.get("until_ms", 0))
    if not all(type(n) is int and n >= 0 for n in (*numbers, *more)):
        return 'whole numbers, none negative, as "choice", "of", "at", "nth" and "until_ms"'
    return ""


def _misshapen_world(header: dict[str, Any]) -> str:
    names, faults = header.get("without", []), header.get("faults", [])
    if not isinstance(header.get("in_force", {}), dict):
        return 'an object as "in_force"'
    if not isinstance(names, list) or any(type(name) is not str for name in names):
        return 'a list of names as "without"'
    if not isinstance(faults, list) or not all(map(_is_fault, faults)):
        return 'a list of faults as "faults", each with a "word", a "target" and whole numbers'
    return ""


def _is_fault(it: Any) -> bool:
    kinds = {"word": str, "target": str}
    return isinstance(it, dict) and all(type(it.get(n)) is kinds.get(n, int) for n in it | kinds)


def _shown(line: bytes) -> str:
    text = line[:1000].decode(errors="replace").strip()
    return repr(text if len(text) <= 60 else text[:57] + "…")
