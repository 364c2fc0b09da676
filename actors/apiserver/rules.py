"""Rules: what the server sets, keeps and refuses of each kind, whichever verb writes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from actors.apiserver.call import kind_of_message
from actors.apiserver.names import wrong_in_labels, wrong_in_name
from testbed.errors import Invalid
from testbed.objects import (
    Container,
    Map,
    Object,
    Pod,
    PodDisruptionBudget,
    PodDisruptionBudgetStatus,
    PodSpec,
    PodStatus,
    PriorityClass,
    Resources,
    qos_of,
)
from testbed.objects.priority import PREEMPT

COUNTED = ("daemonsets", "jobs", "poddisruptionbudgets", "priorityclasses", "replicasets")
"""Kinds whose generation counts what is wanted of them; a pod's does not, in 1.26 (API-17)."""
CONDITIONAL = ("leases", "poddisruptionbudgets")
"""Kinds that nobody may update without the revision he has read (API-12)."""
GRACEFUL = ("pods",)
"""Kinds that are given time to end (API-31)."""
KEEPS_STATUS = ("nodes",)
"""Kinds that may be created with a status."""
NOT_COUNTED = PodDisruptionBudgetStatus()
GRACE_S = 30
"""How long a pod has to end if it does not say."""
IMMUTABLE = (
    "pod updates may not change fields other than `spec.containers[*].image`, "
    "`spec.initContainers[*].image`, `spec.activeDeadlineSeconds`, `spec.tolerations` (only "
    "additions to existing tolerations) or `spec.terminationGracePeriodSeconds` (allow it to be "
    "set to 1 if it was previously negative)"
)


def refuse(kind: type[Object], name: str, field: str, why: str) -> Invalid:
    """The refusal of an object that cannot be: `Pod "p" is invalid: metadata.name: …`."""
    return Invalid(f'{kind_of_message(kind)} "{name}" is invalid: {field}: {why}')


def complete(item: Any) -> Any:
    """The object with the server's defaults where it says nothing."""
    if isinstance(item, PriorityClass) and not item.preemption_policy:
        return attrs.evolve(item, preemption_policy=PREEMPT)
    return attrs.evolve(item, spec=_complete(item.spec)) if isinstance(item, Pod) else item


def begin(item: Any) -> Any:
    """The object as it may be created: no status but the server's own, generation 1 (API-16)."""
    counted = 1 if item.plural in COUNTED else 0
    item = item.with_meta(generation=counted, deleted_ms=None, grace_s=None)
    if isinstance(item, Pod):
        return _with_status(item, PodStatus("Pending", qos_class=qos_of(item.spec)), None)
    if hasattr(item, "status") and item.plural not in KEEPS_STATUS:
        blank = attrs.fields_dict(type(item))["status"].default
        return _with_status(item, blank, None)
    return item


def standing(item: Any) -> Any:
    """An object that has been there before anything moves: begun and completed once, and what has
    become of it since is kept."""
    item = complete(item)
    if item.plural in COUNTED and not item.meta.generation:
        item = item.with_meta(generation=1)
    if isinstance(item, PodDisruptionBudget) and not item.status.observed_generation:
        # Whoever gives it a status has counted for the spec that he gives with it.
        counted = attrs.evolve(item.status, observed_generation=item.meta.generation)
        item = item if item.status == NOT_COUNTED else attrs.evolve(item, status=counted)
    if not isinstance(item, Pod):
        return item
    phase, qos_class = item.status.phase or "Pending", item.status.qos_class or qos_of(item.spec)
    return attrs.evolve(item, status=attrs.evolve(item.status, phase=phase, qos_class=qos_class))


def check(item: Object) -> None:
    """Invalid if there can be no such object."""
    kind, meta = type(item), item.meta
    if wrong := wrong_in_name(meta.name):
        raise refuse(kind, meta.name, "metadata.name", f'Invalid value: "{meta.name}": {wrong}')
    if wrong := wrong_in_labels(meta.labels):
        raise refuse(kind, meta.name, "metadata.labels", wrong)
    if isinstance(item, Pod) and not item.spec.containers:
        raise refuse(kind, meta.name, "spec.containers", "Required value")


