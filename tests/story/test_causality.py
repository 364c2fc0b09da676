"""Causality: the order that no Chooser could have changed, against a naive closure of it."""

from __future__ import annotations

import networkx as nx  # type: ignore[import-untyped]

from testbed.chooser import Chooser
from testbed.choosers.uniform import Uniform
from testbed.client.client import Client
from testbed.faults.crash import Crash
from testbed.objects import Note
from testbed.store.footprint import Footprint, Marks
from testbed.story.causality import Causality
from testbed.turns.option import SERVE, Option
from testbed.turns.trace import Step, Trace
from testbed.world.scenario import find
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.binders import two_binders
from tests.shared.lots import drawing_lots
from tests.shared.stage import Cued, note, world_of


def steps_of(world: World, chooser: Chooser) -> list[Step]:
    """The Steps of one Run."""
    trace = Trace({}, keep=True)
    world.goes_on = True
    world.run(chooser, driver="direct", trace=trace)
    return trace.steps


def binders() -> World:
    """Two schedulers with Caches, one of which may crash."""
    world = World("binders")
    two_binders(world, names="alpha beta gamma")
    world.allow(Crash("*", restart_after_ms=0))
    return world


def lots() -> World:
    """Actors that pick, crash and are cut off."""
    world = World("lots")
    drawing_lots(world, faults=2, times=4)
    return world


def signers() -> World:
    """Three writers of one object."""
    return find("lost_update").world({"writers": 3})


WORLDS = {"binders": binders, "lots": lots, "signers": signers}


def naive(steps: list[Step]) -> nx.DiGraph:
    """Every pair compared with every rule, and all that follows from it."""
    graph = nx.DiGraph()
    dids = [step.did for step in steps]
    for place, step in enumerate(steps):
        graph.add_node(step.number)
        for before in range(place):
            other = steps[before]
            if (
                other.option.path == step.option.path
                or other.number in step.causes
                or dids[before].clashes(dids[place])
            ):
                graph.add_edge(other.number, step.number)
    return graph


@each_row("name", WORLDS)
def test_the_order_is_that_of_all_pairs(name: str) -> None:
    """Last writers and last readers are enough: one by one, the pairs are ordered as by comparing
    all with all; and no edge stands that others imply."""
    for seed in range(6):
        steps = steps_of(WORLDS[name](), Uniform(seed))
        causality = Causality(steps)
        reduced = nx.transitive_reduction(naive(steps))
        assert set(causality.order.edges) == set(reduced.edges)
        closed = nx.transitive_closure_dag(reduced)
        numbers = [step.number for step in steps]
        for one in numbers:
            for other in numbers:
                assert causality.is_before(one, other) is closed.has_edge(one, other)


def are_concurrent(causality: Causality, one: int, other: int) -> bool:
    """Whether neither had to come before the other."""
    return not causality.is_before(one, other) and not causality.is_before(other, one)


def step(number: int, path: str, *, reads: str = "", writes: str = "", causes: str = "") -> Step:
    """A Step made by hand."""
    marks = Marks()
    marks.reads.extend(reads.split())
    marks.writes.extend(writes.split())
    by = tuple(int(cause) for cause in causes.split())
    option = Option(SERVE, path, lambda: None, by).about("list" if "log:" in reads else "get")
    return Step(number, option, 0, 1, marks)


def test_a_field_is_part_of_its_log_and_not_of_its_sibling() -> None:
    """Who lists all of a kind is ordered with each write of a field of it; who lists one field is
    not with that of another."""
    causality = Causality(
        [
            step(1, "a", writes="log:pods.spec.node_name"),
            step(2, "b", reads="log:pods"),
            step(3, "c", reads="log:pods.spec.node_name"),
            step(4, "d", reads="log:pods.status"),
            step(5, "e", writes="log:pods.status.phase"),
        ]
    )
    assert set(causality.order.edges) == {(1, 2), (1, 3), (2, 5), (4, 5)}


def before(causality: Causality, number: int) -> set[int]:
    """The Steps that had to come before that Step."""
    return set(nx.ancestors(causality.order, number))


def test_a_chain_shows_how_one_step_led_to_the_other() -> None:
    """Through the Steps between them; and nothing leads to what is concurrent with it."""
    causality = Causality(
        [
            step(1, "a", writes="pods/x"),
            step(2, "b", reads="pods/x"),
            step(3, "b", writes="pods/y"),
            step(4, "c", reads="pods/y"),
            step(5, "d", reads="pods/z"),
        ]
    )
    assert nx.shortest_path(causality.order, 1, 4) == [1, 2, 3, 4]
    assert not nx.has_path(causality.order, 1, 5)
    assert not nx.has_path(causality.order, 4, 1)
    assert before(causality, 4) == {1, 2, 3}
    assert before(causality, 1) == set()


