"""Create, update, patch and bind: what the server names, keeps, refuses and lets pass."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.apiserver.admission.tolerations import tolerating
from testbed.errors import AlreadyExists, BadRequest, Conflict, InternalError, Invalid, NotFound
from testbed.objects import (
    Binding,
    Condition,
    Container,
    LabelSelector,
    Map,
    Meta,
    Node,
    Owner,
    Pod,
    PodDisruptionBudget,
    PodStatus,
    Resources,
    Revision,
    Target,
    Toleration,
)
from testbed.objects.disruption_budget import PodDisruptionBudgetSpec
from testbed.objects.form import from_tree
from testbed.objects.pod import SchedulingGate
from testbed.objects.quantity import amounts
from testbed.store.endpoint import Operation
from tests.each_row import each_row
from tests.models.counter import Counter, about, with_meta


def budget(name: str = "b", **spec: Any) -> PodDisruptionBudget:
    """A budget of disruptions."""
    return PodDisruptionBudget(name, spec=PodDisruptionBudgetSpec(**spec))


# -- create -------------------------------------------------------------------------------------


@pytest.mark.spec("API-2", "API-3")
def test_identity_is_the_servers_to_give() -> None:
    """uid, age and revision are its own, whatever the client says; a later object of the same name
    has another uid; every commit counts one on, deletions too."""
    counter = Counter()
    counter.now_s = 7
    mine = attrs.evolve(Pod.of("p"), meta=Meta("p", uid="mine", created_ms=1, generation=9))
    first = counter.create(mine)
    assert (first.meta.created_ms, first.meta.generation) == (7000, 0)
    assert first.meta.uid != "mine"
    assert first.meta.revision == counter.now
    before = counter.store.revision
    counter.delete(first)
    assert counter.create(mine).meta.uid != first.meta.uid
    assert counter.store.revision == before + 3
    kept = counter.update(with_meta(counter.get(Pod, "p"), uid="", created_ms=5, labels=Map(a="b")))
    assert (kept.meta.created_ms, kept.meta.labels) == (7000, {"a": "b"})


@pytest.mark.spec("API-8")
def test_nothing_is_created_twice_nor_with_a_revision() -> None:
    """409, and whether the one that is there is on its way out; a revision makes no sense."""
    counter = Counter()
    pod = counter.bound("p")
    with pytest.raises(AlreadyExists, match=r'^pods "p" already exists$'):
        counter.create(Pod.of("p"))
    counter.delete(pod)
    with pytest.raises(AlreadyExists, match=r'^object is being deleted: pods "p" already exists$'):
        counter.create(Pod.of("p"))
    with pytest.raises(InternalError, match="resourceVersion should not be set"):
        counter.create(with_meta(Pod.of("q"), revision=Revision(7)))
    counter.create(with_meta(Pod.of("q"), revision=Revision(0)))


@pytest.mark.spec("API-9")
def test_the_server_makes_a_name_of_the_beginning_of_one() -> None:
    """Five letters that make no word, the same ones for the same creator and count, others for any
    other; a beginning that is too long is cut; a name that is taken is taken."""

    def names(caller: str, uid: str = "") -> list[str]:
        counter = Counter()
        owners = (Owner("apps/v1", "ReplicaSet", "r", uid),) if uid else ()
        meta = Meta("", generate_name="web-", owners=owners)
        pods = [counter.create(attrs.evolve(Pod.of(""), meta=meta), caller) for _ in range(3)]
        return [pod.meta.name for pod in pods]

    assert names("a") == names("a")
    assert len({*names("a"), *names("b"), *names("a", "u"), *names("a", "v")}) == 12
    assert all(set(name[4:]) <= set("bcdfghjklmnpqrstvwxz2456789") for name in names("a"))
    counter = Counter()
    long = counter.create(attrs.evolve(Pod.of(""), meta=Meta("", generate_name="x" * 80)))
    assert len(long.meta.name) == 63
    taken = Counter()
    taken.create(Pod.of(names("a")[0]))
    with pytest.raises(AlreadyExists):
        taken.create(attrs.evolve(Pod.of(""), meta=Meta("", generate_name="web-")), "a")
    with pytest.raises(Invalid, match="name or generateName is required"):
        taken.create(Pod.of(""))


@pytest.mark.spec("API-10")
@each_row(
    ("name", "labels", "said"),
    [
        ("Upper", {}, 'metadata.name: Invalid value: "Upper": a lowercase RFC 1123 subdomain'),
        ("-p", {}, "RFC 1123"),
        ("p" * 254, {}, "no more than 253"),
        ("p", {"a" * 64: ""}, "metadata.labels: .*no more than 63"),
        ("p", {"a": "b" * 64}, "metadata.labels: .*no more than 63"),
        ("p", {"": "b"}, "name part must consist"),
        ("p", {"UPPER.example/a": "b"}, "prefix part"),
        ("p", {"a": "-"}, "a valid label must be"),
    ],
)
def test_names_and_labels_are_what_the_wire_can_carry(
    name: str, labels: dict[str, str], said: str
) -> None:
    """422 for the first that is not, with what was expected."""
    with pytest.raises(Invalid, match=rf'^Pod "{name}" is invalid: .*{said}'):
        Counter().create(Pod.of(name, labels=labels))
    Counter().create(Pod.of("p.q-1", labels={"example.com/a": "B_1.x", "c": ""}))


@pytest.mark.spec("API-10")
def test_no_write_gives_a_name_that_cannot_be() -> None:
    """Of whatever verb and subresource it is."""
    counter = Counter()
    pod = counter.create(Pod.of("p"))
    odd = {"metadata": {"labels": {"a": "b\n"}}}
    for how, subresource in (("merge", ""), ("strategic", "status"), ("merge", "status")):
        with pytest.raises(Invalid, match=r'^Pod "p" is invalid: metadata.labels: .*"b\\n": a v'):
            counter.patch(pod, odd, how, subresource)
    with pytest.raises(Invalid, match=r"metadata.finalizers\[0\]: .* name part must consist"):
        counter.update(with_meta(pod, finalizers=("a\nb",)))
    with pytest.raises(Invalid, match=r"spec.nodeName: Invalid value: \"../..\": a lowercase RFC"):
        counter.bind(pod, "../..")
    assert counter.get(Pod, "p").is_as(pod)


@pytest.mark.spec("API-16", "GEN-13")
def test_a_pod_begins_pending_whatever_its_client_says() -> None:
    """Its status is the server's: Pending, and its quality of service, which never changes."""
    counter = Counter()
    limits = amounts({"cpu": "1", "memory": "1Gi"})
    pod = Pod("p", spec=attrs.evolve(Pod.of("p").spec, containers=(
        Container("c", resources=Resources(limits=limits)),
    )), status=PodStatus("Running", qos_class="BestEffort"))  # fmt: skip
    made = counter.create(pod)
    assert made.status == PodStatus("Pending", qos_class="Guaranteed")
    assert made.spec.containers[0].resources.requests == limits
    later = counter.update(attrs.evolve(made, status=PodStatus("Running", qos_class="x")), "status")
    assert later.status == PodStatus("Running", qos_class="Guaranteed")


