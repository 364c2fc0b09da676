"""Scale: reads and changes how many pods a workload is to have, and nothing else of it (API-67)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from actors.apiserver.call import Call, invalid
from actors.apiserver.validation import NEGATIVE
from actors.apiserver.verbs.create import check_is_named
from actors.apiserver.verbs.update import patched_by, revise
from testbed.errors import BadRequest
from testbed.objects import LabelSelector, Meta, Scale, ScaleSpec, ScaleStatus
from testbed.store.endpoint import Handler

SCALED = ("deployments", "replicasets", "replicationcontrollers", "statefulsets")
"""What has a scale."""


def read(call: Call) -> Handler:
    """The scale of the workload as it is now."""
    return scale_of(call.current())
    yield


def update(call: Call) -> Handler:
    """Replace the scale, if the workload is still at the revision that its caller has read."""
    body = call.operation.body
    if not isinstance(body, Scale):
        raise BadRequest(f"{call.operation}: expected a Scale as its body, found {body!r}")
    check_is_named(call, body)
    return (yield from _rescale(call, lambda scale: body))


def patch(call: Call) -> Handler:
    """Apply a patch to the scale as it is now."""
    if call.options.get("how") == "apply":
        raise BadRequest(f"{call.operation}: a scale cannot be applied here; apply the workload")
    return (yield from _rescale(call, lambda scale: patched_by(call, scale)))


def _rescale(call: Call, made_of: Callable[[Scale], Any]) -> Handler:
    item = yield from revise(call, lambda old: _scaled(old, made_of(scale_of(old))))
    return scale_of(item)


def _scaled(old: Any, scale: Scale) -> Any:
    """The workload with that scale."""
    replicas = scale.spec.replicas
    if replicas < 0:
        wrong = f"Invalid value: {replicas}: {NEGATIVE}"
        raise invalid(Scale, old.meta.name, "spec.replicas", wrong)
    new = attrs.evolve(old, spec=attrs.evolve(old.spec, replicas=replicas))
    return new.with_meta(uid=scale.meta.uid, revision=scale.meta.revision)


def scale_of(item: Any) -> Scale:
    """How many pods a workload is to have, and has."""
    meta, spec = item.meta, item.spec
    selector = spec.selector or LabelSelector()
    if not isinstance(selector, LabelSelector):
        selector = LabelSelector(selector)
    return Scale(
        Meta(meta.name, meta.namespace, meta.uid, meta.revision, meta.created_ms),
        ScaleSpec(1 if spec.replicas is None else spec.replicas),
        ScaleStatus(item.status.replicas, selector.line),
    )
