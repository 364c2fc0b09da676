"""The rows and columns that `kubectl get` prints, as Kubernetes 1.26 makes them."""

from __future__ import annotations

from typing import Any

import attrs

from testbed.attended.http.tables.age import duration
from testbed.attended.http.tables.columns import COLUMNS
from testbed.attended.http.tables.table import table
from testbed.objects import (
    Condition,
    ConfigMap,
    Container,
    ContainerState,
    ContainerStatus,
    DaemonSet,
    DaemonSetSpec,
    DaemonSetStatus,
    Deployment,
    DeploymentSpec,
    DeploymentStatus,
    Event,
    EventSeries,
    EventSource,
    Job,
    JobSpec,
    JobStatus,
    LabelSelector,
    Lease,
    LeaseSpec,
    Map,
    Meta,
    Namespace,
    NamespaceStatus,
    Node,
    NodeSpec,
    NodeStatus,
    Note,
    Object,
    Pod,
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
    PodSpec,
    PodStatus,
    PodTemplate,
    PriorityClass,
    Quantity,
    QuotaStatus,
    Reference,
    ReplicaSet,
    ReplicaSetSpec,
    ReplicaSetStatus,
    ReplicationController,
    ReplicationControllerSpec,
    Requirement,
    ResourceQuota,
    Running,
    StatefulSet,
    StatefulSetSpec,
    StatefulSetStatus,
    Terminated,
    Waiting,
)
from testbed.objects.form import from_tree, to_tree
from tests.each_row import each_row

NOW_MS = 100_000
META = Meta("x", "default", created_ms=0, labels={"app": "web"})
TEMPLATE = PodTemplate(spec=PodSpec(containers=(Container("a", "i1"), Container("b", "i2"))))
SELECTOR = LabelSelector(
    match_labels={"app": "web"},
    match_expressions=(
        Requirement("tier", "In", ("db", "api")), Requirement("env", "NotIn", ("old",)),
        Requirement("zone", "Exists"), Requirement("bad", "DoesNotExist"),
    ),
)  # fmt: skip
SELECTED = "app=web,!bad,env notin (old),tier in (api,db),zone"


def row_of(item: Object, *, is_wide: bool = False) -> dict[str, Any]:
    """What kubectl prints of that object, by the title of the column."""
    tree = table(type(item), [item], NOW_MS, revision="7")
    columns = tree["columnDefinitions"]
    (row,) = tree["rows"]
    pairs = zip(columns, row["cells"], strict=True)
    return {each["name"]: cell for each, cell in pairs if is_wide or not each["priority"]}


def state_of(state: ContainerState, *, is_ready: bool = False, **given: Any) -> ContainerStatus:
    """The status of a container in that state."""
    return ContainerStatus("main", is_ready, state=state, **given)


@each_row(
    ("seconds", "said"),
    [
        (-2, "<invalid>"), (-1, "0s"), (0, "0s"), (119, "119s"), (120, "2m"), (190, "3m10s"),
        (599, "9m59s"), (630, "10m"), (3 * 3600 - 1, "179m"), (3 * 3600, "3h"),
        (3 * 3600 + 60, "3h1m"), (8 * 3600 + 60, "8h"), (48 * 3600 - 1, "47h"), (2 * 86400, "2d"),
        (2 * 86400 + 4 * 3600, "2d4h"), (8 * 86400 + 3600, "8d"), (730 * 86400, "2y"),
        (731 * 86400, "2y1d"), (8 * 365 * 86400 + 86400, "8y"),
    ],
)  # fmt: skip
def test_a_duration_is_said_in_two_units_at_most(seconds: int, said: str) -> None:
    """The longer it is, the coarser; a fraction of a second is dropped."""
    assert duration(seconds * 1000) == said
    if seconds > 0:
        assert duration(seconds * 1000 + 999) == said


UP = state_of(ContainerState(running=Running(0)), is_ready=True)
CRASHED = state_of(
    ContainerState(waiting=Waiting("CrashLoopBackOff")),
    restart_count=3,
    last_state=ContainerState(terminated=Terminated(1, "Error", finished_ms=40_000)),
)
DONE = state_of(ContainerState(terminated=Terminated(0, "Completed")))
ENDED = state_of(ContainerState(terminated=Terminated(137)))
UNBEGUN = state_of(ContainerState(waiting=Waiting("PodInitializing")))
READY = (Condition("Ready", "True"),)