def check_finalizers(new: Any, old: Any) -> None:
    """Invalid if a write would hold what is to go already."""
    added = sorted({*new.meta.finalizers} - {*old.meta.finalizers})
    if added and old.meta.is_terminating:
        found = ", ".join(f'"{name}"' for name in added)
        raise refuse(
            type(old), old.meta.name, "metadata.finalizers",
            "Forbidden: no new finalizers can be added if the object is being deleted, found new "
            f"finalizers []string{{{found}}}",
        )  # fmt: skip


def check_change(new: Any, old: Any) -> None:
    """Invalid if what is may not become that (API-14)."""
    if not isinstance(new, Pod):
        return
    allowed = _allowed(new.spec, old.spec)
    if attrs.evolve(new.spec, **allowed) != attrs.evolve(old.spec, **allowed) or (
        new.extra.get("spec") != old.extra.get("spec")
    ):
        raise refuse(Pod, old.meta.name, "spec", f"Forbidden: {IMMUTABLE}")


def merged(new: Any, old: Any, subresource: str) -> Any:
    """What a write may change of an object, and the rest as it was (API-15).

    The object's own writes leave its status, those of its status leave all but that and its
    labels and annotations; identity, age and deletion are the server's.
    """
    mine, theirs = new.meta, old.meta
    meta = attrs.evolve(
        mine, name=theirs.name, namespace=theirs.namespace, uid=theirs.uid,
        created_ms=theirs.created_ms, deleted_ms=theirs.deleted_ms, grace_s=theirs.grace_s,
        generation=theirs.generation, generate_name=theirs.generate_name,
    )  # fmt: skip
    if subresource != "status":
        new = attrs.evolve(new, meta=meta)
        if not hasattr(old, "status"):
            return new
        new = _with_status(new, old.status, old.extra.get("status"))
        if old.plural in COUNTED and new.spec != old.spec:
            new = new.with_meta(generation=theirs.generation + 1)
        return new
    meta = attrs.evolve(meta, owners=theirs.owners)
    status = new.status
    if isinstance(old, Pod):
        status = attrs.evolve(status, qos_class=old.status.qos_class)
    extra = Map({**old.extra, **{k: v for k, v in new.extra.items() if k == "metadata"}})
    kept = attrs.evolve(old, meta=meta, extra=extra)
    return _with_status(kept, status, new.extra.get("status"))


def _with_status(item: Any, status: Any, extra: Mapping[str, Any] | None) -> Any:
    left = {name: value for name, value in item.extra.items() if name != "status"}
    if extra:
        left["status"] = extra
    return attrs.evolve(item, status=status, extra=Map(left))


def _complete(spec: PodSpec) -> PodSpec:
    return attrs.evolve(
        spec,
        scheduler_name=spec.scheduler_name or "default-scheduler",
        restart_policy=spec.restart_policy or "Always",
        grace_s=GRACE_S if spec.grace_s is None else spec.grace_s,
        containers=tuple(map(_asking, spec.containers)),
        init_containers=tuple(map(_asking, spec.init_containers)),
    )


def _asking(container: Container) -> Container:
    """One that asks for what it is limited to, where it does not say."""
    requests, limits = container.resources.requests, container.resources.limits
    if all(name in requests for name in limits):
        return container
    return attrs.evolve(container, resources=Resources(Map({**limits, **requests}), limits))


def _allowed(new: PodSpec, old: PodSpec) -> dict[str, Any]:
    """Those fields that changed as they may, as they are now."""
    allowed: dict[str, Any] = {}
    for name in ("containers", "init_containers"):
        mine, theirs = getattr(new, name), getattr(old, name)
        if len(mine) == len(theirs) and all(
            attrs.evolve(one, image="") == attrs.evolve(other, image="")
            for one, other in zip(mine, theirs, strict=True)
        ):
            allowed[name] = mine
    deadline, was = new.active_deadline_s, old.active_deadline_s
    if deadline is not None and deadline >= 0 and (was is None or deadline <= was):
        allowed["active_deadline_s"] = deadline
    tolerated = [attrs.evolve(each, toleration_seconds=None) for each in new.tolerations]
    if all(attrs.evolve(e, toleration_seconds=None) in tolerated for e in old.tolerations):
        allowed["tolerations"] = new.tolerations
    if old.grace_s is not None and old.grace_s < 0 and new.grace_s == 1:
        allowed["grace_s"] = 1
    if all(gate in old.scheduling_gates for gate in new.scheduling_gates):
        allowed["scheduling_gates"] = new.scheduling_gates
    return allowed
