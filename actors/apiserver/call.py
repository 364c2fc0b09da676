"""Call: one request as the verbs see it: what is asked, when, and the Store behind."""

from __future__ import annotations

from typing import Any

import attrs

from actors.apiserver.memory import BareServer
from testbed.errors import Conflict, Forbidden, Invalid, NotFound
from testbed.objects import Map, Object, Revision
from testbed.objects.kinds import kind_by_plural
from testbed.store.endpoint import Operation

MODIFIED = (
    "the object has been modified; please apply your changes to the latest version and try again"
)


@attrs.frozen
class Call:
    """One request: the Operation, who asks, when it was begun, and the server that answers."""

    server: BareServer
    operation: Operation
    caller: str
    now_ms: int

    @property
    def kind(self) -> type[Object]:
        """The kind it is about."""
        return kind_by_plural(self.operation.plural)

    @property
    def options(self) -> Map[Any]:
        """What else the verb was told."""
        return self.operation.options

    @property
    def resource(self) -> str:
        """Its kind as the messages have it: `pods`, `poddisruptionbudgets.policy`."""
        return resource_of(self.kind)

    def found(self) -> Any:
        """The object it names, as it is now; NotFound."""
        item = self.stands_at(self.operation.key)
        if item is None:
            raise self.not_found()
        return item

    def stands_at(self, key: str) -> Any:
        """The object at a key, as it is now; None."""
        entry = self.server.store.get(key)
        return None if entry is None else entry.value

    def not_found(self) -> NotFound:
        """The refusal for an object that is not there."""
        return not_found(self.kind, self.operation.name)

    def conflict(self, why: str) -> Conflict:
        """The refusal for an object that is not as its caller believes."""
        operation = self.operation
        return conflict(self.kind, operation.name, why, operation.subresource)

    def forbidden(self, why: str) -> Forbidden:
        """The refusal of admission; a name that the server has made is not known to it yet."""
        body = self.operation.body
        named = self.operation.name or (body.meta.generate_name if isinstance(body, Object) else "")
        return Forbidden(f'{self.resource} "{named}" is forbidden: {why}')

    def put(self, item: Any) -> Any:
        """Commit it, and tell it with its new revision."""
        store = self.server.store
        revision = Revision(store.revision + 1)
        if item.meta.revision != revision:
            item = item.with_meta(revision=revision)
        store.put(item.key, item)
        return item

    def remove(self, item: Object) -> None:
        """Commit that it is gone."""
        self.server.store.delete(item.key)


def not_found(kind: type[Object], name: str) -> NotFound:
    """The refusal for any object that is not there."""
    return NotFound(f'{resource_of(kind)} "{name}" not found')


def conflict(kind: type[Object], name: str, why: str, subresource: str = "") -> Conflict:
    """The refusal for any object that is not as somebody believes."""
    what = f"{resource_of(kind)}/{subresource}" if subresource else resource_of(kind)
    return Conflict(f'Operation cannot be fulfilled on {what} "{name}": {why}')


def invalid(kind: type[Object], name: str, field: str, why: str) -> Invalid:
    """The refusal of an object that cannot be: `Pod "p" is invalid: metadata.name: …`."""
    return Invalid(f'{kind_of_message(kind)} "{name}" is invalid: {field}: {why}')


def resource_of(kind: type[Object]) -> str:
    """A kind as the messages have it: `pods`, `poddisruptionbudgets.policy`."""
    group, slash, _ = kind.api_version.partition("/")
    return f"{kind.plural}.{group}" if slash else kind.plural


def kind_of_message(kind: type[Object]) -> str:
    """A kind as validation has it: `Pod`, `PodDisruptionBudget.policy`."""
    group, slash, _ = kind.api_version.partition("/")
    return f"{kind.kind}.{group}" if slash else kind.kind
