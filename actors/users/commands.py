"""Commands: what a person tells a cluster to do, as data; each with what it is called in traces.

A command may be given twice: by a retry after a lost answer, or by a later life of the actor that
gives it. A person who does not know whether it was done gives it again, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, Self

import attrs
from attrs.converters import optional

from actors.shared.retries import FOR_GOOD, make, until_told
from actors.shared.settings import names
from actors.users.drain import DrainOptions, drain
from testbed import Client, NotFound, Operation, Selector
from testbed.objects import Map, Node, Object, Pod
from testbed.objects.labels import parse
from testbed.objects.meta import texts
from testbed.objects.plain import frozen

ROLLED = "kubectl.kubernetes.io/restartedAt"
"""The annotation of a template by which `kubectl rollout restart` changes it."""


class Command(Protocol):
    """What a person can be told to do. A WorkloadStream picks one by `title`, and calls `give`."""

    @property
    def title(self) -> str:
        """What it is called where it is picked: `scale web 3`. Short, and its own."""

    async def give(self, client: Client) -> None:
        """Give the command, as often as it takes."""


@attrs.frozen
class CreateCommand(Command):
    """Creates an object (`kubectl create`); one of that name is left as it is."""

    item: Object
    """The object, as it is to be."""

    @property
    def title(self) -> str:
        return f"create {_named(self.item)}"

    async def give(self, client: Client) -> None:
        await make(client, self.item)


@attrs.frozen
class PatchCommand(Command):
    """Changes fields of an object by a merge patch (`kubectl patch`)."""

    title: str
    """What it is called where it is picked."""
    item: Object
    """The object that is meant, by its kind and name."""
    tree: Map[Any] = attrs.field(converter=frozen)
    """The fields and their new values, as they stand on the wire."""

    @classmethod
    def scale(cls, item: Object, replicas: int) -> Self:
        """`kubectl scale`: another number of replicas."""
        return cls(f"scale {_named(item)} {replicas}", item, {"spec": {"replicas": replicas}})

    @classmethod
    def roll(cls, item: Object, mark: str) -> Self:
        """`kubectl rollout restart`: another template, so that all pods are replaced."""
        template = {"metadata": {"annotations": {ROLLED: mark}}}
        return cls(f"roll {_named(item)} {mark}", item, {"spec": {"template": template}})

    @classmethod
    def annotate(cls, item: Object, annotations: Mapping[str, str]) -> Self:
        """`kubectl annotate`: how a pod behaves from now on, say."""
        notes = " ".join(f"{name.rpartition('/')[2]}={annotations[name]}" for name in annotations)
        tree = {"metadata": {"annotations": dict(annotations)}}
        return cls(f"annotate {_named(item)} {notes}", item, tree)

    @classmethod
    def uncordon(cls, node: str) -> Self:
        """`kubectl uncordon`: pods may come to the node again."""
        return cls(f"uncordon {node}", Node(node), {"spec": {"unschedulable": False}})

    async def give(self, client: Client) -> None:
        await _send(client, lambda: client.patch(self.item, self.tree), self.title)


@attrs.frozen
class DeleteCommand(Command):
    """Deletes an object by its name (`kubectl delete`), whichever has it."""

    item: Object
    """The object that is meant, by its kind and name."""
    grace_s: int | None = None
    """The grace of a pod; None: its own. 0 forces the deletion."""

    @property
    def title(self) -> str:
        grace = "" if self.grace_s is None else f" {self.grace_s} s"
        return f"delete {_named(self.item)}{grace}"

    async def give(self, client: Client) -> None:
        meta = self.item.meta
        options: Map[Any] = Map() if self.grace_s is None else Map(grace_s=self.grace_s)
        delete = Operation("delete", self.item.plural, meta.name, meta.namespace, options=options)
        await _send(client, lambda: client.ask(delete), self.title)


@attrs.frozen
class DrainCommand(Command):
    """Drains nodes (`kubectl drain`), once."""

    nodes: tuple[str, ...] = attrs.field(validator=names)
    """The nodes, in the order in which they are emptied."""
    options: DrainOptions = attrs.field(factory=DrainOptions)
    """The flags of the command."""

    @property
    def title(self) -> str:
        return f"drain {' '.join(self.nodes)}"

    async def give(self, client: Client) -> None:
        await drain(client, self.nodes, self.options)


@attrs.frozen
class PodCommand(Command):
    """Annotates or deletes one pod of those with certain labels, the first by default. The names of
    pods that a controller makes are not known beforehand, so this looks for them."""

    labels: str
    """Which pods are meant, as kubectl takes it: `app=web`."""
    annotations: Map[str] | None = attrs.field(default=None, converter=optional(texts))
    """What is written on the pod, such as its usage from now on; None: it is deleted."""
    grace_s: int | None = None
    """The grace of that deletion; None: the pod's own. 0 forces it."""

    @property
    def title(self) -> str:
        verb = "delete" if self.annotations is None else "annotate"
        grace = "" if self.grace_s is None else f" {self.grace_s} s"
        return f"{verb} a pod of {self.labels}{grace}"

    async def give(self, client: Client) -> None:
        selector = Selector(labels=parse(self.labels))
        listing = await until_told(client, lambda: client.list(Pod, selector), why=self.title)
        pods = {pod.meta.name: pod for pod in listing.items}
        if pods:
            await self._meant(pods[client.pick(f"pod of {self.labels}", list(pods))]).give(client)

    def _meant(self, pod: Pod) -> PatchCommand | DeleteCommand:
        if self.annotations is None:
            return DeleteCommand(pod, self.grace_s)
        return PatchCommand.annotate(pod, self.annotations)


@attrs.frozen
class NoCommand(Command):
    """Leaves everything as it is: the dullest of several commands to pick from."""

    title: ClassVar[str] = "nothing"

    async def give(self, client: Client) -> None:
        """Do nothing."""


async def _send(client: Client, send: Any, title: str) -> None:
    """Send a request until it is done, or refused for good."""
    try:
        await until_told(client, send, why=f"retry {title}")
    except NotFound:
        return
    except FOR_GOOD as error:
        client.record("gave up", item=title, error=error.reason)


def _named(item: Object) -> str:
    """The name of an object as kubectl takes it: `pod/a`."""
    return f"{item.kind.lower()}/{item.meta.name}"