def test_what_a_pod_does_not_say_the_server_does() -> None:
    """Its scheduler, what becomes of its containers, how long it may take to end."""
    spec = Counter().create(Pod.of("p")).spec
    assert (spec.scheduler_name, spec.restart_policy, spec.grace_s) == (
        "default-scheduler", "Always", 30,
    )  # fmt: skip
    with pytest.raises(Invalid, match=r"spec.containers: Required value"):
        Counter().create(Pod("p"))


@each_row(
    ("operation", "said"),
    [
        (Operation("create", "pods", "p", "default", Node("p")), "expected a Pod as its body"),
        (Operation("create", "pods", "p", "other", Pod.of("p")), "namespace of the provided"),
        (Operation("create", "pods", "q", "default", Pod.of("p")), r"\(p\) does not match .*\(q\)"),
        (Operation("create", "pods", "q", "default", 7, subresource="binding"), "a Binding"),
        (Operation("patch", "pods", "p", "default", 7), "a patch is a mapping"),
        (
            Operation("patch", "pods", "p", "default", Map(), options=Map(how="own")),
            "there is no patch of the kind 'own'",
        ),
    ],
)
def test_a_request_that_does_not_fit_together_is_a_bad_one(operation: Any, said: str) -> None:
    """400, before anything is looked at."""
    counter = Counter()
    counter.create(Pod.of("p"))
    with pytest.raises(BadRequest, match=said):
        counter.ask(operation)


