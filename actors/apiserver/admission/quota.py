"""Quota: what a new pod takes is charged before the pod itself is committed (PRI-20 to PRI-23).

Each quota is charged by a commit of its own, and the pod by a later one: so what is charged and
then fails, since its name is taken or its server goes away, stays charged until the quota
controller counts again. A quota that has changed since this server read of it is looked at again;
one that it only reads of late may so refuse a pod by a Conflict that its creator did not cause.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from actors.apiserver.call import MODIFIED, Call, conflict, not_found
from testbed.errors import ApiError, Conflict, NotFound
from testbed.objects import Map, Pod, Quantity, ResourceQuota, ScopedRequirement, charge
from testbed.store.endpoint import BETWEEN, Handler

AGAIN_MAX = 3
"""How often a quota that has changed is looked at again."""
MUST_SAY = ("cpu", "limits.cpu", "limits.memory", "memory", "requests.cpu", "requests.memory")
"""What a container must say how much of it wants, where a quota counts that."""


def admit(call: Call, pod: Pod) -> Handler:
    """1. Read the quotas of its namespace. 2. Refuse it, if one has not enough left, or none is
    about what only some may. 3. Charge each; try again with those that have changed."""
    quotas = _read(call, pod)
    pertinent = list(_pertinent(call, pod, quotas))
    _check_limited(call, pod, quotas)
    for tries in range(AGAIN_MAX + 1):
        failed: dict[str, ApiError] = {}
        has_committed = False
        charged = [_charged(call, pod, quota) for quota in pertinent]
        for quota in [new for new, old in zip(charged, pertinent, strict=True) if new != old]:
            if has_committed:
                yield BETWEEN
            try:
                _commit(call, quota)
                has_committed = True
            except (Conflict, NotFound) as error:
                failed[quota.key] = error
        if not failed:
            break
        if tries == AGAIN_MAX:
            raise failed[max(failed)]
        yield BETWEEN
        again = [quota for quota in _read(call, pod) if quota.key in failed]
        pertinent = list(_pertinent(call, pod, again))
    if quotas:
        yield BETWEEN


def _read(call: Call, pod: Pod) -> list[ResourceQuota]:
    """The quotas of its namespace as this server knows them; if it knows of none, as they are."""
    server, namespace = call.server, pod.meta.namespace
    known = server.all_read(ResourceQuota, namespace) or server.all_there(ResourceQuota, namespace)
    return [server.newest(quota) for quota in known]


def _pertinent(call: Call, pod: Pod, quotas: Iterable[ResourceQuota]) -> Iterator[ResourceQuota]:
    """Those that count this pod; Forbidden if one cannot."""
    for quota in quotas:
        name, status = quota.meta.name, quota.status
        names = charge.charged(status.hard)
        if not names or not charge.counts(quota, pod):
            continue
        if missing := _missing(pod, names):
            raise call.forbidden(f"failed quota: {name}: must specify {missing}")
        if any(each not in status.used for each in names):
            said = f"status unknown for quota: {name}, resources: {','.join(names)}"
            raise call.forbidden(said)
        yield quota


def _missing(pod: Pod, names: Iterable[str]) -> str:
    """Which of these its containers must say and do not: `limits.cpu for: a,b; memory for: a`."""
    wanted = [name for name in names if name in MUST_SAY]
    silent: dict[str, set[str]] = {}
    for container in (*pod.spec.containers, *pod.spec.init_containers):
        for name in charge.missing_in(container, wanted):
            silent.setdefault(name, set()).add(container.name)
    return "; ".join(f"{name} for: {','.join(sorted(silent[name]))}" for name in sorted(silent))


def _check_limited(call: Call, pod: Pod, quotas: Iterable[ResourceQuota]) -> None:
    """Forbidden if it is such as only a quota may let in, and none is about that (PRI-23)."""
    met = [each for quota in quotas for each in charge.scopes_of(quota) if charge.meets(pod, each)]
    covered = {each.scope_name for each in met}
    left = [
        each
        for each in call.server.limited
        if charge.meets(pod, each) and each.scope_name not in covered
    ]
    if left:
        said = " ".join(map(_shown, left))
        raise call.forbidden(f"insufficient quota to match these scopes: [{said}]")


def _charged(call: Call, pod: Pod, quota: ResourceQuota) -> ResourceQuota:
    """The quota with what the pod takes of it; Forbidden if that is more than is left (PRI-22)."""
    status = quota.status
    taken = charge.only(charge.charge_of(pod, call.now_ms), charge.charged(status.hard))
    asked = Map({name: amount for name, amount in taken.items() if amount})
    used = charge.plus(status.used, asked)
    over = [name for name in asked if used[name].nano > status.hard[name].nano]
    if over:
        raise call.forbidden(
            f"exceeded quota: {quota.meta.name}, requested: {_told(asked, over)}, "
            f"used: {_told(status.used, over)}, limited: {_told(status.hard, over)}"
        )
    return attrs.evolve(quota, status=attrs.evolve(status, used=used))


def _commit(call: Call, quota: ResourceQuota) -> None:
    """Write it, if it still is what was read; Conflict, NotFound."""
    there = call.stands_at(quota.key)
    if there is None:
        raise not_found(ResourceQuota, quota.meta.name)
    if there.meta.revision != quota.meta.revision:
        raise conflict(ResourceQuota, quota.meta.name, MODIFIED)
    call.server.remember(call.put(quota))


def _told(amounts: Map[Quantity], names: Iterable[str]) -> str:
    return ",".join(f"{name}={amounts[name]}" for name in sorted(names))


def _shown(scope: ScopedRequirement) -> str:
    return f"{{{scope.scope_name} {scope.operator} [{' '.join(scope.values)}]}}"
