"""Option, Sentence, Footprint and Marks: what may happen next, and what it is known by."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.client.client import Client
from testbed.errors import Conflict
from testbed.objects import Note
from testbed.store.footprint import NOTHING, TIME, Footprint, Marks
from testbed.store.store import Store
from testbed.turns.option import DELIVER, FAULT, FEED, SERVE, Option, Sentence
from testbed.turns.pending import CALM_ORDER, Alternatives, Options
from testbed.turns.trace import Step, Trace
from testbed.turns.waits import Signal
from testbed.world.scenario import Scenario
from testbed.world.world import World
from tests.each_row import each_row
from tests.models.worlds.recipes import recipes
from tests.shared.stage import Doing, Puppet, note, play, world_of


def footprint(reads: str = "", writes: str = "") -> Footprint:
    """What `reads` and `writes` name, a word each."""
    return Footprint(frozenset(reads.split()), frozenset(writes.split()))


# -- sentences ----------------------------------------------------------------------------------


def test_a_sentence_says_kind_path_verb_and_key() -> None:
    """The empty words are left out; the ordinal stands behind, from the second on."""
    sentence = Sentence("serve", "alpha/main", "get", "notes/default/n", "", 1)
    assert str(sentence) == "serve alpha/main get notes/default/n"
    assert str(sentence._replace(nth=2)) == "serve alpha/main get notes/default/n#2"
    assert str(Sentence("start", "alpha/main", "", "", "", 1)) == "start alpha/main"


def test_an_option_is_called_by_its_label_or_its_sentence() -> None:
    """A pick's alternative has a label of its own; everything else is its sentence."""
    plain = Option("start", "alpha/main", lambda: None)
    picked = Option("pick", "alpha/main", lambda: None).about("node", label="n2")
    assert (str(plain), str(picked)) == ("start alpha/main", "n2")
    assert repr(plain) == "<start alpha/main at 0 ms>"


def sentences(world: World) -> list[str]:
    """All sentences of a Run."""
    trace = Trace({}, keep=True)
    world.run(Calm(), driver="direct", trace=trace)
    return [str(step.sentence) for step in trace.steps]


def test_a_sentence_survives_an_edit_of_the_actor() -> None:
    """An extra read, an extra task and another revision move no sentence of what was there."""

    async def bind(client: Client) -> None:
        seen = await client.get(Note, "n")
        await client.update(seen.saying(by="alpha"))

    async def look(client: Client) -> None:
        await client.get(Note, "other")

    async def before(client: Client) -> None:
        await client.join(client.spawn("bind", bind, client))

    async def after(client: Client) -> None:
        await client.create(note("new"))
        client.spawn("look", look, client)
        await client.get(Note, "other")
        await client.join(client.spawn("bind", bind, client))

    def told(do: Doing) -> list[str]:
        world = world_of(alpha=do)
        world.add(note("n"), note("other"))
        return sentences(world)

    assert [s for s in told(after) if "alpha/bind" in s] == [
        s for s in told(before) if "alpha/bind" in s
    ]


@pytest.mark.parametrize("scenario", recipes())
def test_no_two_options_of_a_life_have_the_same_sentence(scenario: Scenario) -> None:
    """A sentence and a life name one Step; what belongs to no life, its sentence alone."""
    for seed in range(5):
        trace = Trace({}, keep=True)
        scenario.world().run(Uniform(seed), driver="direct", trace=trace)
        told = [(step.option.life, step.sentence) for step in trace.steps]
        assert len(set(told)) == len(told)


# -- footprints ---------------------------------------------------------------------------------

CLASHES = [
    (footprint(writes="a"), footprint(writes="a")),
    (footprint(writes="a"), footprint(reads="a")),
    (footprint(writes="log:pods"), footprint(reads="log:pods")),
    (footprint(writes="log:pods.spec.node_name"), footprint(reads="log:pods")),
    (footprint(writes="log:pods"), footprint(reads="log:pods.spec.node_name")),
    (footprint("x", "y log:pods.meta.labels"), footprint("log:pods.meta", "z")),
    (footprint(writes="log:pods.spec"), footprint(reads="log:")),
]
COMMUTES = [
    (footprint(), footprint(writes="a")),
    (footprint(reads="a"), footprint(reads="a")),
    (footprint(writes="a"), footprint("b", "c")),
    (footprint(writes="log:pods"), footprint(writes="log:podsets")),
    (footprint(writes="log:pods.spec"), footprint(reads="log:pods.status")),
    (footprint(writes="log:pods.spec"), footprint(reads="log:pods.spec_too")),
    (footprint(reads="log:pods"), footprint(reads="log:pods.spec")),
    (footprint(writes="log:pods"), footprint(writes="log:pods")),
    (footprint(writes="log:pods.spec"), footprint(writes="log:pods.spec.node_name")),
    (footprint(reads="log:"), footprint(reads="log:pods")),
    (footprint(writes="pods"), footprint(reads="log:")),
    (footprint(writes="pods"), footprint(reads="pods.spec")),
]