def test_what_is_not_there_cannot_be_asked() -> None:
    """A verb, a subresource, an object: 404."""
    counter = Counter()
    for operation in (
        about("freeze", Pod, "p"),
        about("update", Pod, "p", subresource="scale"),
        about("get", Pod, "p"),
        about("delete", Pod, "p"),
    ):
        with pytest.raises(NotFound):
            counter.ask(operation)
    with pytest.raises(NotFound, match=r'^poddisruptionbudgets.policy "b" not found$'):
        counter.get(PodDisruptionBudget, "b")


# -- update -------------------------------------------------------------------------------------


@pytest.mark.spec("API-11", "API-12", "API-18")
def test_an_update_is_of_what_was_read() -> None:
    """An older revision: 409. None: the last writer wins, but for kinds that want to be read
    first. Another uid: 409."""
    counter = Counter()
    old = counter.create(Pod.of("p"))
    counter.update(with_meta(old, labels=Map(a="1")))
    with pytest.raises(
        Conflict, match=r'^Operation cannot be fulfilled on pods "p": the object has'
    ):
        counter.update(with_meta(old, labels=Map(a="2")))
    with pytest.raises(Conflict, match=r'^Operation cannot be fulfilled on pods "p": the object'):
        counter.update(old, "status")
    assert counter.update(with_meta(old, revision=Revision())).meta.labels == {}
    with pytest.raises(Conflict, match="UID in precondition: x, UID in object meta"):
        counter.update(with_meta(old, revision=Revision(), uid="x"))
    made = counter.create(budget(min_available=1))
    counter.update(with_meta(made, labels=Map(a="1")))
    with pytest.raises(Invalid, match="must be specified for an update"):
        counter.update(with_meta(made, revision=Revision()))


@pytest.mark.spec("API-15")
def test_spec_and_status_are_written_apart() -> None:
    """The object's own write leaves its status; a status write leaves its spec, owners and
    deletion; each keeps what it has no field for on its own side."""
    counter = Counter()
    pod = counter.create(attrs.evolve(Pod.of("p"), extra=Map(spec=Map(hostNetwork=True))))
    pod = counter.patch(pod, {"status": {"phase": "Running", "hostIP": "1"}}, subresource="status")
    owner = (Owner("v1", "Pod", "o", "u"),)
    both = attrs.evolve(
        with_meta(pod, labels=Map(a="b"), owners=owner), status=PodStatus("Failed"),
        spec=attrs.evolve(pod.spec, tolerations=(*pod.spec.tolerations, Toleration("k"))),
        extra=Map(spec=Map(hostNetwork=True), status=Map(hostIP="2")),
    )  # fmt: skip
    mine = counter.update(both)
    assert (mine.status, mine.extra["status"]) == (pod.status, {"hostIP": "1"})
    assert (mine.meta.owners, len(mine.spec.tolerations)) == (owner, 3)
    theirs = counter.update(
        attrs.evolve(
            with_meta(mine, owners=()), status=PodStatus("Failed"), spec=Pod.of("p").spec,
            extra=Map(status=Map(hostIP="2")),
        ),
        "status",
    )  # fmt: skip
    assert (theirs.status.phase, theirs.extra["status"]) == ("Failed", {"hostIP": "2"})
    assert (theirs.spec, theirs.meta.owners) == (mine.spec, owner)
    assert theirs.extra["spec"] == {"hostNetwork": True}


