"""Sameness: two states are one only if nothing that comes later can tell how it came to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from testbed import Cache, Client, Evidence, World, always, eventually, no_lasso, quiescent
from testbed.fault import Fault
from testbed.faults.break_watch import BreakWatch
from testbed.faults.compact import Compact
from testbed.faults.crash import Crash
from testbed.invariant import COMMIT, Invariant
from testbed.objects import Note
from testbed.store.selector import Selector
from testbed.turns.trace import Step
from testbed.world.scenario import Scenario, of
from tests.each_row import each_row
from tests.maps.walked_maps import agreed, every_path, map_of, some_paths, walk
from tests.shared.stage import Puppet

PATHS_MAX = 24
Do = Callable[[Client], Any]


async def put(client: Client, name: str, by: str) -> None:
    """Write a note, whatever it was."""
    await client.update(Note(name).saying(by=by), whatever_it_was=True)


def writer(*writes: tuple[str, str]) -> Do:
    """Writes some notes, one after another."""

    async def write(client: Client) -> None:
        for name, by in writes:
            await put(client, name, by)
        client.record("has written", who=client.name)

    return write


def stage(
    *claims: Callable[[], Invariant], faults: tuple[Fault, ...] = (), **puppets: Do
) -> Scenario:
    """Notes x and y, these actors, and these claims."""

    def build(world: World) -> None:
        world.add(Note("x").saying(by="ann"), Note("y").saying(by="ann"))
        for name, do in puppets.items():
            world.start(Puppet(name, do))
        world.allow(*faults)
        world.claim(*[claim() for claim in claims])

    return of(build, "stage")


def by(see: Evidence, name: str) -> str:
    """Who has written a note last."""
    entry: Any = see.store.peek(f"notes/default/{name}")
    return str(entry.value.data["by"])


def check(recipe: Scenario, faults_max: int | None = None) -> int:
    """The map has the ends of the complete search, and each path of it can be played. Returns how
    many states it has."""
    found = agreed(recipe, faults_max=faults_max).found
    for path in (*every_path(found, PATHS_MAX // 2), *some_paths(found, PATHS_MAX)):
        walk(recipe, found, path, faults_max=faults_max, goes_on=True)
    return found.states


ALPHA, BETA = writer(("x", "alpha"), ("x", "ann")), writer(("y", "beta"))


class HasSeen(Invariant):
    """Remembers whether x was alpha's while y was still ann's, and says so at the end."""

    name = "has_seen"
    looks_at: ClassVar[frozenset[str]] = frozenset({COMMIT})

    def __init__(self) -> None:
        self._has_seen = False

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        self._has_seen |= (by(evidence, "x"), by(evidence, "y")) == ("alpha", "ann")
        return None

    def end(self, evidence: Evidence) -> str | None:
        return "x was alpha's while y was ann's" if self._has_seen else None


class HasSeenSlots(HasSeen):
    """The same, which declares that it reads the notes."""

    reads = frozenset({"log:notes"})
    declares = True


def log_says(see: Evidence) -> str | None:
    """The order of the writes, as the log has it."""
    return f"written: {[change.key for change in see.store.log('notes').changes]}"


def changes_say(see: Evidence) -> str | None:
    """The same, as the Store itself tells it."""
    return f"written: {[change.key for change in see.store.changes('notes')]}"


def table_says(see: Evidence) -> str | None:
    """Who recorded first, by the number of its turn."""
    told = {record.path: record.step for record in see.table.records}
    return f"first: {min(told, key=told.__getitem__, default='')}"


def lives_say(see: Evidence) -> str | None:
    """What a Life counts, and nothing shows."""
    return f"{[role.life and sorted(role.life.seats) for role in see.actors]}"


def records_say(see: Evidence) -> str | None:
    """The order of what was recorded."""
    return f"recorded: {[record.path for record in see.records]}"


def numbers_say(see: Evidence) -> str | None:
    """Which note was written last."""
    found: list[Any] = see.store.snapshot("notes/")
    newest = max(found, key=lambda entry: entry.revision)
    return f"newest: {newest.key}"


def texts_say(see: Evidence) -> str | None:
    """The same, by the revisions of the objects."""
    found: list[Any] = [entry.value for entry in see.store.snapshot("notes/")]
    newest = max(found, key=lambda item: int(str(item.meta.revision)))
    return f"newest: {newest.key}"


def earlier(see: Evidence) -> str | None:
    """What there was before the last write."""
    entry: Any = see.store.peek("notes/default/y", see.store.revision - 1)
    return f"before the last write y was {entry.value.data['by']}'s"


def when(see: Evidence) -> str | None:
    """The time."""
    return f"at {see.now_ms // 1_000} seconds"


PAST = [log_says, changes_say, table_says, lives_say, records_say, numbers_say, texts_say, earlier]


@each_row("claim", PAST, ids=lambda claim: claim.__name__)
def test_what_a_claim_tells_of_the_past_is_in_the_state(claim: Callable[..., Any]) -> None:
    """As soon as a claim looks at something of the past, states differ by it."""
    same = check(stage(alpha=ALPHA, beta=BETA))
    assert check(stage(lambda: quiescent(claim), alpha=ALPHA, beta=BETA)) > same


@each_row("kind", [HasSeen, HasSeenSlots])
def test_what_a_claim_remembers_is_in_the_state(kind: type[Invariant]) -> None:
    """The Store is the same in the end; whether it is violated depends on what was in between."""
    recipe = stage(kind, alpha=ALPHA, beta=BETA)
    check(recipe)
    assert {end.outcome for end in map_of(recipe).ends} == {"held", "violated"}


def test_what_no_order_matters_to_makes_no_state() -> None:
    """A claim that declares so may look at the Records: who was first is no difference."""

    def who_recorded(see: Evidence) -> str | None:
        return f"{sorted(record.path for record in see.records)}"

    plain = stage(alpha=ALPHA, beta=BETA)
    declared = stage(lambda: quiescent(who_recorded, reads=()), alpha=ALPHA, beta=BETA)
    assert check(declared) == check(plain)


def test_what_is_violated_is_in_the_state() -> None:
    """A breach that is over by the end is one, also where the Run goes on to the same Store."""

    def y_is_betas_before(see: Evidence) -> str | None:
        return "too early" if (by(see, "x"), by(see, "y")) == ("alpha", "ann") else None

    recipe = stage(lambda: always(y_is_betas_before, reads=("log:notes",)), alpha=ALPHA, beta=BETA)
    check(recipe)
    assert {end.outcome for end in map_of(recipe, goes_on=True).ends} == {"held", "violated"}


def test_a_claim_of_progress_is_in_the_state() -> None:
    """Once true is enough, and the Store does not say that it was."""

    def y_is_betas_and_x_is_alphas(see: Evidence) -> str | None:
        return None if (by(see, "x"), by(see, "y")) == ("alpha", "beta") else "it never was"

    recipe = stage(lambda: eventually(y_is_betas_and_x_is_alphas), alpha=ALPHA, beta=BETA)
    check(recipe)
    assert {end.outcome for end in map_of(recipe).ends} == {"held", "violated"}


async def picks(client: Client) -> None:
    """Writes x twice. In the end the Store does not say what it wrote first, nor does anything that
    it holds."""
    await put(client, "x", client.pick("by", ("alpha", "beta")))
    await put(client, "x", "ann")


async def list_and_watch(client: Client) -> None:
    """Lists, waits for something else, and watches from the list on."""
    listing = await client.list(Note)
    await client.get(Note, "y")
    stream = await client.watch(Note, listing.revision)
    client.record("told", what=(await stream.next()).object.data["by"])


async def watch_from_an_object(client: Client) -> None:
    """Watches from the revision of an object, which Kubernetes advises against."""
    revision = (await client.get(Note, "y")).meta.revision
    await client.get(Note, "x")
    stream = await client.watch(Note, revision)
    client.record("told", what=(await stream.next()).object.data["by"])


async def hears(client: Client) -> None:
    """Tells of each news of x."""
    cache = Cache(client, Note)

    def tell(old: Note, new: Note) -> None:
        client.record("told", what=new.data["by"])

    cache.on(update=tell)
    await cache.synced()
    await client.sleep(3_000)


def told(see: Evidence) -> str | None:
    """What was recorded."""
    return f"{sorted(str(record.facts) for record in see.records)}"


@each_row("reader", [list_and_watch, watch_from_an_object])
def test_what_a_watch_may_yet_read_is_in_the_state(reader: Do) -> None:
    """Where x was written twice, the Store says less than a watch will tell."""
    check(stage(lambda: quiescent(told, reads=()), alpha=picks, beta=reader))


def test_what_a_broken_watch_is_resumed_with_is_in_the_state() -> None:
    """A Cache tells what was written while its watch was broken."""
    breaks = BreakWatch("*")
    recipe = stage(lambda: quiescent(told, reads=()), faults=(breaks,), alpha=picks, beta=hears)
    check(recipe)


async def look_at_numbers(client: Client) -> None:
    """Compares two objects by the numbers of their revisions, which Kubernetes forbids."""
    x, y = [await client.get(Note, name) for name in ("x", "y")]
    client.record("newer", what=int(str(x.meta.revision)) > int(str(y.meta.revision)))


def test_the_numbers_that_an_actor_looks_at_are_in_the_state() -> None:
    """Else the order of two writes of different objects is no difference."""
    recipe = stage(
        lambda: quiescent(told, reads=()),
        alpha=writer(("x", "alpha")), beta=BETA, gamma=look_at_numbers,
    )  # fmt: skip
    check(recipe)


async def sleeping(client: Client) -> None:
    """Waits, and tells the time."""
    await client.sleep(1_000)
    await client.get(Note, "x")
    client.record("time", what=client.now())


async def naps(client: Client) -> None:
    """Comes to the same after one long sleep or two short ones."""
    for _ in range(client.pick("naps", (1, 2))):
        await client.sleep(1_000)


def test_the_time_that_an_actor_looks_at_is_in_the_state() -> None:
    """A timer alone is compared by how long it still runs."""
    check(stage(lambda: quiescent(told, reads=()), alpha=sleeping, beta=naps))
    assert check(stage(alpha=naps)) < check(stage(lambda: quiescent(when), alpha=naps))


async def caching(client: Client) -> None:
    """Keeps a Cache of the notes that gamma has written, which are none; later it tells of it."""
    cache = Cache(client, Note, Selector(fields=(("data.by", "gamma"),)))
    await cache.synced()
    await client.sleep(3_000)
    client.record("cached", what=sorted(cache.items))


def test_the_watches_of_a_cache_are_in_the_state() -> None:
    """What it does not select is told as a bookmark alone; the map has that move."""
    recipe = stage(lambda: quiescent(told, reads=()), alpha=writer(("x", "alpha")), beta=caching)
    check(recipe)
    moves = {move["said"] for move in map_of(recipe).as_dict()["moves"]}
    assert "beta is told: bookmark of notes" in moves


FAULTS: list[tuple[Fault, ...]] = [
    (Compact(),), (Crash("beta", restart_after_ms=50),)
]  # fmt: skip


@each_row("faults", FAULTS, ids=lambda faults: faults[0].word)
def test_faults_find_in_a_state_what_they_need(faults: tuple[Fault, ...]) -> None:
    """A watch is resumed at what is left of the history; a life begins again."""
    recipe = stage(
        lambda: quiescent(told, reads=()), faults=faults, alpha=writer(("x", "alpha")), beta=caching
    )
    check(recipe, faults_max=1)


def test_what_goes_on_for_ever_is_a_circle() -> None:
    """Two who undo each other's work come back to the same state; `no_lasso`, which judges a way,
    is said not to be judged."""

    def undoing(mine: str, theirs: str) -> Do:
        async def undo(client: Client) -> None:
            while True:
                note = await client.get(Note, "x")
                if note.data["by"] == theirs:
                    await client.update(note.saying(by=mine), whatever_it_was=True)

        return undo

    found = map_of(stage(no_lasso, alpha=undoing("alpha", "ann"), beta=undoing("ann", "alpha")))
    assert found.ends == []
    assert any(arc.to <= place.number for place in found.places for arc in place.arcs)
    assert "no_lasso is not judged" in found.bounds
    assert found.states < 200


def test_what_cannot_be_compared_is_like_nothing_else() -> None:
    """An actor that holds what shows no state: the map is a tree then, and still whole."""

    async def hold(client: Client) -> None:
        held = memoryview(b"beta")
        await put(client, "x", "beta")
        held.release()

    recipe = stage(alpha=writer(("x", "alpha")), beta=hold)
    found = map_of(recipe)
    assert found.unlike
    check(recipe)


async def dawdles(client: Client) -> None:
    """Writes x, at once or not; nothing that it holds says which."""
    if client.pick("how", ("at once", "after a look")) == "after a look":
        await client.get(Note, "y")
    await put(client, "x", "alpha")


class IsLate(Invariant):
    """Says so if something is written later than in the fourth Step."""

    name = "is_late"
    looks_at: ClassVar[frozenset[str]] = frozenset({COMMIT})

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        return "late" if step is not None and step.number > 4 else None


def test_what_a_claim_asks_of_a_step_is_in_the_state() -> None:
    """Its number says how many turns there were. No order that the complete search minds says it,
    so only the paths of the map can be held against it."""
    recipe = stage(IsLate, alpha=dawdles)
    found = map_of(recipe, goes_on=True)
    for path in every_path(found, PATHS_MAX):
        walk(recipe, found, path, goes_on=True)
    assert {end.outcome for end in map_of(recipe).ends} == {"held", "violated"}


@each_row("first", [4, None])
def test_what_waits_to_be_used_is_in_the_state(first: int | None) -> None:
    """What is no variable any more, and stands on the stack until an answer comes; None, too."""

    async def holds(client: Client) -> None:
        parts = [first, 5]
        if client.pick("order", ("as it is", "turned")) == "turned":
            parts.reverse()
        told = (parts.pop(), parts.pop(), await client.get(Note, "x"))
        client.record("told", what=str(told[:2]))

    def it_says(see: Evidence) -> str | None:
        return f"it says {[record.facts['what'] for record in see.records]}"

    recipe = stage(lambda: quiescent(it_says, reads=("records",)), alpha=holds)
    check(recipe)
    assert len(map_of(recipe).ends) == 2
