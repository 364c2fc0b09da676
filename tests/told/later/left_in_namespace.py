"""Left in a namespace: a server finds that the namespace is there, and writes the object when the
namespace has been emptied and deleted (kubernetes/kubernetes#131421)."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import attrs

from testbed import (
    BETWEEN,
    Actor,
    ApiError,
    Cache,
    Client,
    Evidence,
    Operation,
    StoreEndpoint,
    World,
    quiescent,
)
from testbed.errors import Forbidden
from testbed.objects import ConfigMap, Map, Note
from tests.told.frame import Told

NAMESPACE = "configmaps/default/team-a"


class NamespacedServer(StoreEndpoint):
    """Creates a Note only while its namespace (a ConfigMap) is there and is not ending. It looks in
    one part of a request, and writes in the next; if it is `careful`, in the same."""

    def __init__(self, store: Any, careful: bool) -> None:
        super().__init__(store, "store")
        self.careful = careful

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Any:
        """A create is admitted, and carried out."""
        if operation.verb == "create" and operation.plural == "notes":
            entry: Any = self.store.peek(NAMESPACE)
            if entry is None or entry.value.data["phase"] != "Active":
                raise Forbidden("the namespace is being terminated")
            if not self.careful:
                yield BETWEEN
        return (yield from super().handle(operation, caller, now_ms))

    def may(self, operation: Operation, caller: str = "") -> Any:
        """A create also reads the namespace."""
        may = super().may(operation, caller)
        return attrs.evolve(may, reads=may.reads | {NAMESPACE})


class NamespaceController(Actor):
    """Deletes what is in a namespace that is to end, and then the namespace."""

    async def run(self, client: Client) -> None:
        """When it hears of it."""
        namespaces, news = Cache(client, ConfigMap), client.queue("news", idle=True)
        namespaces.on(update=lambda old, new: news.put(new))
        while True:
            namespace = await news.get()
            for note in (await client.list(Note)).items:
                await client.delete(note, whatever_it_was=True)
            await client.delete(namespace, whatever_it_was=True)


class Ann(Actor):
    """Wants to be rid of the namespace."""

    async def run(self, client: Client) -> None:
        """After two seconds."""
        await client.sleep(2_000, "tidy up")
        await client.update(ConfigMap("team-a", data=Map(phase="Terminating")))


class Injector(Actor):
    """Puts a certificate into the namespace."""

    async def run(self, client: Client) -> None:
        """Every second, a few times."""
        for _ in range(4):
            await client.sleep(1_000, "inject")
            with suppress(ApiError):
                await client.create(Note("cluster-ca"))


def nothing_is_left(see: Evidence) -> str | None:
    """Nothing is left in a namespace that is gone."""
    if see.store.peek(NAMESPACE) is None and see.store.peek("notes/default/cluster-ca"):
        return "notes/default/cluster-ca is in a namespace that does not exist"
    return None


def left_in_namespace(world: World, *, guard: bool = False) -> None:
    """A namespace ends while something is put into it."""
    world.serve(lambda store: NamespacedServer(store, guard))
    world.add(ConfigMap("team-a", data=Map(phase="Active")))
    world.start(NamespaceController("namespace-controller"), Ann("ann"), Injector("injector"))
    world.claim(quiescent(nothing_is_left))


TRUE = Told(
    left_in_namespace,
    race="""
holds:
  - hold: injector create.2 notes/default/cluster-ca
    until: namespace-controller delete configmaps/default/team-a
""",
    actor=("injector",),
    about="notes/default/cluster-ca",
    did=("part", "server", r"\bstore\b"),
    words=("configmaps/default/team-a", "namespace"),
    never=("injector .*without ever having read", "injector .*never having heard", "^ann"),
    said=(
        "injector's create of notes/default/cluster-ca found configmaps/default/team-a Active, and "
        "the server wrote it in a later part of that request, after namespace-controller had "
        "deleted the namespace."
    ),
)
