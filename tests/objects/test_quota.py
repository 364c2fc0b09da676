"""Quota admission: what a new pod is charged, when, and how it is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import pytest

from testbed.errors import ApiError, Conflict, Forbidden
from testbed.objects import (
    Container,
    Map,
    Pod,
    PodSpec,
    PriorityClass,
    QuotaSpec,
    QuotaStatus,
    ResourceQuota,
    Resources,
    ScopedRequirement,
    ScopeSelector,
)
from testbed.store.endpoint import Handler, Operation
from tests.models.counter import Counter, finish, refusal, step
from tests.shared.cursors import catch_up

HIGH = ScopedRequirement("PriorityClass", "In", ("high",))


def quota(
    hard: Mapping[str, Any],
    used: Mapping[str, Any] | None = None,
    *scopes: ScopedRequirement,
    name: str = "q",
) -> ResourceQuota:
    """A quota that was counted; of nothing used, if that is not said."""
    spec = QuotaSpec(Map(hard), scope_selector=ScopeSelector(scopes) if scopes else None)
    told = Map(dict.fromkeys(hard, 0)) if used is None else Map(used)
    return ResourceQuota(name, spec=spec, status=QuotaStatus(Map(hard), told))


def counter_of(*quotas: ResourceQuota, **settings: Any) -> Counter:
    """A server that has these quotas, and the classes `high` and `low`."""
    counter = Counter(**settings)
    for item in quotas:
        counter.create(item)
        counter.patch(item, status_of(item), subresource="status")
    for name, value in (("high", 1000), ("low", 1)):
        counter.create(PriorityClass(name, value=value))
    return counter


def status_of(item: ResourceQuota) -> dict[str, Any]:
    """A patch that sets what is counted of it."""
    told = {
        which: {name: str(amount) for name, amount in getattr(item.status, which).items()}
        for which in ("hard", "used")
    }
    return {"status": told}


def used(counter: Counter, name: str = "q") -> dict[str, str]:
    """What its status says is taken."""
    item = counter.get(ResourceQuota, name)
    return {resource: str(amount) for resource, amount in item.status.used.items()}


def begin(counter: Counter, pod: Pod) -> Handler:
    """The handler of its create, past the look at its class."""
    handler = counter.begin(Operation("create", "pods", pod.meta.name, pod.meta.namespace, pod))
    step(handler)
    return handler


def refused(counter: Counter, pod: Pod) -> tuple[int, str, str]:
    """How it is refused; nothing has been written."""
    before = counter.store.revision
    with pytest.raises(ApiError) as caught:
        counter.create(pod)
    assert counter.store.revision == before
    return refusal(caught.value)


# -- charging -------------------------------------------------------------------------------------


@pytest.mark.spec("PRI-22", "PRI-21")
def test_a_new_pod_is_charged_to_the_quotas_that_count_it() -> None:
    """Of what each of them tracks, and no other; how much is left of nothing that is not asked."""
    counter = counter_of(
        quota({"requests.cpu": "1", "pods": 2}, name="a"),
        quota({"count/pods": 9, "services": 1}, {"count/pods": 3, "services": 1}, name="b"),
        quota({"pods": 5}, None, HIGH, name="c"),
    )
    counter.create(Pod.of("p", cpu_m=400))
    assert used(counter, "a") == {"requests.cpu": "400m", "pods": "1"}
    assert used(counter, "b") == {"count/pods": "4", "services": "1"}
    assert used(counter, "c") == {"pods": "0"}
    counter.create(Pod.of("q", cpu_m=600, priority_class_name="high"))
    assert (used(counter, "a")["requests.cpu"], used(counter, "c")["pods"]) == ("1", "1")


@pytest.mark.spec("PRI-22")
def test_a_pod_that_takes_more_than_is_left_is_refused() -> None:
    """With what is exceeded and nothing else, by name; what just fits is let in."""
    counter = counter_of(
        quota(
            {"requests.cpu": "1", "memory": "1Gi", "pods": 2},
            {"requests.cpu": "400m", "memory": "512Mi", "pods": 1},
        )
    )
    assert refused(counter, Pod.of("p", cpu_m=700, memory=2**30)) == (
        403, "Forbidden",
        'pods "p" is forbidden: exceeded quota: q, requested: memory=1Gi,requests.cpu=700m, used: '
        "memory=512Mi,requests.cpu=400m, limited: memory=1Gi,requests.cpu=1",
    )  # fmt: skip
    counter.create(Pod.of("p", cpu_m=600, memory=2**29))
    assert used(counter) == {"requests.cpu": "1", "memory": "1Gi", "pods": "2"}
    said = "exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2"
    assert refused(counter, Pod.of("r", cpu_m=0, memory=0))[2] == f'pods "r" is forbidden: {said}'


@pytest.mark.spec("PRI-22")
def test_where_cpu_or_memory_is_counted_every_container_must_say_how_much() -> None:
    """By the names the quota uses, with the containers that are silent; a limit stands for a
    request; of storage nobody must speak."""
    tracked = ("requests.cpu", "limits.memory", "memory", "ephemeral-storage")
    counter = counter_of(quota(dict.fromkeys(tracked, "1Ti")))

    def container(name: str, *limited: str) -> Container:
        return Container(name, resources=Resources(limits=Map(dict.fromkeys(limited, "1"))))

    silent = Pod("p", spec=PodSpec(
        containers=(container("b", "cpu", "memory"), container("a", "cpu")),
        init_containers=(container("i"),),
    ))  # fmt: skip
    assert refused(counter, silent) == (
        403, "Forbidden",
        'pods "p" is forbidden: failed quota: q: must specify limits.memory for: a,i; memory for: '
        "a,i; requests.cpu for: i",
    )  # fmt: skip
    counter.create(Pod("p", spec=PodSpec(containers=(container("b", "cpu", "memory"),))))


@pytest.mark.spec("PRI-22")
def test_a_quota_that_was_not_counted_lets_nobody_in() -> None:
    """If its controller has copied the limits but not counted yet; before that it limits no pod."""
    new = quota({"pods": 1, "requests.cpu": 1}, {"pods": 0})
    said = "status unknown for quota: q, resources: pods,requests.cpu"
    assert refused(counter_of(new), Pod.of("p", cpu_m=1))[2] == f'pods "p" is forbidden: {said}'
    counter = Counter()
    counter.create(new)
    counter.create(Pod("p", spec=PodSpec(containers=(Container("c"),))))


# -- when -----------------------------------------------------------------------------------------


@pytest.mark.spec("PRI-22", "API-18")
def test_two_pods_never_take_the_same_last_place() -> None:
    """The second create sees what the first has used, however late it began."""
    counter = counter_of(quota({"pods": 1}))
    handlers = [begin(counter, Pod.of(name)) for name in ("p", "r")]
    step(handlers[1])
    with pytest.raises(Forbidden, match="exceeded quota"):
        step(handlers[0])
    assert finish(handlers[1]).meta.name == "r"


@pytest.mark.spec("PRI-22", "API-18")
def test_a_quota_that_changes_between_two_commits_is_looked_at_again() -> None:
    """Of two quotas the first is charged; another pod uses some of the second, which is charged
    with what is used by then, or the pod is refused, and the first stays charged."""
    for left, outcome in ((2, ""), (1, "exceeded quota: b")):
        counter = counter_of(quota({"pods": 5}, name="a"), quota({"pods": left}, name="b"))
        handler = begin(counter, Pod.of("p"))
        step(handler)
        taken = attrs.evolve(counter.get(ResourceQuota, "b"), status=QuotaStatus(
            Map(pods=left), Map(pods=1)))  # fmt: skip
        counter.update(taken, "status")
        if outcome:
            with pytest.raises(Forbidden, match=outcome):
                finish(handler)
        else:
            finish(handler)
        assert (used(counter, "a")["pods"], used(counter, "b")["pods"]) == ("1", str(left))


@pytest.mark.spec("PRI-22")
def test_a_quota_that_is_gone_between_two_commits_charges_nobody() -> None:
    """What was deleted is passed over."""
    counter = counter_of(quota({"pods": 5}, name="a"), quota({"pods": 5}, name="b"))
    handler = begin(counter, Pod.of("p"))
    step(handler)
    counter.delete(counter.get(ResourceQuota, "b"))
    assert finish(handler).meta.name == "p"


# -- a server that lags ---------------------------------------------------------------------------


@pytest.mark.spec("PRI-22")
def test_a_server_remembers_what_it_has_charged_itself() -> None:
    """Before it has read of it: pod after pod is charged, and what is left is never overdrawn."""
    counter = counter_of(quota({"pods": 2}), lags=("resourcequotas",))
    catch_up(counter.server.cursor("resourcequotas"))
    counter.create(Pod.of("p"))
    counter.create(Pod.of("r"))
    assert "exceeded quota" in refused(counter, Pod.of("s"))[2]
    counter.server.restart()
    catch_up(counter.server.cursor("resourcequotas"))
    assert used(counter) == {"pods": "2"}


@pytest.mark.spec("PRI-22")
def test_a_pod_is_refused_by_a_conflict_it_did_not_cause() -> None:
    """Another server has charged the quota, and this one does not read of it in four tries; once
    it has, the pod is let in."""
    counter = counter_of(quota({"pods": 5}), lags=("resourcequotas",))
    cursor = counter.server.cursor("resourcequotas")
    catch_up(cursor)
    Counter(counter.store, "other").create(Pod.of("p"))
    handler = begin(counter, Pod.of("r"))
    for _ in range(3):
        step(handler)
    with pytest.raises(Conflict, match=r'on resourcequotas "q": the object has been modified'):
        step(handler)
    late = begin(counter, Pod.of("r"))
    step(late)
    catch_up(cursor)
    assert finish(late).meta.name == "r"
    assert used(counter) == {"pods": "2"}


# -- limited scopes -------------------------------------------------------------------------------


@pytest.mark.spec("PRI-23")
def test_what_is_limited_needs_a_quota_that_is_about_it() -> None:
    """A pod of that class is refused where no quota asks for classes; others are let in."""
    counter = counter_of(quota({"pods": 9}), limited=(HIGH,))
    assert refused(counter, Pod.of("p", priority_class_name="high")) == (
        403, "Forbidden",
        'pods "p" is forbidden: insufficient quota to match these scopes: [{PriorityClass In '
        "[high]}]",
    )  # fmt: skip
    counter.create(Pod.of("p", priority_class_name="low"))
    counter.create(Pod.of("r"))


@pytest.mark.spec("PRI-23", "PRI-20")
def test_a_quota_about_classes_lets_in_what_it_counts() -> None:
    """And it is charged; one that is about another class does not cover it."""
    low = ScopedRequirement("PriorityClass", "In", ("low",))
    counter = counter_of(quota({"pods": 9}, None, low, name="a"), limited=(HIGH,))
    pod = Pod.of("p", priority_class_name="high")
    assert refused(counter, pod)[0] == 403
    covering = quota({"pods": 1}, None, HIGH, name="b")
    counter.create(covering)
    counter.patch(covering, status_of(covering), subresource="status")
    counter.create(pod)
    assert (used(counter, "a"), used(counter, "b")) == ({"pods": "0"}, {"pods": "1"})
    again = Pod.of("r", priority_class_name="high")
    assert "exceeded quota: b" in refused(counter, again)[2]


@pytest.mark.spec("PRI-23")
def test_every_limit_that_is_not_covered_is_told() -> None:
    """In the order they were set, as Kubernetes writes them."""
    limits = (
        ScopedRequirement("BestEffort", "Exists"),
        ScopedRequirement("PriorityClass", "In", ("high", "low")),
    )
    counter = counter_of(limited=limits)
    said = "insufficient quota to match these scopes: "
    pod = Pod.of("p", priority_class_name="low")
    assert refused(counter, pod)[2] == (
        f'pods "p" is forbidden: {said}[{{BestEffort Exists []}} {{PriorityClass In [high low]}}]'
    )
    counter.create(Pod.of("p", cpu_m=1))
