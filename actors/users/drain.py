"""Drain: `kubectl drain`, which empties nodes for maintenance, as version 1.26 does it.

1. Get all the nodes. If there is no such node, or no answer, nothing else is done.
2. Cordon them, so that no new pod comes. It goes on if that fails.
3. Node by node, list the pods and sort out which must go. If one of them may not go, the node is
   left as it is, and the next one is tried.
4. Evict all of them at once, each in a task of its own. If a budget says no, ask again after 5 s.
5. Look once a second whether each has gone, or another pod has its name.

It decides by that one list. A pod that is bound later, because a scheduler had not yet heard of the
cordon, stays on the node. An eviction names no uid, so it also evicts another pod that has got the
name since then.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import attrs

from actors.shared.critical import is_mirror
from actors.shared.owners import controller_of
from actors.shared.settings import at_least, names
from actors.shared.verbs import evict
from testbed import Actor, ApiError, Client, NotFound, Operation, Selector
from testbed.errors import TooManyRequests
from testbed.objects import DaemonSet, DeleteOptions, Map, Node, Owner, Pod

RETRY_MS = 5_000
"""How long it waits after a budget has said no."""
POLL_MS = 1_000
"""How often it looks whether a pod has gone."""
GO, STAY = "go", "stay"
UNMANAGED = "cannot delete Pods that declare no controller (use --force to override)"
DAEMONS = "cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore)"


@attrs.frozen
class DrainOptions:
    """The flags of the command."""

    force: bool = False
    """Also evicts pods without a controller, which nothing creates again (`--force`)."""
    ignore_daemonsets: bool = False
    """Leaves the pods of DaemonSets alone (`--ignore-daemonsets`); if not, a node with one of them
    is not drained."""
    disable_eviction: bool = False
    """Deletes the pods, so that no disruption budget is asked (`--disable-eviction`)."""
    grace_s: int | None = attrs.field(default=None, validator=at_least(0))
    """The grace of every pod (`--grace-period`); None: its own."""
    timeout_ms: int | None = attrs.field(default=None, validator=at_least(1))
    """How long a node may take (`--timeout`); None: for ever."""
    skip_deleted_s: int = attrs.field(default=0, validator=at_least(0))
    """Does not wait for a pod whose deletion was due longer ago than this
    (`--skip-wait-for-delete-timeout`); 0: for each."""


@attrs.frozen
class Drain(Actor):
    """Drains nodes, once. It records what the command prints: `cordoned` or `not cordoned`, then
    `drained`, or `drain failed` with the errors."""

    rank: ClassVar[int] = 0

    nodes: tuple[str, ...] = attrs.field(validator=names)
    """The nodes, in the order in which they are emptied."""
    at_ms: int = attrs.field(default=0, validator=at_least(0))
    """When it begins, after the start."""
    options: DrainOptions = DrainOptions()
    """The flags of the command."""
    again_after_ms: int | None = attrs.field(default=None, validator=at_least(1))
    """How long after a failure the command is given again; None: never."""

    async def run(self, client: Client) -> None:
        """Give the command, and give it again as the settings say. So does a later life."""
        if self.at_ms:
            await client.sleep(self.at_ms, "begin")
        while not await drain(client, self.nodes, self.options):
            if self.again_after_ms is None:
                return
            await client.sleep(self.again_after_ms, "drain again")


async def drain(client: Client, nodes: Iterable[str], options: DrainOptions) -> bool:
    """Drain nodes as the command does; returns whether all of them are drained. An error on one
    node does not keep it from the next."""
    found: list[Node] = []
    for name in nodes:
        try:
            found.append(await client.get(Node, name, ""))
        except ApiError as error:
            is_absent = isinstance(error, NotFound)
            said = str(error) if is_absent else _failure("get", f"nodes/{name}", error)
            client.record("drain failed", node=name, errors=[said])
            return False
    for node in found:
        await _cordon(client, node)
    is_drained = True
    for name in [node.meta.name for node in found]:
        errors = await _Emptying(client, name, options).run()
        if errors:
            client.record("drain failed", node=name, errors=errors)
            is_drained = False
        else:
            client.record("drained", node=name)
    return is_drained


async def _cordon(client: Client, node: Node) -> None:
    """Cordon a node. If that fails, the command says so and empties the node all the same."""
    if node.spec.unschedulable:
        return
    try:
        await client.patch(node, {"spec": {"unschedulable": True}}, how="strategic")
        client.record("cordoned", node=node.meta.name)
    except ApiError as error:
        client.record("not cordoned", node=node.meta.name, error=error.reason)


class _Emptying:
    """Empties one node, for one command."""

    def __init__(self, client: Client, node: str, options: DrainOptions) -> None:
        self.client = client
        self.node = node
        self.options = options
        self.due_ms: int | None = None
        """When the time for it is over; None: never."""

    async def run(self) -> list[str]:
        """Empty it; returns the errors, of which there are none if it is empty."""
        mine = Selector(fields=(("spec.node_name", self.node),))
        try:
            listing = await self.client.list(Pod, mine)
            verdicts = [(pod, await self._verdict(pod)) for pod in listing.items]
        except ApiError as error:
            return [_failure("list the pods of", self.node, error)]
        errors = [f"{why}: {pod.key}" for pod, why in verdicts if why not in (GO, STAY)]
        if errors:
            return errors
        if self.options.timeout_ms is not None:
            self.due_ms = self.client.elapsed() + self.options.timeout_ms
        pods = [pod for pod, verdict in verdicts if verdict == GO]
        return await (self._delete(pods) if self.options.disable_eviction else self._evict(pods))

    # -- which pods go ----------------------------------------------------------------------------

    async def _verdict(self, pod: Pod) -> str:
        """Whether a pod goes or stays, or else why the node is not drained."""
        owner = controller_of(pod)
        if self._is_skipped(pod) or is_mirror(pod):
            return STAY
        if pod.is_over:
            return GO
        if owner is None:
            return GO if self.options.force else UNMANAGED
        return await self._verdict_of_daemon(pod, owner) if owner.kind == "DaemonSet" else GO

    async def _verdict_of_daemon(self, pod: Pod, owner: Owner) -> str:
        """The DaemonSet would create the pod again at once; one that is no more does not."""
        try:
            await self.client.get(DaemonSet, owner.name, pod.meta.namespace)
        except NotFound as error:
            return GO if self.options.force else str(error)
        return STAY if self.options.ignore_daemonsets else DAEMONS

    def _is_skipped(self, pod: Pod) -> bool:
        due_ms, skip_ms = pod.meta.deleted_ms, self.options.skip_deleted_s * 1000
        return bool(skip_ms) and due_ms is not None and self.client.now() - due_ms > skip_ms

    # -- how they go ------------------------------------------------------------------------------

    async def _evict(self, pods: list[Pod]) -> list[str]:
        """Evict them all at once; returns the errors when the last of them is done."""
        tasks = [
            self.client.spawn(f"evict-{pod.meta.namespace}-{pod.meta.name}", self._evict_one, pod)
            for pod in pods
        ]
        ends = [await self.client.join(task) for task in tasks]
        return [error for error in ends if error]

    async def _evict_one(self, pod: Pod) -> str:
        """Evict a pod and wait until it has gone; returns the error, or nothing."""
        while True:
            if self._is_late():
                return f"error when evicting {pod.key}: global timeout reached"
            try:
                await evict(self.client, pod, DeleteOptions(grace_s=self.options.grace_s))
            except NotFound:
                return ""
            except TooManyRequests as error:
                # The client library heeds a Retry-After before the command hears of the refusal.
                await self.client.sleep(1000 * error.retry_after_s or RETRY_MS, f"retry {pod.key}")
            except ApiError as error:
                return _failure("evict", pod.key, error)
            else:
                return await self._wait([pod])

    async def _delete(self, pods: list[Pod]) -> list[str]:
        """Delete them one after another, then wait for all; the first error ends it."""
        for pod in pods:
            try:
                await self.client.ask(self._deletion(pod))
            except NotFound:
                continue
            except ApiError as error:
                return [_failure("delete", pod.key, error)]
        late = await self._wait(pods)
        return [late] if late else []

    def _deletion(self, pod: Pod) -> Operation:
        meta, grace_s = pod.meta, self.options.grace_s
        options: Map[Any] = Map() if grace_s is None else Map(grace_s=grace_s)
        return Operation("delete", pod.plural, meta.name, meta.namespace, options=options)

    async def _wait(self, pods: list[Pod]) -> str:
        """Look at them once a second until all have gone; returns the error, or nothing."""
        while True:
            try:
                pods = [pod for pod in pods if not await self._has_gone(pod)]
            except ApiError as error:
                return _failure("wait for", pods[0].key, error)
            if not pods:
                return ""
            if self._is_late():
                return f"error when waiting for {pods[0].key}: global timeout reached"
            await self.client.sleep(POLL_MS, f"look for {pods[0].key}")

    async def _has_gone(self, pod: Pod) -> bool:
        try:
            there = await self.client.get(Pod, pod.meta.name, pod.meta.namespace)
        except NotFound:
            return True
        return there.meta.uid != pod.meta.uid or self._is_skipped(there)

    def _is_late(self) -> bool:
        return self.due_ms is not None and self.client.elapsed() >= self.due_ms


def _failure(what: str, key: str, error: ApiError) -> str:
    return f"cannot {what} {key}: {error.reason}"
