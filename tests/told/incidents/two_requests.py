"""Two requests: a controller creates a second CertificateRequest with a generated name, since its
informer does not show the first (cert-manager/cert-manager#4956)."""

from __future__ import annotations

import attrs

from actors.apiserver import ApiServer
from testbed import Actor, Cache, Client, Evidence, World, always
from testbed.errors import AlreadyExists
from testbed.objects import ConfigMap, Meta, Note
from tests.never_rest.frame import WorkQueue
from tests.told.frame import Told


@attrs.frozen
class RequestManager(Actor):
    """Creates a request (a Note) for each certificate (a ConfigMap) without one. With `guard`
    its name follows from that of the certificate."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Look at a certificate when it or its request changes."""
        certificates, requests = Cache(client, ConfigMap), Cache(client, Note)
        await requests.synced()
        queue = WorkQueue(client)
        queue.follow(certificates)
        queue.follow(requests, lambda request: request.meta.labels["for"])

        async def reconcile(name: str) -> None:
            if any(request.meta.labels["for"] == name for request in requests.all()):
                return
            own = f"{name}-1" if self.guard else ""
            meta = Meta(own, generate_name=f"{name}-", labels={"for": name})
            try:
                await client.create(Note(meta))
            except AlreadyExists:
                return

        await queue.work(reconcile)


class Readiness(Actor):
    """Sets the condition of each certificate."""

    async def run(self, client: Client) -> None:
        """When it hears of it."""
        certificates, queue = Cache(client, ConfigMap), WorkQueue(client)
        queue.follow(certificates)

        async def reconcile(name: str) -> None:
            found = certificates.get(name)
            if found is not None and "ready" not in found.data:
                await client.patch(found, {"data": {"ready": "False"}})

        await queue.work(reconcile)


class Ann(Actor):
    """Wants a certificate."""

    async def run(self, client: Client) -> None:
        """After a second."""
        await client.sleep(1_000, "want")
        await client.create(ConfigMap("web"))


def one_request_for_a_revision(see: Evidence) -> str | None:
    """No certificate has two requests for the same revision."""
    requests = see.store.snapshot("notes/")
    if len(requests) > 1:
        return "multiple CertificateRequests were found for the next revision 1 of web"
    return None


def two_requests(world: World, *, guard: bool = False) -> None:
    """A certificate changes right after its request was created."""
    world.serve(ApiServer)
    world.start(RequestManager("request-manager", guard), Readiness("readiness"), Ann("ann"))
    world.claim(always(one_request_for_a_revision))


TRUE = Told(
    two_requests,
    race="""
holds:
  - hold: "delivery of notes/default/web-* to request-manager"
    until: request-manager create notes/default#2
""",
    actor="request-manager",
    about="notes/default/web-",
    words=("Cache", "not knowing", "believing", "had not been told", "was late", "not heard"),
    did=("created",),
    never=("^readiness", "^ann"),
    said=(
        "request-manager created notes/default/web-dkp9v before its Cache showed its own "
        "create of notes/default/web-895lv."
    ),
)
