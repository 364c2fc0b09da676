"""Requests: what became of each request of a kept Trace, and what its caller was told of that.

1. A request begins with its first part that is served, or with the fault that keeps it from that.
2. It is *answered* if its caller got what the Endpoint said. It is *let go* if its caller went on
   without that: a fault lost the reply or the request, its time was over, or its life ended.
3. What was let go may have taken effect all the same, before that or after it.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from testbed.store.change import Change
from testbed.store.store_endpoint import READS
from testbed.turns.option import ANSWER, FAULT, SERVE, WAKE, request_key
from testbed.turns.trace import Step, Trace
from testbed.words import spoken

CRASHED = "crash"
FAILED = "server_error"
"""The fault by which a caller is told that its request failed, as it did."""
ENDS, ENDPOINT = "ends:", "endpoint:"
"""What a fault writes by which the life of an actor ends, or an Endpoint goes down."""


@attrs.define(eq=False)
class Sent:
    """One request of an actor."""

    path: str
    actor: str
    verb: str
    """Without the number of a part: `create`, `create/binding`."""
    key: str
    asked: int
    """The turn that asked for it."""
    parts: list[Step] = attrs.field(factory=list)
    """The Steps that served it."""
    answered: int = 0
    """The Step in which its caller got the answer; 0 if it never did."""
    let_go: int = 0
    """The Step in which its caller went on without an answer; 0 if it did not."""
    why: str = ""
    """The word of the fault that kept the answer from it, `crash` if that ended its life, or
    `timeout`; empty if nothing did."""
    server: str = ""
    """The Endpoint that crashed before it had answered; empty if none did."""

    @property
    def word(self) -> str:
        """What people call it: `bind`, `patch/status`."""
        return spoken(*self.verb.partition("/")[::2])

    @property
    def is_write(self) -> bool:
        """Whether it was to change something."""
        return self.verb.partition("/")[0] not in READS

    @property
    def changes(self) -> list[Change]:
        """What it wrote."""
        return [change for part in self.parts for change in part.marks.changes]

    @property
    def refused(self) -> str:
        """Why the Endpoint refused it; empty if it did not."""
        return self.parts[-1].outcome if self.parts else ""

    @property
    def unanswered(self) -> str:
        """What its caller knows of a request that it was let go of. No answer says nothing of
        whether it took effect."""
        return {"timeout": "timed out", FAILED: "failed"}.get(self.why, "got no answer")

    @property
    def step(self) -> int:
        """The Step of its last part; if no part was served, that in which it was let go."""
        return self.parts[-1].number if self.parts else self.let_go

    def checked(self) -> Iterator[tuple[int, str]]:
        """What its Endpoint read in a part before the one that wrote, and not again in that one:
        the Step, and the key of a footprint."""
        again = set(self.parts[-1].marks.reads) if self.parts else set()
        for part in self.parts[:-1]:
            for key in dict.fromkeys(part.marks.reads):
                if key not in again:
                    yield part.number, key


class Requests:
    """All requests of one Trace, in the order in which they began."""

    def __init__(self, trace: Trace) -> None:
        self.all: list[Sent] = []
        self.ends: list[tuple[str, int]] = []
        """The actors whose lives a fault ended, each with the Step of it."""
        self._open: dict[str, Sent] = {}
        self._ended: dict[str, Step] = {}
        """By actor: the crash that ended its last life."""
        self._gone: dict[str, Step] = {}
        """By name: what made the caller of a request go on without an answer."""
        for step in trace.steps:
            self._note(step)

    def of(self, step: int) -> Sent | None:
        """The request of which that Step served a part."""
        return next((sent for sent in self.all for part in sent.parts if part.number == step), None)

    def _note(self, step: Step) -> None:
        if step.kind == FAULT:
            self._note_ends(step)
        if step.kind in (WAKE, FAULT):
            for name in step.marks.writes:
                if name.startswith("request:"):
                    self._gone[name] = step
                    self._let_go(self._open.get(name), step)
        if step.kind == SERVE:
            self._note_served(step)
        elif step.kind == ANSWER:
            self._note_answered(step)

    def _note_ends(self, step: Step) -> None:
        """A fault may end the life of an actor, or of several: then they wait for nothing more."""
        for name in dict.fromkeys(step.marks.writes):
            actor = name.removeprefix(ENDS)
            if actor != name:
                self.ends.append((actor, step.number))
                self._ended[actor] = step
                for sent in self.all:
                    if sent.actor == actor:
                        self._let_go(sent, step)

    def _let_go(self, sent: Sent | None, step: Step) -> None:
        if sent is not None and not (sent.answered or sent.let_go):
            sent.let_go = step.number
            sent.why = step.option.fault.word if step.kind == FAULT else "timeout"
            writes = step.marks.writes
            if f"{ENDS}{sent.actor}" in writes:
                sent.why = CRASHED
            elif down := next((name for name in writes if name.startswith(ENDPOINT)), ""):
                sent.server = down.removeprefix(ENDPOINT)

    def _note_served(self, step: Step) -> None:
        sent = self._open.get(self._name(step))
        if sent is None or not step.option.verb.partition(".")[2]:
            sent = self._begin(step, step.causes[-1] if step.causes else step.number)
        sent.parts.append(step)

    def _note_answered(self, step: Step) -> None:
        name = self._name(step)
        sent, gone = self._open.get(name), self._gone.get(name)
        if gone is not None and gone.number in step.causes:
            if sent is None or sent.let_go != gone.number:
                self._begin(step, gone.causes[-1] if gone.causes else gone.number)
        elif sent is not None and not sent.let_go:
            sent.answered = step.number

    def _begin(self, step: Step, asked: int) -> Sent:
        option, name = step.option, self._name(step)
        verb = option.verb.partition(".")[0]
        sent = Sent(option.path, option.actor, verb, option.key, asked)
        for end in (self._gone.get(name), self._ended.get(option.actor)):
            # It may reach its server when its caller has gone on, or is no more.
            if end is not None and asked < end.number:
                self._let_go(sent, end)
        self.all.append(sent)
        self._open[name] = sent
        return sent

    def _name(self, step: Step) -> str:
        option = step.option
        return request_key(option.path, option.verb, option.key, option.nth)
