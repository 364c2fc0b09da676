"""Revision: the ReplicaSet of a Deployment's template, and how it is found and made."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import attrs

from actors.controllers.frame.owned import owner_reference
from testbed.objects import (
    Deployment,
    LabelSelector,
    Map,
    Meta,
    PodTemplate,
    ReplicaSet,
    ReplicaSetSpec,
)
from testbed.objects.codec import encode
from testbed.objects.form import to_tree
from testbed.objects.meta import evolved

HASH = "pod-template-hash"
"""The label by which the pods of one ReplicaSet differ from those of its siblings."""
REVISION = "deployment.kubernetes.io/revision"
LETTERS = "bcdfghjklmnpqrstvwxz2456789"
"""No vowels, so that a hash spells no word."""
LENGTH = 10


def hash_of(template: PodTemplate, collisions: int = 0) -> str:
    """A short name for a template. Kubernetes' own hash is another one; only that equal templates
    have equal names counts. `collisions` gives the same template another name."""
    text = encode(to_tree(template)) + str(collisions or "").encode()
    number = int.from_bytes(hashlib.sha256(text).digest()[:8])
    letters = []
    for _ in range(LENGTH):
        number, at = divmod(number, len(LETTERS))
        letters.append(LETTERS[at])
    return "".join(letters)


def bare(template: PodTemplate) -> PodTemplate:
    """The template without the label that its ReplicaSet has added."""
    if HASH not in template.meta.labels:
        return template
    labels = {name: value for name, value in template.meta.labels.items() if name != HASH}
    return evolved(template, meta=evolved(template.meta, labels=Map(labels)))


def by_age(sets: Iterable[ReplicaSet]) -> list[ReplicaSet]:
    """The ReplicaSets, the oldest first; of those of one second, by name."""
    return sorted(sets, key=lambda each: (each.meta.created_ms or 0, each.meta.name))


def newest_of(item: Deployment, sets: Iterable[ReplicaSet]) -> ReplicaSet | None:
    """The ReplicaSet of the template as it is now; the oldest, if there are several."""
    template = bare(item.spec.template)
    return next((each for each in by_age(sets) if bare(each.spec.template) == template), None)


def revision_of(item: ReplicaSet | Deployment) -> int:
    """Its number among the revisions; 0 if it has none."""
    text = item.meta.annotations.get(REVISION, "")
    return int(text) if text.isascii() and text.isdecimal() else 0


def new_set(item: Deployment, replicas: int) -> ReplicaSet:
    """A new ReplicaSet of the template as it is now."""
    meta, spec = item.meta, item.spec
    name = hash_of(bare(spec.template), item.status.collision_count or 0)
    selector = spec.selector or LabelSelector()
    template = spec.template
    labels = template.meta.labels.having(**{HASH: name})
    return ReplicaSet(
        Meta(f"{meta.name}-{name}", meta.namespace, labels=labels, owners=(owner_reference(item),)),
        spec=ReplicaSetSpec(
            replicas,
            spec.min_ready_s,
            attrs.evolve(selector, match_labels=selector.match_labels.having(**{HASH: name})),
            attrs.evolve(template, meta=attrs.evolve(template.meta, labels=labels)),
        ),
    )