@each_row(
    ("status", "said"),
    [
        (PodStatus("Pending"), ("0/1", "Pending", "0")),
        (PodStatus("Running", container_statuses=(UP,)), ("1/1", "Running", "0")),
        (PodStatus("Running", container_statuses=(CRASHED,)),
         ("0/1", "CrashLoopBackOff", "3 (60s ago)")),
        (PodStatus("Succeeded", container_statuses=(DONE,)), ("0/1", "Completed", "0")),
        (PodStatus("Running", conditions=READY, container_statuses=(DONE, UP)),
         ("1/1", "Running", "0")),
        (PodStatus("Running", container_statuses=(DONE, UP)), ("1/1", "NotReady", "0")),
        (PodStatus("Failed", container_statuses=(ENDED,)), ("0/1", "ExitCode:137", "0")),
        (PodStatus("Failed", "Evicted"), ("0/1", "Evicted", "0")),
        (PodStatus("Failed", "OutOfcpu"), ("0/1", "OutOfcpu", "0")),
        (PodStatus("Pending", conditions=(
            Condition("PodScheduled", "False", "SchedulingGated"),)),
         ("0/1", "SchedulingGated", "0")),
        (PodStatus("Pending", container_statuses=(UNBEGUN,), init_container_statuses=(DONE, UP)),
         ("0/1", "Init:1/2", "0")),
        (PodStatus("Pending", init_container_statuses=(DONE, UNBEGUN)), ("0/1", "Init:1/2", "0")),
        (PodStatus("Failed", init_container_statuses=(ENDED,)), ("0/1", "Init:ExitCode:137", "0")),
        (PodStatus("Running", container_statuses=(CRASHED, DONE)),
         ("0/1", "CrashLoopBackOff", "3 (60s ago)")),
        (PodStatus("Pending", init_container_statuses=(CRASHED,)),
         ("0/1", "Init:CrashLoopBackOff", "3 (60s ago)")),
        (PodStatus("Running", container_statuses=(UP,), init_container_statuses=(DONE, DONE)),
         ("1/1", "Running", "0")),
    ],
)  # fmt: skip
def test_a_pods_status_is_what_its_containers_do(
    status: PodStatus, said: tuple[str, str, str]
) -> None:
    """A kubelet's word counts more than the phase, and init containers come first."""
    spec = PodSpec(containers=(Container("main"),), init_containers=(Container(), Container()))
    row = row_of(Pod(META, spec, status))
    assert (row["Ready"], row["Status"], row["Restarts"]) == said
    ending = Pod(attrs.evolve(META, deleted_ms=5000), spec, status)
    assert row_of(ending)["Status"] == "Terminating"
    lost = attrs.evolve(ending, status=attrs.evolve(status, reason="NodeLost"))
    assert row_of(lost)["Status"] == "Unknown"


def test_a_wide_pod_shows_where_it_is_and_its_gates() -> None:
    """Its readiness gates are in no class here, but they are kept."""
    tree = {
        **to_tree(Pod.of("p", node_name="n1")),
        "status": {"podIP": "10.0.0.1", "conditions": [{"type": "up", "status": "True"}]},
    }
    tree["spec"]["readinessGates"] = [{"conditionType": "up"}, {"conditionType": "warm"}]
    row = row_of(from_tree(Pod, tree), is_wide=True)
    assert [row[name] for name in ("IP", "Node", "Nominated Node", "Readiness Gates")] == [
        "10.0.0.1", "n1", "<none>", "1/2",
    ]  # fmt: skip
    assert row["Age"] == "<unknown>"


NODE_TREE = {
    "metadata": {"name": "n", "labels": {"node-role.kubernetes.io/worker": "",
                                         "kubernetes.io/role": "edge"}},
    "spec": {"unschedulable": True},
    "status": {
        "conditions": [{"type": "Ready", "status": "Unknown"}],
        "addresses": [{"type": "Hostname", "address": "n"},
                      {"type": "InternalIP", "address": "10.0.0.7"}],
        "nodeInfo": {"kubeletVersion": "v1.26.1", "osImage": "Linux"},
    },
}  # fmt: skip


def test_a_node_shows_its_state_its_roles_and_its_machine() -> None:
    """What its kubelet says of the machine is in no class here, but it is kept."""
    row = row_of(from_tree(Node, NODE_TREE), is_wide=True)
    assert list(row.values()) == [
        "n", "NotReady,SchedulingDisabled", "edge,worker", "<unknown>", "v1.26.1", "10.0.0.7",
        "<none>", "Linux", "<unknown>", "<unknown>",
    ]  # fmt: skip
    ready = Node(META, NodeSpec(), NodeStatus(conditions=READY))
    assert row_of(ready)["Status"] == "Ready"
    assert row_of(Node(META))["Status"] == "Unknown"


