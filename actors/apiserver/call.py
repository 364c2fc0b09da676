"""Call: one request as the verbs see it, and the words in which it is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from actors.apiserver.bare_server import BareServer
from testbed.errors import Conflict, Forbidden, Invalid, NotFound
from testbed.objects import Map, Object
from testbed.objects.kinds import kind_by_plural
from testbed.objects.meta import Numbered, evolved, text_of
from testbed.store.endpoint import Operation

MODIFIED = (
    "the object has been modified; please apply your changes to the latest version and try again"
)


# It is made for each request, and setting the fields of a frozen object is most of its cost.
@attrs.define(eq=False)
class Call:
    """One request: the server that answers, the Operation, the actor that asks, and the time."""

    server: BareServer
    operation: Operation
    caller: str
    now_ms: int

    @property
    def kind(self) -> type[Object]:
        """The kind of object that it names."""
        return kind_by_plural(self.operation.plural)

    @property
    def options(self) -> Map[Any]:
        """The options of the Operation."""
        return self.operation.options

    @property
    def resource(self) -> str:
        """Its kind as messages name it: `pods`, `poddisruptionbudgets.policy`."""
        return resource_of(self.kind)

    def current(self) -> Any:
        """The object that it names, as it is now; NotFound if there is none."""
        item = self.current_at(self.operation.key)
        if item is None:
            raise self.not_found()
        return item

    def current_at(self, key: str) -> Any:
        """The object at `key`, as it is now, or None."""
        entry = self.server.store.get(key)
        return None if entry is None else entry.value

    def not_found(self) -> NotFound:
        """The refusal if the object it names does not exist."""
        return not_found(self.kind, self.operation.name)

    def conflict(self, why: str | Numbered) -> Conflict:
        """The refusal if the object it names is not as its caller believes."""
        operation = self.operation
        return conflict(self.kind, operation.name, why, operation.subresource)

    def forbidden(self, why: str) -> Forbidden:
        """The refusal by admission."""
        # Kubernetes has not generated the name yet when admission refuses an object, so the
        # message names the prefix.
        body = self.operation.body
        named = self.operation.name or (body.meta.generate_name if isinstance(body, Object) else "")
        return Forbidden(f'{self.resource} "{named}" is forbidden: {why}')

    def put(self, item: Any) -> Any:
        """Commit an object; returns it with its new revision."""
        store, meta = self.server.store, item.meta
        revision = store.next_revision
        if text_of(meta.revision) != text_of(revision):
            item = evolved(item, meta=evolved(meta, revision=revision))
        store.put(item.key, item)
        return item

    def remove(self, item: Object) -> None:
        """Commit that an object is deleted."""
        self.server.store.delete(item.key)


def not_found(kind: type[Object], name: str) -> NotFound:
    """The refusal of any object that does not exist."""
    return NotFound(f'{resource_of(kind)} "{name}" not found')


def conflict(kind: type[Object], name: str, why: str | Numbered, subresource: str = "") -> Conflict:
    """The refusal of any object that is not as its caller believes."""
    what = f"{resource_of(kind)}/{subresource}" if subresource else resource_of(kind)
    said = f'Operation cannot be fulfilled on {what} "{name}": {text_of(why)}'
    return Conflict(Numbered(said) if isinstance(why, Numbered) else said)


def invalid(kind: type[Object], name: str, field: str, why: str) -> Invalid:
    """The refusal of an object that cannot be: `Pod "p" is invalid: metadata.name: …`."""
    return Invalid(f'{kind_of_message(kind)} "{name}" is invalid: {field}: {why}')


def all_invalid(kind: type[Object], name: str, wrongs: Sequence[str]) -> Invalid:
    """The same, with a line for each field that is wrong."""
    said = wrongs[0] if len(wrongs) == 1 else f"[{', '.join(wrongs)}]"
    return Invalid(f'{kind_of_message(kind)} "{name}" is invalid: {said}')


def resource_of(kind: type[Object]) -> str:
    """A kind as most messages name it: `pods`, `poddisruptionbudgets.policy`."""
    group, slash, _ = kind.api_version.partition("/")
    return f"{kind.plural}.{group}" if slash else kind.plural


def kind_of_message(kind: type[Object]) -> str:
    """A kind as messages of validation name it: `Pod`, `PodDisruptionBudget.policy`."""
    group, slash, _ = kind.api_version.partition("/")
    return f"{kind.kind}.{group}" if slash else kind.kind