@pytest.mark.spec("API-17")
def test_generation_counts_what_is_wanted() -> None:
    """Of kinds that count it: 1 at first, one more for each other spec and for being deleted, none
    for a label or a status; a pod's stays 0."""
    counter = Counter()
    made = counter.create(budget(min_available=1))
    assert made.meta.generation == 1
    made = counter.update(with_meta(made, labels=Map(a="b"), finalizers=("f",)))
    assert made.meta.generation == 1
    made = counter.update(attrs.evolve(made, spec=budget(min_available=2).spec))
    assert made.meta.generation == 2
    assert counter.delete(made).meta.generation == 3
    assert counter.bound("p").meta.generation == 0


GATED = Pod.of("p", scheduling_gates=(SchedulingGate("g"), SchedulingGate("h")), grace_s=-1)


@pytest.mark.spec("API-14")
@each_row(
    ("change", "is_allowed"),
    [
        ({"node_name": "n1"}, False),
        ({"priority": 5}, False),
        ({"priority_class_name": "high"}, False),
        ({"preemption_policy": "Never"}, False),
        ({"scheduler_name": "other"}, False),
        ({"containers": Pod.of("p", cpu_m=1).spec.containers}, False),
        ({"containers": (attrs.evolve(GATED.spec.containers[0], image="i"),)}, True),
        ({"active_deadline_s": 9}, True),
        ({"active_deadline_s": 11}, False),
        ({"active_deadline_s": None}, False),
        ({"tolerations": (Toleration("a"), Toleration("b"))}, True),
        ({"tolerations": (Toleration("b"),)}, False),
        ({"grace_s": 1}, True),
        ({"grace_s": 2}, False),
        ({"scheduling_gates": (SchedulingGate("h"),)}, True),
        ({"scheduling_gates": (SchedulingGate("i"),)}, False),
    ],
)
def test_a_pod_stays_what_it_was_made(change: dict[str, Any], is_allowed: bool) -> None:
    """Of its spec only images, a shorter deadline, more tolerations, fewer gates may be set."""
    counter = Counter()
    spec = attrs.evolve(GATED.spec, tolerations=(Toleration("a"),), active_deadline_s=10)
    made = counter.create(attrs.evolve(GATED, spec=spec))
    changed = attrs.evolve(made, spec=attrs.evolve(made.spec, **change))
    if is_allowed:
        assert counter.update(changed).spec == tolerating(changed).spec
    else:
        with pytest.raises(Invalid, match=r'^Pod "p" is invalid: spec: Forbidden: pod updates may'):
            counter.update(changed)
    hidden = attrs.evolve(counter.get(Pod, "p"), extra=Map(spec=Map(hostNetwork=True)))
    with pytest.raises(Invalid):
        counter.update(hidden)


@pytest.mark.spec("API-30")
@each_row("subresource", ["", "status"])
def test_what_is_to_go_gets_no_new_finalizers(subresource: str) -> None:
    """No finalizer can be added to a terminating object; those it has may be removed."""
    counter = Counter()
    pod = counter.create(with_meta(Pod.of("p"), finalizers=("a",)))
    counter.delete(pod)
    pod = counter.get(Pod, "p")
    with pytest.raises(Invalid, match=r'no new finalizers can be added .* \[\]string{"b"}'):
        counter.update(with_meta(pod, finalizers=("a", "b")), subresource)


def test_how_long_a_taint_is_put_up_with_may_change() -> None:
    """As the one thing of a toleration that may."""
    counter = Counter()
    pod = counter.create(Pod.of("p", tolerations=(Toleration("k", "Exists", "", "NoExecute", 5),)))
    longer = (Toleration("k", "Exists", "", "NoExecute", 9), *pod.spec.tolerations[1:])
    changed = attrs.evolve(pod, spec=attrs.evolve(pod.spec, tolerations=longer))
    assert counter.update(changed).spec.tolerations == longer
    with pytest.raises(Invalid):
        counter.patch(pod, {"spec": {"activeDeadlineSeconds": -1}})


