"""Level 5, half done: a program moves an item in two steps, and crashes between them."""

from __future__ import annotations

from typing import Any

import attrs

from testbed import Actor, Client, Conflict, Evidence, NotFound, World, always, quiescent
from testbed.errors import ScenarioError
from testbed.faults.crash import Crash
from testbed.objects import Map, Meta, Note
from testbed.teaching.level import GuessFirst, LearnLevel, LevelTrial, RealIncident
from testbed.teaching.looks import EveryMoment, EveryOrder
from testbed.teaching.patience import AsksWithinReason
from testbed.teaching.seat import seat

MOVER = seat("mover")
ASKS_MAX = 100
"""How often one program may ask in a minute."""
TURNS_MAX = 800
"""In one instant; more than all programs together may take."""
MINUTES_MAX = 3
NOT_FOUND = "did not find"
"""The Record of a visitor who did not find an item with its text."""
TEXT = "text"
FIRST, EDITED = "first", "edited"
"""What a Note says at the start, and what a visitor writes into it."""


@attrs.frozen
class NoteMover(Actor):
    """A mover: moves Notes from one namespace to another, which takes a create and a delete."""

    component = MOVER

    items: tuple[str, ...] = ("menu",)
    """The names of the Notes."""
    source: str = "blue"
    """The namespace that they are in."""
    target: str = "green"
    """The namespace that they go to."""

    def copy_of(self, note: Note) -> Note:
        """A Note with the same name and data in the target, to create."""
        return Note(Meta(note.meta.name, self.target), note.data)


class CarelessMover(NoteMover):
    """Takes each Note out of the source, and puts it into the target."""

    async def run(self, client: Client) -> None:
        for item in self.items:
            try:
                note = await client.get(Note, item, self.source)
            except NotFound:
                continue  # it has moved before
            await client.delete(note)
            await client.create(self.copy_of(note))


@attrs.frozen
class NoteVisitor(Actor):
    """A visitor: looks for each item in the source and, if it is not there, in the target."""

    items: tuple[str, ...] = ("menu",)
    source: str = "blue"
    target: str = "green"
    edits: bool = False
    """Whether the visitor also writes into each Note."""

    async def run(self, client: Client) -> None:
        """Look once for each item."""
        for item in self.items:
            while not await self._has_visited(client, item):
                pass

    async def _has_visited(self, client: Client, item: str) -> bool:
        note = await self._look(client, item)
        if note is None or TEXT not in note.data:
            client.record(NOT_FOUND, item=item)
            return True
        if self.edits:
            try:
                await client.update(note.saying(**{TEXT: EDITED}))
            except (Conflict, NotFound):
                return False  # it was moved or written meanwhile
        return True

    async def _look(self, client: Client, item: str) -> Note | None:
        # In this order: what has gone from the source before the first look is in the target.
        for namespace in (self.source, self.target):
            try:
                return await client.get(Note, item, namespace)
            except NotFound:
                continue
        return None


def half_moved(
    world: World,
    *,
    items: str = "menu",
    source: str = "blue",
    target: str = "green",
    edits: bool = False,
) -> None:
    """A mover deletes a Note here, and crashes before it has created it there.

    Cause: a move is two writes, and a crash, or anyone who looks, may come between them.
    Look for: the crash between the delete and the create.
    Source: kubernetes#28115, `kubectl replace --force`.
    Tags: crash.
    """
    names = items.split(",")
    if not all(names) or len({*names}) < len(names) or source == target:
        raise ScenarioError(
            f"items={items}, source={source}, target={target}: expected names, each once.\n"
            "Next: --switch items=menu,prices"
        )
    for name in names:
        world.add(Note(Meta(name, source), Map({TEXT: FIRST})))
    where = tuple(names), source, target
    world.start(CarelessMover("mover", *where), NoteVisitor("ann", *where, edits))
    if not edits:
        # With both, a delete of the life before may still be under way when ann writes into the
        # copy, and an answer would have to read the copy before the original.
        world.allow(Crash("mover", restart_after_ms=0))

    def every_item_is_found(see: Evidence) -> str | None:
        for record in see.records:
            if record.name == NOT_FOUND:
                return f"ann looked for {record.facts['item']}, and did not find it with its text"
        return None

    def every_item_has_moved(see: Evidence) -> str | None:
        return _not_moved(see, where, EDITED if edits else FIRST)

    world.claim(
        always(every_item_is_found, reads=("records",)),
        quiescent(every_item_has_moved, reads=()),
        AsksWithinReason(ASKS_MAX, 60_000),
    )
    world.limit(instant_turns_max=TURNS_MAX, virtual_ms_max=MINUTES_MAX * 60_000)


