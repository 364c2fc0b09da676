"""ApiServer: the Endpoint before the Store that every other program speaks to.

It admits what is written, keeps the protocol of deletion, binding and eviction, and answers reads
from the Store or from its watch cache. Several may stand before one Store, each with a cache of
its own that may lag; what one has in memory is lost when it crashes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import ClassVar

import attrs

from actors.apiserver import rules
from actors.apiserver.admission import priority, tolerations
from actors.apiserver.bare_server import BareServer
from actors.apiserver.call import Call
from actors.apiserver.verbs import bind as binding
from actors.apiserver.verbs import create as creating
from actors.apiserver.verbs import delete as deleting
from actors.apiserver.verbs import evict as evicting
from actors.apiserver.verbs import read as reading
from actors.apiserver.verbs import scale as scaling
from actors.apiserver.verbs import update as updating
from actors.apiserver.verbs.delete_collection import delete_collection
from testbed.errors import NotFound
from testbed.objects import Object, Pod, PriorityClass
from testbed.objects.kinds import KINDS, kind_by_plural
from testbed.objects.meta import key_of
from testbed.store.endpoint import Handler, Operation, creator_of
from testbed.store.footprint import HISTORY, LOG, NOTHING, Footprint
from testbed.store.store_endpoint import READS

PLURALS = frozenset(kind.plural for kind in KINDS)
Verb = Callable[[Call], Handler]
VERBS: Mapping[str, Verb] = {
    "get": reading.get,
    "list": reading.list_,
    "watch": reading.watch,
    "create": creating.create,
    "update": updating.update,
    "patch": updating.patch,
    "delete": deleting.delete,
    "update/status": updating.update,
    "patch/status": updating.patch,
    "get/scale": scaling.read,
    "update/scale": scaling.update,
    "patch/scale": scaling.patch,
    "deletecollection": delete_collection,
    "create/binding": binding.bind,
    "create/eviction": evicting.evict,
}
"""By what is asked, the function that answers."""


class ApiServer(BareServer):
    """The API server of Kubernetes, with these verbs. Two of them have two names."""

    marks_memory = True
    verbs: ClassVar[Mapping[str, Verb]] = VERBS
    calls: ClassVar[type[Call]] = Call
    """What a verb is given, and commits by."""

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Handler:
        """Answer by the verb that is asked; NotFound if there is none for that kind."""
        verb = self.verbs.get(operation.asked)
        if verb is None or not _has_subresource(operation.plural, operation.subresource):
            raise NotFound("the server could not find the requested resource")
        return verb(self.calls(self, operation, caller, now_ms))

    def completed(self, item: Object) -> Object:
        """An object that the scenario starts with, as if it had been created here before."""
        if isinstance(item, Pod):
            item = priority.initial(item, self.all_stored(PriorityClass))
            if self.switches.default_tolerations:
                item = tolerations.tolerating(item)
        return rules.initial(item)  # type: ignore[no-any-return]

    # -- footprints -----------------------------------------------------------------------------

    def may(self, operation: Operation, caller: str = "") -> Footprint:
        """What a request may touch: the object that it names, and others that its verb looks at."""
        plain = super().may(operation, caller)
        if operation.verb in READS:
            found = Footprint(reads=frozenset({operation.key} if operation.verb == "get" else ()))
            if operation.verb == "watch" and self.has_dropped(operation.plural):
                found |= Footprint(frozenset({LOG, HISTORY}), frozenset({HISTORY}))
            return plain | found | self.lagging(operation.plural)
        if operation.verb == "deletecollection":
            listed = Footprint(reads=self._view(operation)) | self.lagging(operation.plural)
            return plain | listed | self.writing(operation.plural, operation.selector.namespace)
        if operation.verb == "create" and not operation.name:
            plain |= _named_by_server(self, operation, caller)
        if operation.options.get("how") == "apply":
            return plain | _may_make(self, operation, caller)
        return plain | _looks_at(self, operation)


def _named_by_server(server: ApiServer, operation: Operation, caller: str) -> Footprint:
    """The object whose name the server will generate."""
    body = operation.body
    if not isinstance(body, Object) or not body.meta.generate_name:
        return NOTHING
    key = frozenset({body.with_meta(name=server.next_name(body.meta, caller)).key})
    return Footprint(key, key)


def _may_make(server: ApiServer, operation: Operation, caller: str) -> Footprint:
    """What an apply looks at or changes beside its object, which it may have to make."""
    body = operation.body
    spec = body.get("spec") if isinstance(body, Mapping) else None
    name = spec.get("priorityClassName") if isinstance(spec, Mapping) else None
    named = {key_of(PriorityClass, name)} if isinstance(name, str) and name else frozenset()
    own = Footprint(frozenset(named), frozenset({f"uids:{creator_of(server.name, caller)}"}))
    making = attrs.evolve(operation, verb="create")
    return own | _looks_at(server, making) | _looks_at(server, operation)


@lru_cache(1024)
def _has_subresource(plural: str, subresource: str) -> bool:
    """Whether the kind is known and has the subresource: some have a status or a scale, and only
    pods are bound and evicted."""
    if not subresource or plural not in PLURALS:
        return plural in PLURALS
    if subresource == "status":
        return hasattr(kind_by_plural(plural), "status")
    if subresource == "scale":
        return plural in scaling.SCALED
    return plural == Pod.plural


def _looks_at(server: ApiServer, operation: Operation) -> Footprint:
    """The other objects that a write looks at or changes."""
    within = operation.namespace
    match operation.asked, operation.plural:
        case "create/eviction", _:
            budgets = "poddisruptionbudgets"
            return server.reading(budgets, within) | server.writing(budgets, within)
        case "create/binding", _ if server.switches.bind_checks_room:
            return server.reading("pods") | server.reading("nodes")
        case "create", "pods":
            named = Footprint(reads=frozenset(_class_named(operation.body)))
            looked_at = server.reading("priorityclasses") | server.reading("resourcequotas", within)
            return named | looked_at | server.writing("resourcequotas", within)
        case "create" | "update" | "patch", "priorityclasses":
            return server.reading("priorityclasses")
    return NOTHING


def _class_named(body: object) -> list[str]:
    """The key of the PriorityClass that a new pod names, whether that exists or not."""
    name = body.spec.priority_class_name if isinstance(body, Pod) else ""
    return [key_of(PriorityClass, name)] if name else []
