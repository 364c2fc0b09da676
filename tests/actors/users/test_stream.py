"""The stream of commands: what is done when, what is picked, and what a refusal or a crash does."""

from __future__ import annotations

from typing import Any

from actors.apiserver import ApiServer
from actors.users.commands import (
    Command,
    CreateCommand,
    DeleteCommand,
    DrainCommand,
    NoCommand,
    PatchCommand,
    PodCommand,
)
from actors.users.stream import Cue, WorkloadStream
from testbed.choosers.calm import Calm
from testbed.faults.crash import Crash
from testbed.faults.server_error import ServerError
from testbed.objects import (
    Job,
    JobSpec,
    Node,
    Object,
    Pod,
    PodSpec,
    PodTemplate,
    ReplicaSet,
)
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Trace
from testbed.world.world import World
from tests.shared.stage import Cued

WEB = ReplicaSet("web")
JOB = Job("job", spec=JobSpec(template=PodTemplate(spec=PodSpec(restart_policy="Never"))))


class Picking(Calm):
    """Calm, but picks these labels where they are offered."""

    def __init__(self, *labels: str) -> None:
        self.labels = labels

    def choose(self, options: Options | Alternatives) -> int:
        if isinstance(options, Alternatives):
            shown = [option.label for option in options]
            return next((shown.index(each) for each in self.labels if each in shown), 0)
        return 0


def streamed(
    *cues: Cue, things: tuple[Object, ...] = (), taken: tuple[str, ...] = (),
    faults: tuple[Any, ...] = (), picks: tuple[str, ...] = (),
) -> World:  # fmt: skip
    """An API server and who commands it."""
    world = World("stream")
    world.serve(ApiServer)
    world.add(*things)
    for fault in faults:
        world.allow(fault)
    world.start(WorkloadStream("ann", cues))
    trace = Trace({}, keep=True)
    verdict = world.run(Cued(*taken) if taken else Picking(*picks), driver="direct", trace=trace)
    assert verdict.among_others == "held", str(verdict)
    return world


def there(world: World, key: str) -> Any:
    """An object of the Store; None if it is not there."""
    entry = world.store.peek(key)
    return None if entry is None else entry.value


def commanded(world: World) -> list[tuple[int, Any]]:
    """What was commanded, and when."""
    records = world.evidence.records
    return [(each.now_ms, each.facts["what"]) for each in records if each.name == "commanded"]


def test_each_command_comes_at_its_time() -> None:
    """A drain that goes on for long holds up nothing that comes after it."""
    stays = Pod.of("stays", cpu_m=1, node_name="n1", grace_s=1)
    world = streamed(
        Cue.of(1000, CreateCommand(WEB)),
        Cue.of(2000, DrainCommand(("n1",))),
        Cue.of(3000, PatchCommand.scale(WEB, 3)),
        Cue.of(4000, PatchCommand.roll(WEB, "v2")),
        Cue.of(5000, PatchCommand.uncordon("n1")),
        Cue.of(6000, DeleteCommand(Pod("stays"), grace_s=0)),
        Cue.of(7000, DeleteCommand(Job("gone"))),
        things=(Node.of("n1"), stays),
    )
    assert commanded(world) == [
        (1000, "create replicaset/web"), (2000, "drain n1"), (3000, "scale replicaset/web 3"),
        (4000, "roll replicaset/web v2"), (5000, "uncordon n1"), (6000, "delete pod/stays 0 s"),
        (7000, "delete job/gone"),
    ]  # fmt: skip
    web = there(world, "replicasets/default/web")
    assert web.spec.replicas == 3
    assert dict(web.spec.template.meta.annotations) == {"kubectl.kubernetes.io/restartedAt": "v2"}
    assert not there(world, "nodes/n1").spec.unschedulable
    assert there(world, "pods/default/stays") is None


def test_what_is_done_is_picked_and_calmly_it_is_the_dullest() -> None:
    """The Chooser picks by the titles of the commands."""
    among: tuple[Command, ...] = (NoCommand(), CreateCommand(WEB), CreateCommand(JOB))
    cues = (Cue(0, among), Cue(1000, among))
    calm = streamed(*cues)
    assert [what for _, what in commanded(calm)] == ["nothing", "nothing"]
    taken = streamed(*cues, picks=("create job/job",))
    assert [what for _, what in commanded(taken)] == ["create job/job"] * 2
    assert there(taken, "jobs/default/job") is not None


def test_a_pod_is_found_by_its_labels() -> None:
    """It is annotated or deleted; if there is none, nothing is done."""
    pods = [Pod.of(name, labels={"app": "web"}) for name in ("a", "b")]
    world = streamed(
        Cue.of(0, PodCommand("app=web", {"usage": "7"})),
        Cue.of(1000, PodCommand("app=other")),
        things=tuple(pods),
        picks=("b",),
    )
    assert there(world, "pods/default/a").meta.annotations == {}
    assert dict(there(world, "pods/default/b").meta.annotations) == {"usage": "7"}
    world = streamed(Cue.of(0, PodCommand("app=web", grace_s=0)), things=tuple(pods))
    assert commanded(world) == [(0, "delete a pod of app=web 0 s")]
    assert [entry.key for entry in world.store.snapshot("pods/")] == ["pods/default/b"]


def test_a_refusal_that_may_pass_is_tried_again_and_another_is_given_up() -> None:
    """As everything that comes from outside (retries)."""
    fault = ServerError("ann", code=500)
    world = streamed(
        Cue.of(0, PatchCommand.scale(WEB, 2)), things=(WEB,), faults=(fault,),
        taken=("serve ann/*patch *", "fault * server_error *"),
    )  # fmt: skip
    assert there(world, "replicasets/default/web").spec.replicas == 2
    world = streamed(Cue.of(0, PatchCommand("odd", WEB, {"spec": 1})), things=(WEB,))
    assert ("gave up", "Invalid") in [
        (each.name, each.facts.get("error")) for each in world.evidence.records
    ]


def test_a_later_life_begins_the_script_again() -> None:
    """What is there already stays as it is."""
    world = streamed(
        Cue.of(0, CreateCommand(WEB)), Cue.of(1000, PatchCommand.scale(WEB, 2)),
        faults=(Crash("ann", restart_after_ms=100),),
        taken=("resume ann/*", "fault * crash ann"),
    )  # fmt: skip
    assert there(world, "replicasets/default/web").spec.replicas == 2