def _not_moved(see: Evidence, where: tuple[tuple[str, ...], str, str], text: str) -> str | None:
    """What is not as it is to be in the end; None if all is."""
    names, source, target = where
    notes: list[Any] = [entry.value for entry in see.store.snapshot("notes/")]
    found = {note.key: note for note in notes}
    for name in names:
        note = found.pop(f"notes/{target}/{name}", None)
        if note is None:
            is_left = f"notes/{source}/{name}" in found
            return f"{name} is {f'still in {source} alone' if is_left else 'nowhere'}"
        if (says := note.data.get(TEXT, "nothing")) != text:
            return f"{name} in {target} says {says!r}, and the last that was written is {text!r}"
    return f"in the end, {' and '.join(found)} should not be there" if found else None


LEVEL = LearnLevel(
    number=5,
    title="half done",
    concept=(
        "A step that takes two writes can stop after the first: there is no transaction over two "
        "objects in Kubernetes. So the order of the writes matters, as each state between them "
        "must be bearable; and a program that begins again must go by what it finds, not by what "
        "it remembers."
    ),
    build=half_moved,
    component=MOVER,
    base=NoteMover,
    careless=CarelessMover,
    asked=(
        "A mover moves each Note of `self.items` from the namespace `self.source` to the "
        "namespace `self.target`; then `run` returns. In the end each is in the target, with "
        "the text that was last written into it, and nothing else is left. Meanwhile a visitor "
        "looks for each Note, in the source first, then in the target, and must find it with its "
        "text. A request or its answer may be lost: both raise Unavailable. The mover may crash "
        "at any time: then `run` begins again with empty memory. In trials in "
        "which the visitor also writes into the Note that it has found, nothing crashes. Mend "
        "`run`."
    ),
    calls=(
        "`client.get(Note, item, namespace)` raises NotFound. `client.create(self.copy_of(note))` "
        "raises AlreadyExists. `client.delete(note)` raises NotFound, or Conflict if the Note has "
        "changed since it was read; so does `client.update(note)`. But what `self.copy_of` "
        "makes was never read: an update with it is not compared with anything, and overwrites "
        "what is there. `note.saying(**other.data)` is a note with the texts of another. "
        "NotFound, Conflict and Unavailable are in `testbed`, AlreadyExists in `testbed.errors`."
    ),
    imports="""\
from scenarios.levels.half_moved import NoteMover
from testbed import Client, NotFound
from testbed.objects import Note
""",
    guess=GuessFirst(
        question="A crash may come at any time. Which order of the two writes can lose the Note?",
        choices=("delete, then create", "create, then delete", "both", "neither"),
        answer=1,
        why=(
            "Between a delete and a create there is no Note at all, and the memory of the mover is "
            "gone with it. Between a create and a delete there are two: the next life can see "
            "that, and go on."
        ),
    ),
    hints=(
        "Between the two writes, where is the Note? Which order leaves two of it, not none?",
        "Think of each place where the last life may have stopped: nothing done, copied, deleted. "
        "What does `get` say in the source, what does `create` say, and what is left to do?",
        "Delete the original only when you know that the copy has the same text: after "
        "Unavailable, or a Conflict since somebody has written, begin again with the read.",
        "In a loop: get the original (NotFound: done); create the copy, and if it AlreadyExists, "
        "get it and update it with the data of the original; delete the original, then break. "
        "On Conflict or Unavailable, sleep a little and go through the loop again.",
    ),
    words={
        "Note": "A small object with a few named texts, like a ConfigMap.",
        "namespace": "A place for objects; an object cannot move to another one.",
        "source": "The namespace that the Notes are in at first.",
        "target": "The namespace that they go to.",
        "original": "The Note in the source.",
        "copy": "The Note in the target.",
        "visitor": "A program that looks for the Notes: ann.",
        "crash": "The end of a program between two of its steps; its memory is gone.",
        "life": "The time from the start of a program to its crash.",
        "lost": "Of a request: it never arrived. Of an answer: all was done, and the caller is not "
        "told.",
        "Unavailable": "The error when no answer came.",
        "Conflict": "The refusal to change or delete an object that has changed since the read.",
    },
    incident=RealIncident(
        said=(
            "`kubectl replace --force` deletes an object, then creates it again. When the create "
            "was refused, since the old pod was still shutting down, there was no pod at all: the "
            "command was done, and nothing was left that would try again."
        ),
        link="https://github.com/kubernetes/kubernetes/issues/28115",
    ),
    trials=(
        LevelTrial(name="the mover crashes", look=EveryMoment("crash:mover,restart=2s")),
        LevelTrial(name="an answer is lost", look=EveryMoment("lose_reply:mover")),
        LevelTrial(name="a request is lost", look=EveryMoment("lose_request:mover")),
        LevelTrial(name="every order, with one crash or none", look=EveryOrder(250, 30)),
        LevelTrial(
            name="the visitor writes into the Note",
            look=EveryOrder(200, 30),
            switches={"edits": True},
        ),
        LevelTrial(
            name="other names and places",
            look=EveryOrder(100, 50),
            faults=("lose_reply:mover",),
            is_varied=True,
        ),
    ),
    varied={
        "items": ("prices", "hours", "rules", "hours,rules"),
        "source": ("north", "old", "team-a"),
        "target": ("south", "new", "team-b"),
        "edits": (False, True),
    },
)
