"""Priority admission: what a class may be, and how a pod comes by its priority."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from actors.apiserver import ApiServer
from actors.apiserver.admission.priority import SYSTEM_CLASSES
from actors.apiserver.bootstrap import Bootstrap
from testbed.choosers.complete import Complete
from testbed.client.client import Client
from testbed.errors import (
    ApiError,
    BadRequest,
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    ScenarioError,
    UnknownName,
)
from testbed.faults.restart import Restart
from testbed.faults.server_error import ServerError
from testbed.objects import Meta, Pod, PodSpec, PriorityClass
from testbed.objects.form import from_tree, to_tree
from testbed.store.endpoint import Operation
from testbed.world.scenario import of, play_runs
from testbed.world.world import World
from tests.each_row import each_row
from tests.models.counter import Counter, about, finish, refusal, step
from tests.shared.stage import Puppet, play, world_of

NODE = "system-node-critical"


def class_of(name: str, value: int = 0, **said: Any) -> PriorityClass:
    """A class of that name and value."""
    return PriorityClass(name, value=value, **said)


def pod_of(name: str = "p", class_name: str = "", **spec: Any) -> Pod:
    """A pod that names a class."""
    return Pod.of(name, cpu_m=100, priority_class_name=class_name, **spec)


def resolved(counter: Counter, *about: str, **spec: Any) -> tuple[str, int | None, str]:
    """The class, priority and policy that a new pod is given."""
    made = counter.create(pod_of(*about, **spec)).spec
    return made.priority_class_name, made.priority, made.preemption_policy


def refused(counter: Counter, item: Any, verb: str = "create") -> tuple[int, str, str]:
    """How it is refused; nothing has been written."""
    before = counter.store.revision
    with pytest.raises(ApiError) as caught:
        getattr(counter, verb)(item)
    assert counter.store.revision == before
    return refusal(caught.value)


def creation(item: Any) -> Operation:
    """The Operation that creates it."""
    return Operation("create", item.plural, item.meta.name, item.meta.namespace, item)


# -- classes --------------------------------------------------------------------------------------


@pytest.mark.spec("PRI-1")
def test_a_class_has_a_value_and_a_policy_and_belongs_to_the_cluster() -> None:
    """Unset means value 0, not the default, and preempting; on the wire as in Kubernetes."""
    made = Counter().create(PriorityClass("p"))
    assert made.key == "priorityclasses/p"
    assert (made.value, made.global_default, made.description) == (0, False, "")
    assert made.preemption_policy == "PreemptLowerPriority"
    tree = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
        "value": 7,
        "globalDefault": True,
        "description": "what matters",
        "preemptionPolicy": "Never",
    }
    item = from_tree(PriorityClass, tree)
    assert item == class_of(
        "high", 7, global_default=True, description="what matters", preemption_policy="Never"
    )
    assert to_tree(item) == tree


@pytest.mark.spec("PRI-1")
@each_row("policy", ["Sometimes", "never"])
def test_a_policy_is_one_of_two(policy: str) -> None:
    """By their exact words."""
    assert refused(Counter(), class_of("p", preemption_policy=policy)) == (
        422, "Invalid",
        'PriorityClass.scheduling.k8s.io "p" is invalid: preemptionPolicy: Unsupported value: '
        f'"{policy}": supported values: "PreemptLowerPriority", "Never"',
    )  # fmt: skip


@pytest.mark.spec("PRI-2", "API-10")
@each_row("name", ["High", "a_b", "-a", "a" * 254])
def test_a_class_is_called_by_a_subdomain(name: str) -> None:
    """As all objects are."""
    code, reason, said = refused(Counter(), class_of(name))
    assert (code, reason) == (422, "Invalid")
    assert "metadata.name: Invalid value" in said


@pytest.mark.spec("PRI-2")
@each_row(
    ("item", "why"),
    [
        (class_of("system-mine"), "system-mine is not a known system priority class"),
        (class_of(NODE, 5), f"value of {NODE} PriorityClass must be 2000001000"),
        (
            class_of(NODE, 2_000_001_000, global_default=True),
            f"globalDefault of {NODE} PriorityClass must be false",
        ),
    ],
)
def test_a_name_that_begins_with_system_is_reserved(item: PriorityClass, why: str) -> None:
    """But for the two that every cluster has, just as they are."""
    assert refused(Counter(), item) == (
        422, "Invalid",
        f'PriorityClass.scheduling.k8s.io "{item.meta.name}" is invalid: metadata.name: Forbidden: '
        "priority class names with 'system-' prefix are reserved for system use only. error: "
        f"{why}",
    )  # fmt: skip


@pytest.mark.spec("PRI-3")
def test_more_than_a_billion_is_the_systems() -> None:
    """By one."""
    assert refused(Counter(), class_of("p", 1_000_000_001)) == (
        422, "Invalid",
        'PriorityClass.scheduling.k8s.io "p" is invalid: value: Forbidden: maximum allowed value '
        "of a user defined priority is 1000000000",
    )  # fmt: skip


@pytest.mark.spec("PRI-1", "PRI-3")
@each_row("value", [2**31, -(2**31) - 1])
def test_what_is_no_int32_cannot_be_read(value: int) -> None:
    """That is a bad request, of whatever name."""
    with pytest.raises(BadRequest, match=f"cannot unmarshal number {value} into Go"):
        Counter().create(class_of("p", value))


@pytest.mark.spec("PRI-5")
def test_the_value_of_a_class_stays() -> None:
    """By update and by patch."""
    counter = Counter()
    made = counter.create(class_of("p", 5))
    said = 'PriorityClass.scheduling.k8s.io "p" is invalid: value: Forbidden: may not be changed '
    assert refused(counter, attrs.evolve(made, value=6), "update")[2] == f"{said}in an update."
    with pytest.raises(Invalid, match="may not be changed in an update"):
        counter.patch(made, {"value": 6})


@pytest.mark.spec("PRI-5")
def test_the_policy_of_a_class_stays() -> None:
    """Unset means what it has always meant."""
    counter = Counter()
    made = counter.create(class_of("p", 5))
    never = attrs.evolve(made, preemption_policy="Never")
    assert refused(counter, never, "update")[2] == (
        'PriorityClass.scheduling.k8s.io "p" is invalid: preemptionPolicy: Invalid value: "Never": '
        "field is immutable"
    )
    assert counter.update(attrs.evolve(made, preemption_policy="")) == made


@pytest.mark.spec("PRI-5")
def test_a_class_keeps_its_name() -> None:
    """A body of another name is not what the URL says."""
    counter = Counter()
    made = counter.create(class_of("p"))
    other = made.with_meta(name="q")
    with pytest.raises(BadRequest, match="does not match the name on the URL"):
        counter.ask(about("update", PriorityClass, "p", body=other))


# -- one default ----------------------------------------------------------------------------------

SECOND = "PriorityClass first is already marked as default. Only one default can exist"


@pytest.mark.spec("PRI-6")
def test_a_second_default_is_refused() -> None:
    """By create, and by an update of another class; the default itself may be updated."""
    counter = Counter()
    first = counter.create(class_of("first", 5, global_default=True))
    second = counter.create(class_of("second", 6))
    expected = f'priorityclasses.scheduling.k8s.io "second" is forbidden: {SECOND}'
    now = attrs.evolve(second, global_default=True)
    assert refused(counter, now, "update") == (403, "Forbidden", expected)
    with pytest.raises(Forbidden, match=SECOND):
        counter.patch(second, {"globalDefault": True})
    third = class_of("third", 7, global_default=True)
    assert refused(counter, third)[2] == expected.replace('"second"', '"third"')
    counter.update(attrs.evolve(first, description="still the default"))
    counter.update(attrs.evolve(counter.get(PriorityClass, "first"), global_default=False))
    assert counter.create(third).global_default


@pytest.mark.spec("PRI-6")
def test_creating_the_default_again_is_forbidden_rather_than_taken() -> None:
    """The check is before the name is looked at, and minds no names when something is new."""
    counter = Counter()
    first = class_of("first", 5, global_default=True)
    counter.create(first)
    assert refused(counter, first)[:2] == (403, "Forbidden")
    assert refused(counter, class_of("first"))[:2] == (409, "AlreadyExists")


@pytest.mark.spec("PRI-6")
def test_a_server_that_has_not_read_of_a_default_admits_another() -> None:
    """The check reads as far as this server has read; once it has, the next is refused."""
    counter = Counter(lags=("priorityclasses",))
    counter.server.cursor("priorityclasses")
    for name in ("first", "second"):
        counter.create(class_of(name, global_default=True))
    counter.server.cursor("priorityclasses").advance()
    assert refused(counter, class_of("third", global_default=True))[2].endswith(SECOND)


@pytest.mark.spec("PRI-6", "API-18")
def test_a_class_that_changes_while_others_are_looked_at_is_changed_as_it_is_then() -> None:
    """A patch is applied to what is there by the time it is committed; an update of the revision
    that was read is a Conflict then, and of one that is gone there is nothing."""
    counter = Counter()
    made = counter.create(class_of("p", 5))
    mark = about("patch", PriorityClass, "p", body={"globalDefault": True})
    patch = counter.begin(mark)
    replace = counter.begin(
        about("update", PriorityClass, "p", body=attrs.evolve(made, global_default=True))
    )
    step(patch)
    step(replace)
    counter.patch(made, {"description": "new"})
    done = finish(patch)
    assert (done.description, done.global_default) == ("new", True)
    with pytest.raises(Conflict, match="the object has been modified"):
        finish(replace)
    late = counter.begin(mark)
    step(late)
    counter.delete(done)
    with pytest.raises(NotFound):
        finish(late)


# -- deletion -------------------------------------------------------------------------------------


@pytest.mark.spec("PRI-4")
def test_a_system_class_cannot_be_deleted() -> None:
    """Nor can one that is not there."""
    counter = Counter()
    for _ in range(2):
        assert refused(counter, class_of(NODE), "delete") == (
            403, "Forbidden",
            f'priorityclasses.scheduling.k8s.io "{NODE}" is forbidden: this is a system priority '
            "class and cannot be deleted",
        )  # fmt: skip
        counter.store.delete(f"priorityclasses/{NODE}")


@pytest.mark.spec("PRI-8")
def test_every_order_of_a_class_made_anew_and_a_pod_is_one_of_three() -> None:
    """In all classes of runs there are: the pod bears the old value for good, or the new one, or
    it is refused, since there was no such class when it was looked at."""
    seen: set[str] = set()

    def build(world: World) -> None:
        async def operate(client: Client) -> None:
            await client.delete(class_of("c"), whatever_it_was=True)
            await client.create(class_of("c", 9))

        async def use(client: Client) -> None:
            try:
                pod = await client.create(pod_of("p", "c"))
            except Forbidden as error:
                seen.add(str(error))
            else:
                seen.add(str(pod.spec.priority))

        world.add(class_of("c", 5))
        world.serve(ApiServer)
        world.start(Puppet("operator", operate), Puppet("user", use))

    chooser = Complete()
    play_runs(of(build), chooser, lambda _: True, runs_max=100, driver="direct", keep=True)
    assert seen == {"5", "9", 'pods "p" is forbidden: no PriorityClass with name c was found'}
    assert not chooser.limits


# -- pods -----------------------------------------------------------------------------------------


@pytest.mark.spec("PRI-12")
def test_a_pod_of_a_class_that_is_not_there_is_no_beginning() -> None:
    """It would wait last, with priority 0, and nothing would say why."""
    world = World("test")
    world.serve(ApiServer)
    with pytest.raises(ScenarioError, match=r"(?s)default/p names .*'high'.*\nNext: add that"):
        world.add(pod_of("p", "high"))
    world.add(pod_of("p", "high", priority=3), class_of("high"))


@pytest.mark.spec("PRI-11")
def test_a_pod_that_names_no_class_gets_that_of_the_default() -> None:
    """Its name, its value and its policy; without a default 0, and to preempt."""
    counter = Counter()
    assert resolved(counter, "p1") == ("", 0, "PreemptLowerPriority")
    counter.create(class_of("usual", 7, global_default=True, preemption_policy="Never"))
    counter.create(class_of("other", 3))
    assert resolved(counter, "p2") == ("usual", 7, "Never")


@pytest.mark.spec("PRI-9")
def test_a_new_default_changes_no_pod_that_is_there() -> None:
    """Nor does an update of such a pod; one from before there were priorities counts as 0."""
    counter = Counter()
    before = counter.create(pod_of("p1"))
    counter.store.put("pods/default/old", Pod.of("old"))
    counter.create(class_of("usual", 7, global_default=True))
    for name in ("p1", "old"):
        pod = counter.patch(counter.get(Pod, name), {"metadata": {"labels": {"a": "b"}}})
        assert pod.priority == 0
    assert counter.get(Pod, "p1").spec == before.spec
    assert counter.get(Pod, "old").spec.priority is None


@pytest.mark.spec("PRI-12")
def test_a_class_that_is_not_there_is_refused() -> None:
    """The pod is named as its caller has named it, which may be by the beginning of a name."""
    counter = Counter()
    said = "is forbidden: no PriorityClass with name X was found"
    assert refused(counter, pod_of("p", "X")) == (403, "Forbidden", f'pods "p" {said}')
    unnamed = attrs.evolve(pod_of("", "X"), meta=Meta(generate_name="web-"))
    assert refused(counter, unnamed)[2] == f'pods "web-" {said}'


@pytest.mark.spec("PRI-13")
def test_a_pod_gets_the_value_and_policy_of_its_class() -> None:
    """A class that was stored without a policy preempts."""
    counter = Counter()
    counter.create(class_of("meek", -4, preemption_policy="Never"))
    counter.store.put("priorityclasses/old", class_of("old", 4))
    assert resolved(counter, "p1", "meek") == ("meek", -4, "Never")
    assert resolved(counter, "p2", "old") == ("old", 4, "PreemptLowerPriority")


@pytest.mark.spec("PRI-14")
def test_a_pod_may_say_the_priority_it_would_get_and_no_other() -> None:
    """As 1.26 does it: equal is accepted, with a class and without."""
    counter = Counter()
    counter.create(class_of("c", 5))
    assert resolved(counter, "p1", "c", priority=5)[1] == 5
    assert resolved(counter, "p2", priority=0)[1] == 0
    said = (
        'pods "p3" is forbidden: the integer value of priority (6) must not be provided in pod '
        "spec; priority admission controller computed {} from the given PriorityClass name"
    )
    for name, computed in (("c", 5), ("", 0)):
        answer = (403, "Forbidden", said.format(computed))
        assert refused(counter, pod_of("p3", name, priority=6)) == answer
    assert "of priority (0) must not" in refused(counter, pod_of("p3", "c", priority=0))[2]


@pytest.mark.spec("PRI-14", "GEN-1")
@each_row("profile", ["alpha", "seed"])
def test_early_servers_let_no_pod_say_its_priority(profile: str) -> None:
    """Not even the one it would get."""
    counter = Counter(profile=profile)
    counter.create(class_of("c", 5))
    said = refused(counter, pod_of("p", "c", priority=5))[2]
    assert said.startswith('pods "p" is forbidden: the integer value of priority must not be ')
    assert resolved(counter, "p", "c")[1] == 5


@pytest.mark.spec("PRI-15")
def test_a_pod_may_say_the_policy_it_would_get_and_no_other() -> None:
    """With the words of both in the refusal."""
    counter = Counter()
    counter.create(class_of("c", 5))
    assert resolved(counter, "p1", "c", preemption_policy="PreemptLowerPriority")[1] == 5
    assert refused(counter, pod_of("p2", "c", preemption_policy="Never")) == (
        403, "Forbidden",
        'pods "p2" is forbidden: the string value of PreemptionPolicy (Never) must not be provided '
        "in pod spec; priority admission controller computed PreemptLowerPriority from the given "
        "PriorityClass name",
    )  # fmt: skip


@pytest.mark.spec("PRI-16", "API-14")
def test_an_update_keeps_the_priority_or_is_refused() -> None:
    """What it leaves out is as it was; any other class, priority or policy is not allowed."""
    counter = Counter()
    counter.create(class_of("c", 5, preemption_policy="Never"))
    counter.create(class_of("d", 6))
    made = counter.create(pod_of("p", "c"))
    silent = attrs.evolve(made.spec, priority=None, preemption_policy="")
    new = counter.update(attrs.evolve(made, spec=silent).with_meta(labels={"a": "b"}))
    assert new.spec == made.spec
    for change in (
        {"priority": 6}, {"preemption_policy": "PreemptLowerPriority"},
        {"priority_class_name": "d"}, {"priority_class_name": ""},
    ):  # fmt: skip
        spec = attrs.evolve(new.spec, **change)
        assert refused(counter, attrs.evolve(new, spec=spec), "update")[0] == 422, change


@pytest.mark.spec("PRI-10", "PRI-12")
def test_a_pod_is_given_its_priority_before_all_else() -> None:
    """Of two things that are wrong, the class is told first."""
    bare = Pod("p", spec=PodSpec(priority_class_name="X"))
    assert refused(Counter(), bare)[0] == 403
    assert refused(Counter(), Pod("p"))[0] == 422


# -- system classes -------------------------------------------------------------------------------


def system_pod(namespace: str = "default", class_name: str = NODE) -> Pod:
    """A pod of a namespace that names a system class."""
    return pod_of(f"{namespace}/p", class_name)


@pytest.mark.spec("PRI-17", "GEN-2")
@each_row("profile", ["k8s-1.26", "k8s-modern", "alpha"])
def test_anybody_may_name_a_system_class(profile: str) -> None:
    """In any namespace, since 1.17; a quota can restrict it."""
    counter = Counter(profile=profile)
    counter.create(SYSTEM_CLASSES[1])
    assert counter.create(system_pod()).spec.priority == 2_000_001_000


@pytest.mark.spec("PRI-17")
def test_before_that_only_in_the_systems_namespace() -> None:
    """Before the class is looked for; no other class is minded."""
    counter = Counter(switches={"system_class_scope": "kube_system_only"})
    assert refused(counter, system_pod()) == (
        403, "Forbidden",
        f'pods "p" is forbidden: pods with {NODE} priorityClass is not permitted in default '
        "namespace",
    )  # fmt: skip
    counter.create(SYSTEM_CLASSES[1])
    counter.create(class_of("c", 5))
    assert counter.create(system_pod("kube-system")).spec.priority == 2_000_001_000
    assert counter.create(system_pod(class_name="c")).spec.priority == 5


@pytest.mark.spec("PRI-17")
def test_where_it_takes_leave_only_who_has_it_may_name_a_system_class() -> None:
    """As the proposal has it: authorized callers, in any namespace."""
    counter = Counter(profile="seed", authorized=("daemonset-controller",))
    counter.create(SYSTEM_CLASSES[1])
    said = f'pods "p" is forbidden: kubectl is not authorized to use PriorityClass {NODE}'
    assert refused(counter, system_pod("kube-system")) == (403, "Forbidden", said)
    made = counter.ask(creation(system_pod()), caller="daemonset-controller")
    assert made.spec.priority == 2_000_001_000


@pytest.mark.spec("GEN-1", "GEN-2")
def test_a_switch_that_is_not_there_is_told() -> None:
    """Of what is given, the nearest is named; a switch overrides its profile."""
    for given in (
        {"profile": "1.26"}, {"switches": {"client_prio": "x"}},
        {"switches": {"client_priority": "equal"}},
    ):  # fmt: skip
        with pytest.raises(UnknownName, match="Known: "):
            Counter(**given)
    counter = Counter(profile="seed", switches={"client_priority": "must_equal"})
    assert counter.server.switches.client_priority == "must_equal"
    assert counter.server.switches.system_class_scope == "authz"


# -- start-up -------------------------------------------------------------------------------------


@pytest.mark.spec("PRI-4")
def test_the_system_classes_are_made_at_the_start_and_again_when_they_are_missing() -> None:
    """By each life of the server that finds them missing; neither is the default."""
    seen: list[list[PriorityClass]] = []

    async def look(client: Client) -> None:
        for _ in range(2):
            await client.sleep(1000)
            seen.append([*(await client.list(PriorityClass)).items])
            lost = Operation("delete", "priorityclasses", NODE, endpoint="store")
            await client.ask(lost)

    world = world_of(look=look)
    world.serve(ApiServer)
    world.start(Bootstrap("bootstrap"))
    world.allow(Restart())
    play(world, "answer look/main delete *", "fault * restart *")
    for items in seen:
        told = [(item.meta.name, item.value, item.global_default) for item in items]
        assert told == [(item.meta.name, item.value, False) for item in SYSTEM_CLASSES]
    first, second = ([item.meta.uid for item in items] for items in seen)
    assert first[0] == second[0]
    assert first[1] != second[1]


def test_two_that_start_at_once_make_each_class_once() -> None:
    """The second gets AlreadyExists, and that is good enough for it."""
    world = world_of()
    world.serve(ApiServer)
    world.start(Bootstrap("one"), Bootstrap("two"))
    doing = ("start {}/main", "serve {}/main get *")
    played = play(world, *(each.format(name) for each in doing for name in ("one", "two")))
    tried = played.every("serve */main create *")
    assert [step.outcome for step in tried] == ["", "", "AlreadyExists"]
    names = [entry.key for entry in world.store.snapshot("priorityclasses/")]
    assert names == [item.key for item in SYSTEM_CLASSES]
    assert played.steps[-1].now_ms == 0


def test_a_server_that_does_not_answer_is_asked_again() -> None:
    """Every second, whatever it was asked."""
    world = world_of()
    world.serve(ApiServer)
    world.start(Bootstrap("bootstrap"))
    world.allow(ServerError(target="bootstrap", times_max=2))
    strike = "fault * server_error bootstrap {} *"
    played = play(world, strike.format("get"), strike.format("create"))
    assert played.steps[-1].now_ms == 2000
    names = [entry.key for entry in world.store.snapshot("priorityclasses/")]
    assert names == [item.key for item in SYSTEM_CLASSES]