# -- patch --------------------------------------------------------------------------------------


@pytest.mark.spec("API-13")
def test_a_patch_is_of_what_is_now() -> None:
    """It loses no concurrent change of another field and may overwrite one of the same; only if it
    names a revision or a uid itself can it conflict."""
    counter = Counter()
    old = counter.create(Pod.of("p", labels={"a": "1", "b": "1"}))
    counter.patch(old, {"metadata": {"labels": {"a": "2"}}})
    after = counter.patch(old, {"metadata": {"labels": {"b": None, "c": "1"}}})
    assert after.meta.labels == {"a": "2", "c": "1"}
    for said in ({"resourceVersion": str(old.meta.revision)}, {"uid": "x"}):
        with pytest.raises(Conflict):
            counter.patch(old, {"metadata": {**said, "labels": {"a": "3"}}})
    now = {"resourceVersion": str(after.meta.revision), "uid": old.meta.uid}
    assert counter.patch(old, {"metadata": {**now, "labels": {"a": "3"}}}).meta.labels["a"] == "3"


def test_a_patch_that_makes_no_object_is_refused_with_its_place() -> None:
    """422, and which field was to be what."""
    counter = Counter()
    pod = counter.create(Pod.of("p"))
    with pytest.raises(Invalid, match=r"spec.tolerations: .*expected a list, found 7"):
        counter.patch(pod, {"spec": {"tolerations": 7}})
    with pytest.raises(BadRequest, match="an item of the patch has no type"):
        counter.patch(pod, {"status": {"conditions": [{"status": "True"}]}}, "strategic", "status")


@each_row(
    ("status", "said"),
    [
        ({"conditions": {"a": []}, "$setElementOrder/conditions": []}, "conditions: expected a li"),
        ({"conditions": False, "$setElementOrder/conditions": []}, "conditions: expected a list"),
        (
            {"conditions": [], "$setElementOrder/conditions": 7},
            r"\$setElementOrder/cond",
        ),
        (
            {"conditions": [], "$deleteFromPrimitiveList/conditions": 7},
            r"\$deleteFromPrimitiveList",
        ),
        ({"phase": "x", "$deleteFromPrimitiveList/phase": ["x"]}, "phase: expected a list"),
        ({"phase": "x", "$retainKeys": 7}, r"\$retainKeys: expected a list"),
        ({"phase": "x", "$retainKeys": [{}]}, r"\$retainKeys does not name each field"),
    ],
)
def test_a_directive_that_fits_no_list_is_refused(status: dict[str, Any], said: str) -> None:
    """As any other patch that makes no sense: the server goes on."""
    counter = Counter()
    pod = counter.create(Pod.of("p"))
    with pytest.raises(BadRequest, match=said):
        counter.patch(pod, {"status": status}, "strategic", "status")
    assert counter.patch(pod, {"status": {"phase": "Running"}}, "strategic", "status").status.phase


def test_conditions_are_merged_by_their_type() -> None:
    """As the scheduler patches them; with `merge` the list is replaced. `$setElementOrder` is
    understood, `$patch: delete` takes one away, `$patch: replace` all."""
    counter = Counter()
    pod = counter.create(Pod.of("p"))

    def patched(how: str, *conditions: Any, **more: Any) -> list[tuple[str, str]]:
        tree = {"status": {"conditions": list(conditions), **more}}
        status = counter.patch(pod, tree, how, "status").status
        return [(each.type, each.message) for each in status.conditions]

    patched("strategic", {"type": "A", "status": "True", "message": "1"})
    assert patched("strategic", {"type": "B", "status": "True"}) == [("A", "1"), ("B", "")]
    order = {"$setElementOrder/conditions": [{"type": "B"}, {"type": "A"}]}
    assert patched("strategic", {"type": "A", "message": "2"}, **order) == [("B", ""), ("A", "2")]
    assert patched("strategic", {"type": "B", "$patch": "delete"}) == [("A", "2")]
    assert patched("strategic", {"$patch": "replace"}, {"type": "C"}) == [("C", "")]
    assert patched("merge", {"type": "D", "status": "True"}) == [("D", "")]


