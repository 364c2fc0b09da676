"""Two keys: two workers each make a private key for a certificate; an old informer then shows the
first as the one in use, and the second is deleted (cert-manager/cert-manager PR#9097)."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.shared.user import User
from testbed import Actor, Cache, Client, Evidence, NotFound, World, quiescent
from testbed.errors import AlreadyExists
from testbed.objects import ConfigMap, Map, Meta, Note
from tests.never_rest.frame import WorkQueue
from tests.told.frame import Told


@attrs.frozen
class KeyManager(Actor):
    """Makes a key (a Note) for the certificate (a ConfigMap) that has none, and deletes the others.
    With `guard` the name of the key follows from its certificate."""

    guard: bool

    async def run(self, client: Client) -> None:
        """One worker for the certificate, one for issuers; the certificate waits for neither."""
        configs, keys = Cache(client, ConfigMap), Cache(client, Note)
        first, second = WorkQueue(client), WorkQueue(client)
        first.follow(configs)
        second.follow(keys)
        await configs.synced()
        await keys.synced()

        async def reconcile(_: str) -> None:
            found = configs.get("web")
            if found is None:
                return
            in_use = found.data.get("key", "")
            if not in_use:
                key = Note(Meta("key-1" if self.guard else "", generate_name="key-"))
                name = "key-1"
                with suppress(AlreadyExists):
                    name = (await client.create(key)).meta.name
                await client.patch(found, {"data": {"key": name}})
                return
            for key in keys.all():
                if key.meta.name != in_use:
                    with suppress(NotFound):
                        await client.delete(key, whatever_it_was=True)

        client.spawn("keys", second.work, reconcile)
        await first.work(reconcile)


def the_key_in_use_is_there(see: Evidence) -> str | None:
    """In the end the certificate names a key that exists."""
    web: Any = see.store.peek("configmaps/default/web")
    name = web.value.data.get("key", "none")
    return None if see.store.peek(f"notes/default/{name}") else "no such key as web is signed with"


def two_keys(world: World, *, guard: bool = False) -> None:
    """A certificate and an issuer come at the same time."""
    world.serve(ApiServer)
    world.start(KeyManager("key-manager", guard))
    web, issuer = ConfigMap("web", data=Map(of="a.example")), ConfigMap("issuer")
    world.start(User("ann", ((1_000, issuer), (1_000, web))))
    world.claim(quiescent(the_key_in_use_is_there))


TRUE = Told(
    two_keys,
    race="""
holds:
  - hold: key-manager/main patch configmaps/default/web
    until: key-manager delete notes/default/key-4d48j
""",
    actor="key-manager",
    about="notes/default/key-",
    did=("deleted",),
    words=("late", "on its way", "before", "not knowing", "believing", "held"),
    never=("^ann", "ann created"),
    said=(
        "key-manager deleted notes/default/key-4d48j as not in use, while its own patch that makes "
        "it the key of configmaps/default/web was on its way: both its workers had made a key."
    ),
)