@each_row(("one", "other"), CLASHES)
def test_what_one_writes_and_another_touches_clashes(one: Footprint, other: Footprint) -> None:
    """Of a log, the whole and each part of it, at any depth; `log:` is all of them."""
    assert one.clashes(other)
    assert other.clashes(one)


@each_row(("one", "other"), COMMUTES)
def test_reads_and_what_is_apart_commute(one: Footprint, other: Footprint) -> None:
    """Two reads do; two additions to a log do, as do two fields of it; a name that only begins
    alike is another one."""
    assert not one.clashes(other)
    assert not other.clashes(one)


keys = st.sampled_from(
    ("a", "b", "log:pods", "log:pods.spec", "log:pods.spec.x", "log:pods.meta", "log:podsets")
)
footprints = st.builds(Footprint, st.frozensets(keys), st.frozensets(keys))


@settings(deadline=None)
@given(footprints, footprints)
def test_clashing_is_symmetric_and_grows(one: Footprint, other: Footprint) -> None:
    """Whoever is asked, the answer is the same; and who touches more clashes no less."""
    assert one.clashes(other) == other.clashes(one)
    if one.clashes(other):
        more = Footprint(one.reads | {"a"}, one.writes | {"log:pods"})
        assert more.clashes(other)
    assert not NOTHING.clashes(one)


# -- what a turn has done -----------------------------------------------------------------------


def test_marks_work_out_the_fields_a_write_has_changed() -> None:
    """A replaced object writes its key and the changed fields of its log; a new or a deleted one
    writes the whole log."""
    store = Store()

    def did(key: str, value: Note | None) -> set[str]:
        store.marks = marks = Marks()
        if value is None:
            store.delete(key)
        else:
            store.put(key, value)
        return set(marks.footprint().writes)

    key = "notes/default/n"
    assert did(key, note(a="1", b="1")) == {key, "log:notes"}
    assert did(key, note(a="2", b="1")) == {key, "log:notes.data.a"}
    assert did(key, note(b="1", c="1")) == {key, "log:notes.data.a", "log:notes.data.c"}
    labelled = note(b="1", c="1").with_meta(labels={"on": "yes"})
    assert did(key, labelled) == {key, "log:notes.meta.labels.on"}
    assert did(key, None) == {key, "log:notes"}


def test_a_write_without_effect_is_a_read() -> None:
    """A lost compare-and-swap, a refused create and an update that changes nothing have read their
    key, and written none."""
    outcomes: list[str] = []

    async def main(client: Client) -> None:
        old = await client.get(Note, "n")
        await client.update(old.saying(a="1"))
        for write in (
            client.update(old.saying(a="2")),
            client.create(note("n")),
            client.update(note("n", a="1")),
            client.delete(old),
        ):
            try:
                await write
                outcomes.append("done")
            except Conflict as error:
                outcomes.append(error.reason)
            except Exception as error:  # noqa: BLE001
                outcomes.append(type(error).__name__)

    world = world_of(alpha=main)
    world.add(note())
    played = play(world)
    assert outcomes == ["Conflict", "AlreadyExists", "done", "Conflict"]
    served = played.every("serve alpha/main *")
    assert served[1].marks.footprint().writes == {"notes/default/n", "log:notes.data.a"}
    for step in served[2:]:
        assert step.marks.footprint() == footprint(reads="notes/default/n")


def covers(may: frozenset[str], key: str) -> bool:
    """Whether that key, or a log it is a field of, was announced."""
    return key in may or any(log.startswith("log:") and key.startswith(f"{log}.") for log in may)