STATUSES = st.fixed_dictionaries(
    {},
    optional={
        "phase": st.none() | st.sampled_from(["Running", "", "Failed"]),
        "nominatedNodeName": st.none() | st.just("n1"),
        "hostIP": st.none() | st.sampled_from(["1", "2"]),
        "conditions": st.lists(
            st.fixed_dictionaries(
                {"type": st.sampled_from("AB"), "status": st.just("True")},
                optional={"note": st.just("x")},
            ),
            max_size=2,
        ),
    },
)


@given(st.lists(st.tuples(STATUSES, st.sampled_from(["merge", "strategic"])), max_size=4))
def test_a_status_alone_is_patched_as_a_whole_object_is(changes: list[tuple[Any, str]]) -> None:
    """What is said of nothing but the status takes a shorter way to the same end."""
    short, long = Counter(), Counter()
    pods = [counter.create(Pod.of("p")) for counter in (short, long)]
    for status, how in changes:
        one = short.patch(pods[0], {"status": status}, how, "status")
        other = long.patch(pods[1], {"status": status, "metadata": {}}, how, "status")
        assert (one.status, one.extra) == (other.status, other.extra)
        assert short.now == long.now


def test_finalizers_are_merged_as_a_set() -> None:
    """One is added and another removed, although a third was added in between."""
    counter = Counter()
    pod = counter.create(with_meta(Pod.of("p"), finalizers=("a", "b")))
    tree = {"metadata": {"finalizers": ["c", "a"], "$deleteFromPrimitiveList/finalizers": ["b"]}}
    assert counter.patch(pod, tree, "strategic").meta.finalizers == ("a", "c")


# -- bind ---------------------------------------------------------------------------------------


@pytest.mark.spec("API-19", "API-21")
def test_a_bind_gives_a_pod_its_node_and_checks_nothing_else() -> None:
    """One commit: node, condition, annotations. The node need not even exist."""
    counter = Counter()
    pod = counter.create(Pod.of("p", cpu_m=10**9))
    counter.now_s = 3
    bound = counter.bind(pod, "nowhere", pod.meta.uid)
    assert bound.spec.node_name == "nowhere"
    assert bound.status.conditions == (Condition("PodScheduled", "True", since_ms=3000),)
    assert bound.meta.revision == counter.now


@pytest.mark.spec("API-19", "API-20")
def test_a_bind_is_refused_for_what_it_was_not_meant_for() -> None:
    """Another uid, a gate, no pod, no node."""
    counter = Counter()
    pod = counter.create(Pod.of("p"))
    with pytest.raises(Conflict, match="UID in precondition: x"):
        counter.bind(pod, "n1", "x")
    gated = counter.create(Pod.of("g", scheduling_gates=(SchedulingGate("wait"),)))
    with pytest.raises(Conflict, match=r"pod g has non-empty .spec.schedulingGates"):
        counter.bind(gated, "n1")
    with pytest.raises(NotFound):
        counter.bind(Pod.of("gone"), "n1")
    with pytest.raises(BadRequest):
        counter.bind(pod, "")
    wrong = Operation(
        "create", "pods", "p", "default", Binding("q", Target("n1")), subresource="binding"
    )
    with pytest.raises(BadRequest, match="name in URL does not match name in Binding"):
        counter.ask(wrong)


@pytest.mark.spec("API-19")
def test_a_bind_may_be_for_one_revision_of_a_pod_alone() -> None:
    """As a Binding of Kubernetes may say: 409 if the pod has changed since."""
    counter = Counter()
    old = counter.create(Pod.of("p"))
    new = counter.patch(old, {"metadata": {"labels": {"app": "web"}}})
    with pytest.raises(Conflict, match="ResourceVersion in precondition: "):
        counter.bind(old, "n1", revision=old.meta.revision)
    assert counter.bind(new, "n1", revision=new.meta.revision).is_bound


