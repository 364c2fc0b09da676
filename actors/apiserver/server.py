"""ApiServer: the Endpoint before the Store that every other program speaks to.

It admits what is written, keeps the protocol of deletion, binding and eviction, and answers reads
from the Store or from as far as it has read itself. Several may stand before one Store, each as
far behind as its cursors are; all that one remembers is lost when it crashes.
"""

from __future__ import annotations

from collections.abc import Callable

from actors.apiserver import binding, creating, deleting, evicting, reading, updating
from actors.apiserver.call import Call
from actors.apiserver.desk import Desk
from testbed.endpoint import Handler, Operation
from testbed.errors import NotFound
from testbed.option import LOG, Footprint
from testbed.store_endpoint import READS

VERBS: dict[str, Callable[[Call], Handler]] = {
    "get": reading.get,
    "list": reading.list_,
    "watch": reading.watch,
    "create": creating.create,
    "update": updating.update,
    "patch": updating.patch,
    "delete": deleting.delete,
    "update/status": updating.update,
    "patch/status": updating.patch,
    "create/binding": binding.bind,
    "create/eviction": evicting.evict,
}
"""What it can be asked, and the file that answers."""


class ApiServer(Desk):
    """Answers as the API server of Kubernetes does; under another name, another one."""

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Handler:
        """The verb, by the file that knows it."""
        verb = VERBS.get(operation.asked)
        if verb is None:
            raise NotFound("the server could not find the requested resource")
        self.note_time(now_ms)
        return verb(Call(self, operation, caller, now_ms))

    # -- footprints -----------------------------------------------------------------------------

    def may(self, operation: Operation) -> Footprint:
        """What its verbs may touch: the object, and what else they look at."""
        plain = super().may(operation)
        return plain if operation.verb in READS else plain | _looks_at(self, operation)


def _looks_at(server: ApiServer, operation: Operation) -> Footprint:
    """Other objects that a write reads, or writes."""
    plurals = {
        "create/eviction": ("poddisruptionbudgets",),
        "create": ("priorityclasses", "resourcequotas") if operation.plural == "pods" else (),
    }.get(operation.asked, ())
    keys = {e.key for p in plurals for e in server.store.snapshot(f"{p}/")}
    logs = {f"{LOG}{plural}" for plural in plurals}
    return Footprint(frozenset(keys | logs), frozenset(keys | logs))