@pytest.mark.parametrize("scenario", recipes())
def test_what_was_done_was_announced(scenario: Scenario) -> None:
    """Each key a `serve` has touched stands in what it said it may touch, before it happened."""

    class Asks(Uniform):
        def __init__(self) -> None:
            super().__init__(1)
            self.may = NOTHING
            self.served = 0

        def choose(self, options: Options | Alternatives) -> int:
            index = super().choose(options)
            self.may = options[index].may
            return index

        def ended(self, step: Step) -> None:
            if step.kind == SERVE:
                self.served += 1
                did, may = step.did, self.may
                assert all(covers(may.reads | may.writes, key) for key in did.reads)
                # Who hears of a commit is known only then: `order:` stands for all of them.
                heard = {key for key in did.writes if key.startswith("stream:")}
                assert not heard or any(key[:6] in ("order:", "watche") for key in may.writes)
                assert all(covers(may.writes, key) for key in did.writes - heard)

    chooser = Asks()
    scenario.world().run(chooser, driver="direct")
    assert chooser.served >= 4


def test_a_turn_of_a_task_writes_the_memory_of_its_actor() -> None:
    """Its tasks share it, until the actor declares that they do not; its own waits it always
    writes."""

    async def main(client: Client) -> None:
        await client.sleep(1)

    @attrs.frozen
    class Apart(Puppet):
        shares_memory = False

    world = world_of(alpha=main)
    world.start(Apart("beta", main))
    played = play(world)
    assert {str(step.sentence): set(step.did.writes) for step in played.steps} == {
        "start alpha/main": {"task:alpha/main", "mem:alpha"},
        "wake alpha/main sleep": {"task:alpha/main", "mem:alpha"} | ended("alpha"),
        "start beta/main": {"task:beta/main"},
        "wake beta/main sleep": {"task:beta/main"} | ended("beta"),
    }


def ended(actor: str) -> set[str]:
    """What the last turn of an actor writes, when that is a timer."""
    return {f"end:{actor}/main", f"ends:{actor}", f"life:{actor}", TIME}


def test_effects_are_what_changes_more_than_its_own_actor() -> None:
    """serve, deliver, feed and faults are; all else is glue."""
    kinds = [*CALM_ORDER, FAULT, "pick"]
    effects = {kind for kind in kinds if Option(kind, "p", lambda: None).is_effect}
    assert effects == {SERVE, DELIVER, FEED, FAULT}


# -- marks that random Runs rarely need ---------------------------------------------------------


def test_a_request_reads_whether_its_caller_lives() -> None:
    """So that it clashes with a crash, after which it is not to be answered."""

    async def main(client: Client) -> None:
        await client.get(Note, "n")

    world = world_of(alpha=main)
    world.add(note())
    assert "life:alpha" in play(world).only("serve *").did.reads


def test_every_commit_to_a_store_with_a_window_touches_the_history() -> None:
    """Any of them may be the one that is too many; without a window none forgets anything."""
    for window, written in ((5, ["history"]), (None, [])):
        store = Store(Marks(), window=window)
        store.put("notes/n", note())
        assert store.marks is not None
        assert store.marks.writes == written


def test_tasks_that_are_spawned_under_one_name_clash() -> None:
    """Which of them is the second decides what it is called."""

    async def rest(client: Client) -> None:
        await client.sleep(1)

    async def spawns(client: Client) -> None:
        client.spawn("same", rest, client)

    async def main(client: Client) -> None:
        client.spawn("a", spawns, client)
        client.spawn("b", spawns, client)

    @attrs.frozen
    class Apart(Puppet):
        shares_memory = False

    world = World("test")
    world.start(Apart("alpha", main))
    played = play(world)
    one, other = played.only("start alpha/a"), played.only("start alpha/b")
    assert "spawn:alpha/same" in one.did.writes & other.did.writes


def test_what_is_taken_back_and_offered_again_keeps_its_number() -> None:
    """A wait that is offered, taken back and offered again is still the first of its sentence."""

    async def waits(client: Client, ready: Signal) -> None:
        await ready.wait()

    async def main(client: Client) -> None:
        ready = client.signal("ready")
        task = client.spawn("waits", waits, client, ready)
        await client.sleep(1)
        ready.set()
        ready.clear()
        ready.set()
        await client.join(task)

    assert play(world_of(alpha=main)).only("resume alpha/waits *").option.nth == 1
