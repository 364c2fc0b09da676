"""Ranking: which pod is evicted first (KUB-32, KUB-33)."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from actors.kubelet.eviction.signals import PIDS, PodUse
from actors.kubelet.switches import SEED_PCT
from testbed.objects import requests_of

Key = tuple[int | Fraction, ...]


def ranked(pods: Iterable[PodUse], resource: str, how: str) -> list[PodUse]:
    """The pods in the order in which they are evicted; equal ones as they came."""
    return sorted(pods, key=lambda each: key_of(each, resource, how))


def key_of(each: PodUse, resource: str, how: str) -> Key:
    """The place of a pod: the smaller the earlier. A pod without statistics is first."""
    priority = each.pod.priority
    if resource == PIDS:
        return (priority, 0 if each.used is None else 1, -used_of(each, resource))
    if each.used is None:
        return (0, 0, priority, 0)
    excess = used_of(each, resource) - asked_of(each, resource)
    if how == SEED_PCT:
        return (1, priority, *_ratio(each, resource))
    return (1, 0 if excess > 0 else 1, priority, -excess)


def exceeds(each: PodUse, resource: str) -> bool:
    """Whether a pod uses more than it requests, or nothing is known of it."""
    return each.used is None or used_of(each, resource) > asked_of(each, resource)


def used_of(each: PodUse, resource: str) -> int:
    """How much of a resource a pod uses; 0 if nothing is known of it."""
    return 0 if each.used is None else each.used.get(resource, 0)


def asked_of(each: PodUse, resource: str) -> int:
    """How much of a resource a pod requests."""
    return requests_of(each.pod).get(resource, 0)


def _ratio(each: PodUse, resource: str) -> Key:
    """By the ratio of usage to request, larger ones first; without a request it is infinite."""
    asked = asked_of(each, resource)
    return (1, -Fraction(used_of(each, resource), asked)) if asked else (0, 0)
