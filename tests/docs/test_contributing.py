"""CONTRIBUTING.md is true: each thing it adds is one new file, which keeps the rules and works."""

from __future__ import annotations

from pathlib import Path

from tests.house.house import inspect
from tests.shared.pages import BLOCK
from tests.shared.scratch import call_copy, copy_with

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FILES = {
    text.partition("\n")[0].removeprefix("# "): text.partition("\n")[2]
    for kind, text in BLOCK.findall(PAGE)
    if kind == "python"
}
"""The files that the page shows, by their paths."""

MOVED = '''
import attrs
from testbed import Actor, World
from testbed.invariants.placement import PodsKeepTheirNode
from testbed.objects import Pod


@attrs.frozen
class Mover(Actor):
    nodes: tuple[str, ...]

    async def run(self, client):
        for node in self.nodes:
            pod = await client.get(Pod, "web")
            spec = attrs.evolve(pod.spec, node_name=node)
            await client.update(attrs.evolve(pod, spec=spec))


def mine(world: World, *, guard: bool = False) -> None:
    """A pod gets a node, and then another one."""
    world.add(Pod.of("web"))
    world.start(Mover("mover", ("n1",) if guard else ("n1", "n2")))
    world.claim(PodsKeepTheirNode())
'''
SPOT = '''
from actors.apiserver import ApiServer
from actors.scheduler import Scheduler
from testbed import World, quiescent
from testbed.objects import Node, Pod


def every_pod_has_a_node(see):
    for entry in see.store.snapshot("pods/"):
        if not entry.value.spec.node_name:
            return f"{entry.key} has no node"


def mine(world: World) -> None:
    """One node, which may vanish at any time."""
    world.serve(ApiServer)
    world.add(Node.of("n1", cpu_m=1000, labels={"spot": "true"}))
    world.add(Pod.of("web", cpu_m=100, scheduler_name="alpha"))
    world.start(Scheduler("alpha"))
    world.claim(quiescent(every_pod_has_a_node))
'''
LABELLED = '''
from actors.apiserver import ApiServer
from actors.controllers.labeller import ZONE, Labeller
from testbed import World, quiescent
from testbed.objects import Node


def every_node_has_its_zone(see):
    for entry in see.store.snapshot("nodes/"):
        if entry.value.meta.labels.get(ZONE) != "z1":
            return f"{entry.key} has no zone"


def mine(world: World, *, guard: bool = True) -> None:
    """A node without a label."""
    world.serve(ApiServer)
    world.add(Node.of("z1-n1", cpu_m=1000))
    if guard:
        world.start(Labeller("labeller"))
    world.claim(quiescent(every_node_has_its_zone))
'''
USES = {
    "testbed/faults/reconnect.py": (
        "",
        [
            (0, "sweep double_bind --fault reconnect", "8 runs for 9 places: 9 held."),
        ],
    ),
    "testbed/invariants/placement.py": (
        MOVED,
        [
            (1, "run mine:mine", "pods_keep_their_node: pods/default/web was moved from n1 to n2"),
            (0, "run mine:mine --switch guard=on", "Held."),
        ],
    ),
    "testbed/search/comparing/measures/binds.py": (
        "",
        [
            (
                1,
                "compare double_bind --switch guard=off --switch guard=on --measure binds --runs 9",
                "binds: pods that got a node\n  A  ",
            ),
        ],
    ),
    "actors/framework/filters/spot_nodes.py": (
        SPOT,
        [
            (0, "run mine:mine", "Held."),
            (1, "run mine:mine --switch scheduler.filters=+SpotNodes", "1 node(s) were spot nodes"),
        ],
    ),
    "actors/controllers/labeller.py": (
        LABELLED,
        [
            (0, "run mine:mine", "Held."),
            (1, "run mine:mine --switch guard=off", "nodes/z1-n1 has no zone"),
        ],
    ),
}
"""What a user writes to use each, and what commands print then, with their exit codes."""


def test_the_page_adds_what_is_used_here() -> None:
    """No more, and no less."""
    assert [*FILES] == [*USES]


def test_what_is_added_breaks_no_rule_of_the_house(tmp_path: Path) -> None:
    """All of it in one scratch copy of the tree, in which no other file complains of it either."""
    assert [path for path in USES if (ROOT / path).exists()] == []
    copy_with(tmp_path, FILES, is_run=False)
    assert inspect(tmp_path) == []


def test_each_thing_that_is_added_is_one_new_file(tmp_path: Path) -> None:
    """In a scratch copy of the tree that has no other new file it does its work."""
    copy_with(tmp_path, {})
    for path, (mine, commands) in USES.items():
        (tmp_path / path).write_text(FILES[path])
        (tmp_path / "mine.py").write_text(mine)
        for code, words, said in commands:
            printed = call_copy(tmp_path, *words.split())
            assert (printed[0], said in printed[1]) == (code, True), f"{path}: {printed[1]}"
        (tmp_path / path).unlink()
