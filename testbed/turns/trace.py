"""Trace: the record of one Run, one line of JSON for each Step; its choices alone replay it."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator
from typing import IO, Any

import attrs

from testbed.code.quick import quick
from testbed.errors import ScenarioError
from testbed.objects.codec import decode, encode, encode_line
from testbed.store.endpoint import Operation
from testbed.store.footprint import Footprint, Marks
from testbed.turns.option import HOLD, JOIN, Choice, Option, Sentence

FORMAT = "testbed-trace/1"
SAID = "said"
"""The name of the fact that is a sentence for people, without its subject and full stop."""


class Step:
    """One Option performed, held back or released, or one pick decided: who, what, when and why."""

    __slots__ = (
        "because", "causes", "choice", "marks", "now_ms", "number", "of", "operation", "option",
        "outcome", "records", "revision",
    )  # fmt: skip

    def __init__(
        self, number: int, option: Option, choice: int, of: int, marks: Marks, now_ms: int = 0
    ) -> None:
        self.number = number
        """From 1; picks, holds and releases count as well."""
        self.option = option
        self.choice = choice
        """The index that the Chooser gave; from `of` on, the indices are faults."""
        self.of = of
        """How many ready Options there were."""
        self.marks = marks
        self.now_ms = now_ms
        """The virtual time at which it happened."""
        self.causes = option.causes
        self.revision = ""
        """The revision of the Store that was read or written."""
        self.outcome = ""
        """The reason of a refusal; empty if nothing was refused."""
        self.because = 0
        """The number of the Record that its caller gave as `because`; 0 if none."""
        self.operation: Operation | None = None
        """What a `serve` was asked, for stories; what has joined, and then it is in the line."""
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
        if option.kind == JOIN:
            line["asks"] = decode(encode(self.operation))
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


@quick
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
            facts = {
                name: value if type(value) in UNCHANGING else _as_it_is_now(value)
                for name, value in self.facts.items()
            }
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
        given = " ".join(f"{name}={_in_words(value)}" for name, value in facts.items())
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


def _in_words(value: Any) -> str:
    """A fact in words; a list by what is in it: `n1, n2`."""
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_in_words, value)) or "none"
    return str(value)


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
        self.played_in: Any = None
        """The World of the Run, for stories; None unless the trace is kept. So a kept Trace also
        keeps that World alive, with its Store and all its history."""
        self.bytes_written = 0
        self._sum = self._written = 0

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