MADE: dict[type[Object], tuple[Object, list[Any]]] = {
    Deployment: (
        Deployment(META, DeploymentSpec(3, SELECTOR, TEMPLATE), DeploymentStatus(
            updated_replicas=2, ready_replicas=1, available_replicas=1)),
        ["x", "1/3", 2, 1, "100s", "a,b", "i1,i2", SELECTED],
    ),
    ReplicaSet: (
        ReplicaSet(META, ReplicaSetSpec(template=TEMPLATE), ReplicaSetStatus(2, ready_replicas=1)),
        ["x", 1, 2, 1, "100s", "a,b", "i1,i2", "<none>"],
    ),
    ReplicationController: (
        ReplicationController(META, ReplicationControllerSpec(4, selector={"b": "2", "a": "1"})),
        ["x", 4, 0, 0, "100s", "", "", "a=1,b=2"],
    ),
    StatefulSet: (
        StatefulSet(META, StatefulSetSpec(2, template=TEMPLATE), StatefulSetStatus(
            ready_replicas=1)),
        ["x", "1/2", "100s", "a,b", "i1,i2"],
    ),
    DaemonSet: (
        DaemonSet(META, DaemonSetSpec(template=PodTemplate(spec=PodSpec(
            node_selector={"disk": "ssd"}))), DaemonSetStatus(3, 0, 4, 2, 0, 1, 1)),
        ["x", 4, 3, 2, 1, 1, "disk=ssd", "100s", "", "", "<none>"],
    ),
    Job: (
        Job(META, JobSpec(1, 3, template=TEMPLATE), JobStatus(
            start_ms=1000, completion_ms=61_000, succeeded=3)),
        ["x", "3/3", "60s", "100s", "a,b", "i1,i2", "<none>"],
    ),
    PodDisruptionBudget: (
        PodDisruptionBudget(META, PodDisruptionBudgetSpec(max_unavailable="50%"),
                            PodDisruptionBudgetStatus(2)),
        ["x", "N/A", "50%", 2, "100s"],
    ),
    PriorityClass: (PriorityClass(META, 7, True), ["x", 7, True, "100s"]),
    Lease: (Lease(META, LeaseSpec("alpha")), ["x", "alpha", "100s"]),
    Namespace: (Namespace(META, status=NamespaceStatus("Active")), ["x", "Active", "100s"]),
    ConfigMap: (ConfigMap(META, {"a": "1"}, {"b": "2"}), ["x", "2", "100s"]),
    ResourceQuota: (
        ResourceQuota(META, status=QuotaStatus(
            Map({each: Quantity.parse("4") for each in ("requests.cpu", "pods", "limits.cpu")}),
            Map({"pods": Quantity.parse("1"), "limits.cpu": Quantity.parse("500m")}))),
        ["x", "100s", "pods: 1/4, requests.cpu: 0/4", "limits.cpu: 500m/4"],
    ),
    Event: (
        Event(META, Reference("v1", "Pod", "p", field_path="spec"), "Failed", " no room\n",
              EventSource("kubelet", "n1"), 10_000, 90_000, 3, "Warning"),
        ["10s", "Warning", "Failed", "pod/p", "spec", "kubelet, n1", "no room", "90s", "3", "x"],
    ),
}  # fmt: skip


@each_row("cls", list(MADE), ids=lambda cls: cls.kind)
def test_each_kind_has_the_columns_of_kubernetes(cls: type[Object]) -> None:
    """One object of each kind, with all that `-o wide` prints."""
    item, cells = MADE[cls]
    assert list(row_of(item, is_wide=True).values()) == cells


def test_every_kind_with_columns_is_shown_above() -> None:
    """A kind that gets columns has to show a row of them."""
    assert {*MADE, Pod, Node} == {*COLUMNS}


def test_a_newer_event_shows_its_series_and_its_reporter() -> None:
    """It has other times than an older one, and no source."""
    event = Event(META, Reference(kind="Node"), event_ms=40_000, series=EventSeries(5, 95_000),
                  reporting_component="scheduler")  # fmt: skip
    row = row_of(event, is_wide=True)
    names = ("Last Seen", "First Seen", "Count", "Object", "Source")
    assert [row[name] for name in names] == ["5s", "60s", "5", "node", "scheduler"]
    single = row_of(attrs.evolve(event, series=None), is_wide=True)
    assert [single[name] for name in names[:3]] == ["60s", "60s", "1"]


@each_row(("completions", "parallelism", "said"), [(None, 2, "1/1 of 2"), (None, None, "1/1")])
def test_a_job_without_a_number_is_done_by_one_success(
    completions: int | None, parallelism: int | None, said: str
) -> None:
    """And it has lasted until now, or has not begun."""
    job = Job(META, JobSpec(parallelism, completions), JobStatus(succeeded=1))
    assert (row_of(job)["Completions"], row_of(job)["Duration"]) == (said, "")
    begun = attrs.evolve(job, status=JobStatus(start_ms=90_000))
    assert row_of(begun)["Duration"] == "10s"


def test_another_kind_shows_its_name_and_age() -> None:
    """As kinds do that a user has made."""
    assert row_of(Note(META)) == {"Name": "x", "Age": "100s"}


@each_row("with_object", ["Metadata", "Object", "None"])
def test_each_row_carries_its_object_as_asked(with_object: str) -> None:
    """From it kubectl takes namespace and labels; unknown metadata is kept."""
    tree = to_tree(ConfigMap(META, {"a": "1"}))
    tree["metadata"]["managedFields"] = [{"manager": "kubectl"}]
    item = from_tree(ConfigMap, tree)
    made = table(ConfigMap, [item], NOW_MS, revision="7", with_object=with_object)
    assert made["metadata"] == {"resourceVersion": "7"}
    found = made["rows"][0].get("object")
    if with_object == "None":
        assert found is None
    elif with_object == "Object":
        assert found == tree
    else:
        assert found == {
            "kind": "PartialObjectMetadata",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": tree["metadata"],
        }