def test_what_a_step_rests_on_is_what_it_found() -> None:
    """Who left what it read, and its own past; not who wrote the same blindly, nor who only read,
    though their order mattered."""
    causality = Causality(
        [
            step(1, "a", writes="pods/x"),
            step(2, "b", writes="pods/x"),
            step(3, "c", reads="pods/x"),
            step(4, "d", reads="pods/y"),
            step(5, "d", writes="pods/x"),
        ]
    )
    assert causality.needed_by([3]) == {2, 3}
    assert causality.needed_by([5]) == {4, 5}
    assert before(causality, 5) == {1, 2, 3, 4}
    assert causality.needed_by([3, 5, 99]) == {2, 3, 4, 5}


def test_a_list_rests_on_the_last_write_of_each_object() -> None:
    """Of that kind alone; what was written over is no longer there."""
    causality = Causality(
        [
            step(1, "a", writes="pods/x log:pods"),
            step(2, "b", writes="pods/x log:pods.spec"),
            step(3, "c", writes="pods/y log:pods"),
            step(4, "d", writes="nodes/n log:nodes"),
            step(5, "e", reads="log:pods"),
        ]
    )
    assert causality.needed_by([5]) == {2, 3, 5}


def test_to_open_a_watch_rests_on_nothing_it_will_hear() -> None:
    """Its answer is empty; each delivery names the write it tells of."""
    write, watch = step(1, "a", writes="pods/x log:pods"), step(2, "b", reads="log:pods")
    watch.option.verb = "watch"
    causality = Causality([write, watch])
    assert causality.needed_by([2]) == {2}
    assert causality.is_before(1, 2)


def test_tasks_of_one_actor_rest_on_its_memory() -> None:
    """Each turn of them wrote it, and so found what the last had left there."""
    causality = Causality([step(1, "a/one", writes="mem:a"), step(2, "a/two", writes="mem:a")])
    assert causality.needed_by([2]) == {1, 2}


def test_what_was_read_after_it_was_written_comes_after_it() -> None:
    """In a Run: beta's write comes after both reads, and alpha's after all of it; the two reads
    are concurrent."""
    steps = steps_of(find("lost_update").world(), Uniform(1))
    causality = Causality(steps)
    served = [s for s in steps if s.kind == SERVE]
    gets = [s.number for s in served if s.option.verb == "get"]
    writes = [s.number for s in served if s.option.verb == "update"]
    assert are_concurrent(causality, *gets)
    assert all(causality.is_before(get, write) for get in gets for write in writes)
    assert causality.is_before(*writes)


async def read_and_write(client: Client) -> None:
    """Read one's own, and write it."""
    read = await client.get(Note, client.name)
    await client.update(read.saying(by=client.name))


def test_actors_with_nothing_in_common_are_concurrent() -> None:
    """All that the one does until its write with all that the other does until its own: their
    objects are of one kind, and yet."""
    world = world_of(alpha=read_and_write, beta=read_and_write)
    world.add(note("alpha", by=""), note("beta", by=""))
    steps = steps_of(world, Cued())
    causality = Causality(steps)
    writes = [s for s in steps if s.kind == SERVE and s.option.verb == "update"]
    until = {s.option.actor: s.number for s in writes}
    alphas = [s.number for s in steps if s.option.actor == "alpha" and s.number < until["alpha"]]
    betas = [s.number for s in steps if s.option.actor == "beta" and s.number < until["beta"]]
    assert len(alphas) > 2
    assert len(betas) > 2
    assert all(are_concurrent(causality, one, other) for one in alphas for other in betas)


def test_three_thousand_steps_have_few_edges() -> None:
    """Many readers and writers of one kind: the edges grow with the Steps, not with their
    square."""
    steps = []
    for number in range(1, 3_001):
        path = f"actor-{number % 20}"
        if number % 3:
            steps.append(step(number, path, reads="log:notes", writes=f"mem:{path}"))
        else:
            field = f"log:notes.data.f{number % 7}"
            steps.append(step(number, path, writes=f"notes/n{number % 50} {field} mem:{path}"))
    causality = Causality(steps)
    assert causality.order.number_of_edges() <= 3 * len(steps)
    assert nx.is_directed_acyclic_graph(causality.order)


def test_a_footprint_of_nothing_is_ordered_by_its_process_alone() -> None:
    """A Hold, say, touches nothing."""
    assert Marks().footprint() == Footprint()
    causality = Causality([step(1, "a"), step(2, "b"), step(3, "a")])
    assert set(causality.order.edges) == {(1, 3)}
