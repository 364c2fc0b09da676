"""Writers sign one list; each is told that it has signed, and one name is missing."""

from __future__ import annotations

import attrs

from testbed import Actor, ApiError, Client, Conflict, Evidence, Found, World, quiescent
from testbed.errors import ScenarioError
from testbed.objects import Map, Note

NAMES = ("alpha", "beta", "gamma", "delta")


@attrs.frozen
class Writer(Actor):
    """Signs the list: reads it, adds its name, writes it back."""

    guard: bool = False
    """Whether its update is refused if another writer was faster; then it tries again."""

    async def run(self, client: Client) -> None:
        while True:
            try:
                note = await client.get(Note, "list")
                names = note.data["signed"].split()
                # A try that got no answer may have signed.
                if self.name not in names:
                    signed = note.saying(signed=" ".join([*names, self.name]))
                    await client.update(signed, whatever_it_was=not self.guard)
            except Conflict:
                continue
            except ApiError:
                await client.sleep(1000, "retry")
                continue
            client.record("signed")
            return


def every_signature_is_kept(see: Evidence) -> Found | None:
    """Every writer that was told that it has signed is on the list."""
    entry = see.store.peek("notes/default/list")
    assert entry is not None
    assert isinstance(entry.value, Note)
    names = entry.value.data["signed"].split()
    for writer in sorted({record.path.partition("/")[0] for record in see.records}):
        if writer not in names:
            text = f"{writer} was told that it had signed, and the list says {' '.join(names)!r}"
            return Found(text, reason="taken back")
    return None


def lost_update(world: World, *, guard: bool = False, writers: int = 2) -> None:
    """Writers sign a list by read, change and write back; without the guard a name is lost.

    Cause: an update without a resourceVersion overwrites what was written since the read.
    Look for: beta writes the list that it read before alpha signed.
    Source: none; a classic.
    Tags: check-then-act, silent.
    """
    world.add(Note("list", data=Map(signed="")))
    if not 1 <= writers <= len(NAMES):
        raise ScenarioError(f"writers={writers}: expected 1 to {len(NAMES)}")
    for name in NAMES[:writers]:
        world.start(Writer(name, guard=guard))
    world.claim(quiescent(every_signature_is_kept, reads=()))
