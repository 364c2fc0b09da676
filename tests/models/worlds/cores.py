"""YuniKorn for tests: a core that is spoken to directly, and the cluster of GT-Y1 around a shim."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from actors.apiserver import ApiServer
from actors.controllers.daemonset import DaemonSetController
from actors.kubelet import Kubelet, Runtime
from actors.shared.user import User
from actors.yunikorn import QueueSettings, YuniKornCore, YuniKornShim
from actors.yunikorn.messages import AllocationRelease, AllocationRequest, CycleResult, NodeNews
from actors.yunikorn.shim.pods import ALLOW_PREEMPTION
from testbed.objects import (
    DaemonSet,
    DaemonSetSpec,
    LabelSelector,
    Map,
    Meta,
    Node,
    Pod,
    PodTemplate,
    room_of,
)
from testbed.store.endpoint import Operation
from testbed.store.store import Store
from testbed.world.world import World
from tests.shared.stage import Doing, Puppet

NODE = "n"


class Talk:
    """A core with a session, and one node `n` of ten cpus unless it is said otherwise."""

    def __init__(
        self,
        profile: str = "",
        *,
        nodes: tuple[Node, ...] = (Node.of(NODE, cpu_m=10_000),),
        queues: tuple[QueueSettings, ...] = (),
        **switches: Any,
    ) -> None:
        self.core = YuniKornCore(Store(), queues=queues, profile=profile, switches=switches)
        self.now_ms = 0
        self._told = self._got = 0
        self.session = self.ask("register")
        for node in nodes:
            self.node(node)

    def ask(self, verb: str, name: str = "", body: Any = None, **options: Any) -> Any:
        """Ask it for something, at the time of now."""
        given = Map({"session": getattr(self, "session", ""), **options})
        operation = Operation(verb, "pods", name, body=body, uid=name, options=given)
        handler = self.core.handle(operation, "shim", self.now_ms)
        try:
            next(handler)
        except StopIteration as done:
            return done.value
        raise AssertionError("it answers in one part")

    def tell(self, verb: str, name: str = "", body: Any = None, **options: Any) -> None:
        """Tell it the next piece of news."""
        self._told += 1
        self.ask(verb, name, body, nth=self._told, **options)

    def node(self, node: Node, *, is_open: bool = True) -> None:
        """A node as it is."""
        self.tell(
            "put_node",
            node.meta.name,
            NodeNews(node.meta.name, room_of(node), node.meta.labels, node.spec.taints, is_open),
        )

    def pod(self, key: str, cpu: int, app: str = "batch", **request: Any) -> None:
        """A pod that asks for so many cpus, or has a `node`."""
        amounts = request.pop("amounts", Map(cpu=1000 * cpu))
        self.tell("submit", key, AllocationRequest(key, key, app, amounts=amounts, **request))

    def gone(self, key: str, app: str = "batch", why: str = "STOPPED_BY_RM") -> None:
        """A pod is gone."""
        self.tell("release", key, AllocationRelease(key, why), app=app)

    def cycle(self, *first: str, after_ms: int = 0) -> CycleResult:
        """One scheduling cycle, that much later."""
        self.now_ms += after_ms
        found: CycleResult = self.ask("cycle", first=first)
        return found

    def said(self) -> list[str]:
        """What it has to tell that was not fetched: `x on n`, `free r3`, or a reason."""
        messages = self.ask("take", got=self._got)
        self._got += len(messages)
        return [_worded(each) for each in messages]

    def settle(self) -> list[str]:
        """Cycle until nothing is due at once or in 100 ms; all that it has said."""
        said: list[str] = []
        for _ in range(50):
            result = self.cycle()
            said += self.said()
            if not result.is_active and result.again_in_ms != 100:
                return said
            self.now_ms += 0 if result.is_active else 100
        raise AssertionError("it never settles")

    @property
    def books(self) -> Any:
        """Its books."""
        return self.core.partition


def _worded(message: Any) -> str:
    node, why = getattr(message, "node", None), getattr(message, "why", None)
    if node is not None:
        return f"{message.key} on {node}"
    return f"free {message.key}" if why is not None else message.reason


def gt_y1(cpu: int = 4, profile: str = "", **switches: Any) -> Talk:
    """The node of GT-Y1, and a DaemonSet pod x that asks for so many cpus at 40 s."""
    talk = Talk(profile, **switches)
    has = {"node": NODE}
    talk.pod("d1", 2, app="driven", created_ms=5_000, is_originator=True, **has)
    talk.pod("o1", 1, created_ms=6_000, allows_preemption=False, owners=("d1",), **has)
    for key, size, second in (("r1", 2, 10), ("r2", 2, 20), ("r3", 3, 30)):
        talk.pod(key, size, created_ms=1000 * second, **has)
    talk.now_ms = 40_000
    talk.pod("x", cpu, app="daemons", required_node=NODE, created_ms=40_000)
    return talk


# -- in a World -----------------------------------------------------------------------------------


def yunikorns(name: str, cpu: int, second: int = 0, app: str = "batch", **labels: str) -> Pod:
    """A pod of YuniKorn that runs on the node since that second."""
    given = {"applicationId": app, **labels}
    pod = Pod.of(name, cpu_m=1000 * cpu, scheduler_name="yunikorn", node_name=NODE, grace_s=30,
                 labels=given)  # fmt: skip
    return pod.with_meta(created_ms=1000 * second)


def daemons(name: str = "x", cpu: int = 4, **spec: Any) -> DaemonSet:
    """A DaemonSet whose pods ask for so many cpus of YuniKorn."""
    labels = Map(app=name, applicationId=f"daemons-{name}")
    wanted = Pod.of("", cpu_m=1000 * cpu, scheduler_name="yunikorn", **spec).spec
    template = PodTemplate(Meta(labels=labels), wanted)
    return DaemonSet(name, spec=DaemonSetSpec(selector=LabelSelector(labels), template=template))


def node_of_y1(
    *creates: tuple[int, Any],
    pods: tuple[Pod, ...] | None = None,
    user: Doing | None = None,
    shim: Callable[[], YuniKornShim] = YuniKornShim,
    profile: str = "",
    world: World | None = None,
    **switches: Any,
) -> World:
    """A World with the node and the pods of GT-Y1, in which users create these things."""
    world = World("yunikorn") if world is None else world
    world.serve(ApiServer)
    world.serve(partial(YuniKornCore, profile=profile, switches=switches))
    world.serve(partial(Runtime, node=NODE))
    world.add(Node.of(NODE, cpu_m=10_000), *(of_y1() if pods is None else pods))
    world.start(User("ann", creates), Kubelet(f"kubelet-{NODE}", NODE), shim())
    world.start(DaemonSetController("daemonsets", switches={"events": "off"}))
    if user is not None:
        world.start(Puppet("ben", user))
    return world


def of_y1() -> tuple[Pod, ...]:
    """The pods of GT-Y1; `d1` and `first` are the first ones of their applications."""
    return (
        yunikorns("d1", 2, 5, app="driven"),
        yunikorns("first", 0, 1),
        yunikorns("o1", 1, 6).with_meta(annotations=Map({ALLOW_PREEMPTION: "false"})),
        yunikorns("r1", 2, 10), yunikorns("r2", 2, 20), yunikorns("r3", 3, 30),
    )  # fmt: skip


def seen(world: World, *names: str) -> list[str]:
    """What becomes of pods whose name begins so: bound, told to end, gone, and when, in seconds."""
    told = []
    for change in world.store.log("pods").after(0):
        old: Any = change.before
        new: Any = change.after
        name = change.key.rpartition("/")[2]
        if not name.startswith(names):
            continue
        _, at_ms = world.wire.streams.commits.get(change.revision, (0, 0))
        if new is None:
            told.append(f"{at_ms} remove {name}")
        elif old is not None and new.meta.is_terminating and not old.meta.is_terminating:
            told.append(f"{at_ms} delete {name} until {new.meta.deleted_ms}")
        elif old is not None and new.is_bound and not old.is_bound:
            told.append(f"{at_ms} bind {name} {new.spec.node_name}")
        elif old is not None and new.status.phase != old.status.phase:
            told.append(f"{at_ms} {name} {new.status.phase}")
    return told


def books(world: World) -> Any:
    """The core's books."""
    return world.wire.posts["yunikorn-core"].endpoint.partition  # type: ignore[attr-defined]
