"""Quota: charges a new pod to the quotas of its namespace (PRI-20 to PRI-23)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from actors.apiserver.call import MODIFIED, Call, conflict, not_found
from testbed.errors import ApiError, Conflict, NotFound
from testbed.objects import Map, Pod, Quantity, ResourceQuota, ScopedRequirement, charge
from testbed.store.endpoint import BETWEEN, Handler

AGAIN_MAX = 3
"""How often a quota is tried again after a conflict."""
MUST_SAY = ("cpu", "limits.cpu", "limits.memory", "memory", "requests.cpu", "requests.memory")
"""Resources that a container must give an amount of, if a quota counts them."""


def admit(call: Call, pod: Pod) -> Handler:
    """1. Read the quotas of the namespace from the cache. 2. Refuse the pod if one has not enough
    left, or if it is `limited` and no quota covers it. 3. Charge each quota; try again with those
    that met a conflict."""
    # The pod is charged before it is committed, each quota by its own commit: the other way round,
    # two creates at once could both fit, and together exceed the quota. The price is that a charge
    # may stay without its pod, when the create then fails or the server crashes, until the quota
    # controller counts again. And a cache that lags may show an old quota four times, so that the
    # pod is refused by a Conflict that its creator has not caused.
    quotas = _read(call, pod)
    pertinent = list(_pertinent(call, pod, quotas)) if quotas else []
    if call.server.limited:
        _check_limited(call, pod, quotas)
    if not quotas:
        return
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
    yield BETWEEN


def _read(call: Call, pod: Pod) -> list[ResourceQuota]:
    """The quotas of the pod's namespace in the cache; those of the Store if the cache has none."""
    # As in Kubernetes, an empty cache is not trusted, since a quota may just have been created; and
    # a quota that this server has itself charged is taken as it wrote it. Otherwise a cache that
    # lags would refuse each pod that follows another closely.
    server, namespace = call.server, pod.meta.namespace
    known = server.all_cached(ResourceQuota, namespace) or server.all_stored(
        ResourceQuota, namespace
    )
    return [server.newest(quota) for quota in known]


def _pertinent(call: Call, pod: Pod, quotas: Iterable[ResourceQuota]) -> Iterator[ResourceQuota]:
    """The quotas that count this pod; Forbidden if one of them cannot."""
    for quota in quotas:
        name, status = quota.meta.name, quota.status
        names = charge.charged(status.hard)
        if not names or not charge.counts(quota, pod):
            continue
        if missing := _missing(pod, names):
            raise call.forbidden(f"failed quota: {name}: must specify {missing}")
        if any(each not in status.used for each in names):
            why = f"status unknown for quota: {name}, resources: {','.join(names)}"
            raise call.forbidden(why)
        yield quota


def _missing(pod: Pod, names: Iterable[str]) -> str:
    """The amounts that containers must give and do not: `limits.cpu for: a,b; memory for: a`."""
    wanted = [name for name in names if name in MUST_SAY]
    silent: dict[str, set[str]] = {}
    for container in (*pod.spec.containers, *pod.spec.init_containers):
        for name in charge.missing_in(container, wanted):
            silent.setdefault(name, set()).add(container.name)
    return "; ".join(f"{name} for: {','.join(sorted(silent[name]))}" for name in sorted(silent))


def _check_limited(call: Call, pod: Pod, quotas: Iterable[ResourceQuota]) -> None:
    """Raise Forbidden if the pod is `limited` by a scope that no quota covers (PRI-23)."""
    met = [each for quota in quotas for each in charge.scopes_of(quota) if charge.meets(pod, each)]
    covered = {each.scope_name for each in met}
    left = [
        each
        for each in call.server.limited
        if charge.meets(pod, each) and each.scope_name not in covered
    ]
    if left:
        scopes = " ".join(map(_scope_text, left))
        raise call.forbidden(f"insufficient quota to match these scopes: [{scopes}]")


def _charged(call: Call, pod: Pod, quota: ResourceQuota) -> ResourceQuota:
    """The quota after the pod is charged to it; Forbidden if that exceeds it (PRI-22)."""
    status = quota.status
    taken = charge.only(charge.charge_of(pod, call.now_ms), charge.charged(status.hard))
    asked = Map({name: amount for name, amount in taken.items() if amount})
    used = charge.plus(status.used, asked)
    over = [name for name in asked if used[name].nano > status.hard[name].nano]
    if over:
        raise call.forbidden(
            f"exceeded quota: {quota.meta.name}, requested: {_amounts_text(asked, over)}, "
            f"used: {_amounts_text(status.used, over)}, "
            f"limited: {_amounts_text(status.hard, over)}"
        )
    return attrs.evolve(quota, status=attrs.evolve(status, used=used))


def _commit(call: Call, quota: ResourceQuota) -> None:
    """Write the quota; Conflict if it has changed since it was read, NotFound if it is gone."""
    there = call.current_at(quota.key)
    if there is None:
        raise not_found(ResourceQuota, quota.meta.name)
    if there.meta.revision != quota.meta.revision:
        raise conflict(ResourceQuota, quota.meta.name, MODIFIED)
    call.server.remember(call.put(quota))


def _amounts_text(amounts: Map[Quantity], names: Iterable[str]) -> str:
    return ",".join(f"{name}={amounts[name]}" for name in sorted(names))


def _scope_text(scope: ScopedRequirement) -> str:
    return f"{{{scope.scope_name} {scope.operator} [{' '.join(scope.values)}]}}"