@pytest.mark.spec("API-22")
@each_row(("switch", "left"), [("off", "n2"), ("on", "")])
def test_a_nomination_outlives_the_bind_in_1_26(switch: str, left: str) -> None:
    """And not in later versions."""
    counter = Counter(switches={"clear_nnn_on_bind": switch})
    pod = counter.create(Pod.of("p"))
    pod = counter.patch(pod, {"status": {"nominatedNodeName": "n2"}}, subresource="status")
    assert counter.bind(pod, "n1").status.nominated_node_name == left


def test_budgets_select_as_they_say() -> None:
    """The kinds of a selector: none, empty, and one that asks for something."""
    app = Meta("p", "default", labels=Map(app="a"))
    assert not budget().covers(app)
    assert not budget(selector=LabelSelector()).covers(app)
    assert budget(selector=LabelSelector(Map(app="a"))).covers(app)
    assert not budget(selector=LabelSelector(Map(app="a"))).covers(attrs.evolve(app, namespace="x"))


@pytest.mark.spec("API-5", "INV-1")
def test_what_is_emptied_leaves_nothing_behind() -> None:
    """The last label is taken away and comes back: the object is as it was, and to say so again,
    or that it has no finalizers, is no change. What is not modelled stays."""
    counter = Counter()
    container = {"name": "m", "image": "", "tty": False}
    tree = {
        "metadata": {"name": "p", "labels": {"a": "b"}, "annotations": {}, "selfLink": ""},
        "spec": {"containers": [container], "dnsPolicy": "", "nodeName": ""},
    }
    pod = counter.create(from_tree(Pod, tree))
    assert pod.extra == {
        "metadata": {"selfLink": ""},
        "spec": {"containers": {"m": {"tty": False}}, "dnsPolicy": ""},
    }
    label = {"metadata": {"labels": {"a": "b"}, "finalizers": []}}
    counter.patch(pod, {"metadata": {"labels": {"a": None}}})
    again = counter.patch(pod, label)
    assert again.is_as(pod)
    before = counter.store.revision
    assert counter.patch(pod, label) == again
    assert counter.store.revision == before


# -- what every pod tolerates ---------------------------------------------------------------------


def tolerated(pod: Pod) -> list[tuple[str, str, int | None]]:
    """What a pod tolerates: the last part of a key, the effect, for how long."""
    return [
        (each.key.rpartition("/")[2], each.effect, each.toleration_seconds)
        for each in pod.spec.tolerations
    ]


ABSENT = [("not-ready", "NoExecute", 300), ("unreachable", "NoExecute", 300)]


@pytest.mark.spec("CTL-34", "KUB-39")
def test_every_pod_tolerates_a_short_absence_of_its_node() -> None:
    """Unless it says itself for how long; and memory pressure, if it requests anything."""
    counter = Counter()
    assert tolerated(counter.create(Pod.of("plain"))) == ABSENT
    pressed = ("memory-pressure", "NoSchedule", None)
    assert tolerated(counter.create(Pod.of("asks", cpu_m=1))) == [*ABSENT, pressed]
    own = Toleration("node.kubernetes.io/not-ready", "Exists", effect="NoExecute")
    said = counter.create(Pod.of("own", tolerations=(own,)))
    assert tolerated(said) == [("not-ready", "NoExecute", None), ABSENT[1]]
    assert tolerated(counter.create(Pod.of("all", tolerations=(Toleration("", "Exists"),)))) == [
        ("", "", None)
    ]


@pytest.mark.spec("CTL-34")
def test_an_update_does_not_take_the_default_tolerations_away() -> None:
    """That of an old manifest knows nothing of them."""
    counter = Counter()
    pod = counter.create(Pod.of("p"))
    bare = attrs.evolve(pod, spec=attrs.evolve(pod.spec, tolerations=()))
    assert tolerated(counter.update(bare)) == ABSENT
