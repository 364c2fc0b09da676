"""Every kind of object: found by its names, and written with the names Kubernetes gives it."""

from __future__ import annotations

from typing import Any

import pytest

from testbed.errors import UnknownName
from testbed.objects import (
    KINDS,
    DeleteOptions,
    Event,
    Eviction,
    LabelSelector,
    Lease,
    Meta,
    Object,
    Pod,
    PodDisruptionBudget,
    Reference,
    ReplicaSet,
    ResourceQuota,
    Revision,
    kind_by_plural,
    kind_of,
    reference_to,
)
from testbed.objects.event import from_group, to_group
from testbed.objects.form import from_tree, to_tree
from tests.each_row import each_row

AT = "2025-01-01T00:00:07Z"
FINE = "2025-01-01T00:00:07.250000Z"
POD_REF = {"kind": "Pod", "name": "p", "namespace": "x", "uid": "u", "resourceVersion": "9"}
SELECTOR = {"matchLabels": {"app": "web"}}
TEMPLATE = {
    "metadata": {"labels": {"app": "web"}, "finalizers": ["a/b"]},
    "spec": {"containers": [{"name": "main"}], "restartPolicy": "Never"},
}
CONDITION = {"type": "T", "status": "True", "reason": "R", "lastTransitionTime": AT}

