"""A new invariant is one new file; a scenario claims it, and nothing else is edited."""

from __future__ import annotations

from pathlib import Path

from tests.shared.scratch import call_copy, copy_with

BREVITY = '''"""No Note is long."""

from testbed.invariant import COMMIT, Invariant


class NotesAreShort(Invariant):
    """No value in any Note has more than five letters."""

    name = "notes_are_short"
    looks_at = frozenset({COMMIT})

    def look(self, step, evidence):
        for change in evidence.changes:
            for value in change.new.value.data.values() if change.new else ():
                if len(value) > 5:
                    return f"{change.key} says {value!r}"
        return None
'''
LETTER = '''"""One actor writes a Note."""

from testbed import Actor
from testbed.invariants.brevity import NotesAreShort
from testbed.objects import Map, Note


class Writer(Actor):
    """Writes it once."""

    async def run(self, client):
        await client.create(Note("letter", data=Map(text="a long story")))


def letter(world, *, guard=False):
    """The story is too long."""
    world.start(Writer("alpha"))
    world.claim(NotesAreShort())
'''


def test_one_new_file_is_enough(tmp_path: Path) -> None:
    """It is named in the Verdict of a Run that breaks it."""
    copy_with(tmp_path, {"testbed/invariants/brevity.py": BREVITY, "letter.py": LETTER})
    code, printed = call_copy(tmp_path, "run", "letter:letter")
    assert code == 1, printed
    assert "Violated: notes_are_short: notes/default/letter says 'a long story' (" in printed