TREES: dict[str, dict[str, Any]] = {
    "v1 Event": {
        "involvedObject": {**POD_REF, "apiVersion": "v1", "fieldPath": "spec.containers{main}"},
        "reason": "Preempted",
        "message": "by c",
        "source": {"component": "scheduler", "host": "h"},
        "firstTimestamp": AT,
        "lastTimestamp": AT,
        "count": 2,
        "type": "Warning",
        "eventTime": FINE,
        "series": {"count": 3, "lastObservedTime": FINE},
        "action": "Preempting",
        "related": {"kind": "Pod", "name": "c"},
        "reportingComponent": "scheduler",
        "reportingInstance": "scheduler-1",
    },
    "coordination.k8s.io/v1 Lease": {
        "spec": {
            "holderIdentity": "a",
            "leaseDurationSeconds": 15,
            "acquireTime": FINE,
            "renewTime": FINE,
            "leaseTransitions": 0,
        }
    },
    "apps/v1 ReplicaSet": {
        "spec": {
            "replicas": 0,
            "minReadySeconds": 1,
            "selector": SELECTOR,
            "template": TEMPLATE,
        },
        "status": {
            "replicas": 0,
            "fullyLabeledReplicas": 1,
            "readyReplicas": 1,
            "availableReplicas": 1,
            "observedGeneration": 1,
            "conditions": [CONDITION],
        },
    },
    "v1 ResourceQuota": {
        "spec": {
            "hard": {"pods": "10", "requests.cpu": "1500m"},
            "scopes": ["NotTerminating"],
            "scopeSelector": {
                "matchExpressions": [
                    {"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}
                ]
            },
        },
        "status": {"hard": {"pods": "10"}, "used": {"pods": "0"}},
    },
}


def whole(cls: type[Object]) -> dict[str, Any]:
    """A tree that says all of a kind's own fields."""
    name = f"{cls.api_version} {cls.kind}"
    meta = {"name": "a", "namespace": "x"} if cls.is_namespaced else {"name": "a"}
    return {"apiVersion": cls.api_version, "kind": cls.kind, "metadata": meta, **TREES[name]}


@each_row("cls", KINDS, ids=lambda cls: cls.kind)
def test_an_object_of_which_nothing_is_said_says_little(cls: type[Object]) -> None:
    """No spec, no status: what is unset is not written, but for what clients cannot do without."""
    bare = to_tree(cls(Meta("a", "x")))
    always = {"Event", "Binding", "PriorityClass", "Scale"}
    assert (set(bare) == {"apiVersion", "kind", "metadata"}) == (cls.kind not in always)
    assert from_tree(cls, bare) == cls(Meta("a", "x"))


@each_row("cls", KINDS, ids=lambda cls: cls.kind)
def test_a_kind_is_found_by_its_names(cls: type[Object]) -> None:
    """By those of a manifest, and by that of a URL; no two kinds share one."""
    assert kind_of(cls.api_version, cls.kind) is cls
    assert kind_by_plural(cls.plural) is cls
    assert len({kind.plural for kind in KINDS}) == len(KINDS)


def test_an_unknown_kind_is_told_with_the_nearest() -> None:
    """And all there are; the version is part of the name."""
    with pytest.raises(UnknownName, match="Did you mean 'pods'") as raised:
        kind_by_plural("pod")
    assert str(raised.value).splitlines()[-1].startswith("Next: ")
    with pytest.raises(UnknownName, match="Did you mean 'policy/v1 PodDisruptionBudget'"):
        kind_of("policy/v1beta1", "PodDisruptionBudget")


@pytest.mark.spec("API-47")
def test_a_budget_without_a_selector_is_not_one_with_an_empty_one() -> None:
    """Both are kept as they were said."""
    for selector, said in ((None, {}), (LabelSelector(), {"selector": {}})):
        tree = {"metadata": {"name": "b"}, "spec": {"minAvailable": "50%", **said}}
        budget = from_tree(PodDisruptionBudget, tree)
        assert budget.spec.selector == selector
        assert to_tree(budget)["spec"] == tree["spec"]


@pytest.mark.spec("API-47")
def test_a_budget_covers_pods_of_its_namespace_that_it_selects() -> None:
    """None at all if it asks for nothing."""
    web, budget = Meta("p", "x", labels={"app": "web"}), PodDisruptionBudget("x/b")
    mine = from_tree(
        PodDisruptionBudget,
        {"metadata": {"name": "b", "namespace": "x"}, "spec": {"selector": SELECTOR}},
    )
    assert mine.covers(web)
    assert mine.covers(Pod(web))
    assert not mine.covers(Meta("p", "y", labels={"app": "web"}))
    assert not mine.covers(Meta("p", "x"))
    empty = from_tree(
        PodDisruptionBudget,
        {"metadata": {"name": "b", "namespace": "x"}, "spec": {"selector": {}}},
    )
    assert not empty.covers(web)
    assert not budget.covers(web)


def test_quantities_and_labels_may_be_given_as_a_test_writes_them() -> None:
    """A quota's amounts as texts, a template's labels as a mapping."""
    quota = from_tree(ResourceQuota, whole(ResourceQuota))
    assert quota.spec.hard["requests.cpu"].milli == 1500
    assert from_tree(ReplicaSet, whole(ReplicaSet)).spec.template.meta.labels == {"app": "web"}


def test_a_lease_keeps_the_fraction_of_its_times() -> None:
    """To the millisecond; other kinds keep whole seconds."""
    assert from_tree(Lease, whole(Lease)).spec.renewed_ms == 7250
    assert from_tree(Event, whole(Event)).first_ms == 7000


def test_an_event_goes_under_two_sets_of_names() -> None:
    """Those of `events.k8s.io/v1` are the same Event, there and back."""
    core = whole(Event)
    newer = to_group(core)
    assert newer["apiVersion"] == "events.k8s.io/v1"
    assert (newer["regarding"], newer["note"]) == (core["involvedObject"], "by c")
    assert not {"involvedObject", "message", "source", "count", "firstTimestamp"} & set(newer)
    assert from_group(newer) == core


def test_an_object_is_named_by_what_is_known_of_it() -> None:
    """Its kind, its name, its uid and its revision."""
    pod = Pod(Meta("p", "x", uid="u", revision=Revision(9)))
    assert to_tree(reference_to(pod)) == {**POD_REF, "apiVersion": "v1"}
    assert from_tree(Reference, POD_REF).revision == Revision(9)


@pytest.mark.spec("API-23")
def test_no_grace_is_not_a_grace_of_zero() -> None:
    """To delete at once is said; to say nothing leaves it to the object."""
    for tree, grace_s in (({}, None), ({"gracePeriodSeconds": 0}, 0)):
        body = {"apiVersion": "v1", "kind": "DeleteOptions", **tree}
        assert from_tree(DeleteOptions, body).grace_s == grace_s
        assert to_tree(from_tree(DeleteOptions, body)) == tree
    bare = from_tree(Eviction, {"metadata": {"name": "p"}})
    assert bare.delete_options is None
    told = from_tree(Eviction, {"metadata": {"name": "p"}, "deleteOptions": {}})
    assert told.delete_options == DeleteOptions()
