"""What kubectl asks of a served cluster, as rows: a command, what it says, its exit code.

docs/attach.md shows them as a table, made by `.venv/bin/python -m tests.models.api_page`.
"""

from __future__ import annotations

import re
import shlex

import attrs


@attrs.frozen
class Row:
    """One command, and what comes of it."""

    command: str
    """Behind `kubectl`."""
    says: str = ""
    """What its output has in it, in this order; `…` stands between two parts."""
    code: int = 0
    since: int = 0
    """The minor version of the first kubectl that knows it."""

    @property
    def words(self) -> list[str]:
        """The command as words."""
        return shlex.split(self.command)

    def fits(self, output: str) -> bool:
        """Whether the output has all of it, whatever stands between words."""
        parts = (r"\s+".join(map(re.escape, part.split())) for part in self.says.split("…"))
        return re.search(".*?".join(parts), output, re.DOTALL) is not None


NODE = """\
apiVersion: v1
kind: Node
metadata: {{name: {0}, labels: {{kubernetes.io/hostname: {0}}}}}
status:
  capacity: {{cpu: 4, memory: 8Gi, pods: 110}}
  allocatable: {{cpu: 4, memory: 8Gi, pods: 110}}
---
"""
POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: {0}, labels: {{app: {0}}}}}
spec:
  terminationGracePeriodSeconds: 1
  nodeSelector: {{kubernetes.io/hostname: n1}}
  containers:
  - {{name: main, image: "nginx:{1}", resources: {{requests: {{cpu: 100m}}}}}}
---
"""
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {0}, labels: {{app: {0}}}}}
spec:
  replicas: 2
  selector: {{matchLabels: {{app: {0}}}}}
  template:
    metadata: {{labels: {{app: {0}}}}}
    spec:
      terminationGracePeriodSeconds: 1
      nodeSelector: {{kubernetes.io/hostname: {1}}}
      containers: [{{name: main, image: "nginx:1.25"}}]
---
"""
BUDGET = """\
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: guarded}
spec: {minAvailable: 2, selector: {matchLabels: {app: guarded}}}
"""
FILES = {
    "cluster.yaml": "".join(
        (
            *map(NODE.format, ("n1", "n2", "n3")),
            POD.format("first", "1.25"),
            DEPLOYMENT.format("web", "n1"),
            DEPLOYMENT.format("guarded", "n3"),
            BUDGET,
        )
    ),
    "pod.yaml": POD.format("made", "1.25"),
    "newer.yaml": POD.format("made", "1.26"),
    "gone.yaml": POD.format("gone", "1.25"),
    "own.yaml": POD.format("own", "1.25"),
    "other.yaml": POD.format("own", "1.26"),
    "typo.yaml": POD.format("typo", "1.25").replace("nodeSelector", "nodeSelectr"),
    "shop.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n",
}
"""The files that the commands name; `cluster.yaml` is served."""
FIRST = "pods -l app=first"
READ = (
    Row(f"get {FIRST}", "NAME READY STATUS RESTARTS AGE … first 1/1 Running 0"),
    Row(f"get {FIRST} -o wide", "NODE NOMINATED NODE READINESS GATES … first 1/1 Running 0 … n1"),
    Row("get pod first -o yaml", "kind: Pod … name: first … nodeName: n1 … phase: Running"),
    Row("get pod first -o json", '"kind": "Pod" … "name": "first"'),
    Row("get nodes,pods -o name", "node/n1 … pod/first"),
    Row("get pod first -o jsonpath='{.spec.nodeName}'", "n1"),
    Row("get pod first -o custom-columns=N:.metadata.name,ON:.spec.nodeName", "N ON first n1"),
    Row(f"get {FIRST} -A", "NAMESPACE NAME READY … default first 1/1"),
    Row("get pods -l 'app in (first),!gone' --no-headers", "first 1/1 Running"),
    Row(f"get {FIRST} -L app --show-labels", "APP LABELS … first app=first"),
    Row("get pods --field-selector spec.nodeName=n1,status.phase=Running -o name", "pod/first"),
    Row("get pods --sort-by=.metadata.name --chunk-size=1 -o name", "pod/first … pod/guarded-"),
    Row(f"get {FIRST} -w --request-timeout=5s", "first 1/1 Running"),
    Row("get deploy,rs,pdb,ns", "deployment.apps/web 2/2 2 2 … "
        "poddisruptionbudget.policy/guarded … namespace/default Active"),
    Row("get all -l app=web", "pod/web- … deployment.apps/web 2/2 … replicaset.apps/web-"),
    Row("get leases -n kube-node-lease", "NAME HOLDER AGE n1 n1"),
    Row("get services", "No resources found in default namespace."),
    Row("get pod none", 'Error from server (NotFound): pods "none" not found', 1),
    Row("get nonsense", 'the server doesn\'t have a resource type "nonsense"', 1),
    Row("get events --field-selector involvedObject.name=first",
        "LAST SEEN TYPE REASON OBJECT MESSAGE … Normal Scheduled pod/first "
        "Successfully assigned default/first to n1"),
    Row("get events --sort-by=.lastTimestamp", "Normal Scheduled pod/first"),
    Row("events --for pod/first", "Normal Scheduled Pod/first", since=26),
    Row("describe pod first", "Name: first … Node: n1/ … State: Running … PodScheduled True … "
        "Events: … Scheduled … default-scheduler Successfully assigned default/first to n1"),
    Row("describe node n1", "HolderIdentity: n1 … Ready True … KubeletReady … "
        "Non-terminated Pods: … default first 100m (2%)"),
    Row("describe deployment web", "2 desired | 2 updated | 2 total | 2 available … "
        "NewReplicaSet: web- … Events: … ScalingReplicaSet"),
)  # fmt: skip
ABOUT = (
    Row("version", "v1.26.15+testbed"),
    Row("cluster-info", "is running at"),
    Row("api-resources", "NAME SHORTNAMES APIVERSION NAMESPACED KIND … pods po v1 true Pod … "
        "deployments deploy apps/v1 true Deployment"),
    Row("api-versions", "apps/v1 … policy/v1 … v1"),
    Row("auth can-i create pods", "yes"),
    Row("auth can-i --list", "*.* … [*]"),
    Row("auth whoami", "Username guest", since=28),
    Row("explain pods", "couldn't find resource for", 1),
    Row("logs first", "the server could not find the requested resource", 1),
    Row("exec first -- ls", "the server could not find the requested resource", 1),
    Row("top nodes", "Metrics API not available", 1),
    Row("get --raw /version", "(Unauthorized)", 1),
)  # fmt: skip
WRITE = (
    Row("create -f pod.yaml", "pod/made created"),
    Row("create -f pod.yaml", '(AlreadyExists): … pods "made" already exists', 1),
    Row("wait pod/made --for=condition=Ready --timeout=60s", "pod/made condition met"),
    Row("wait pod/made --for=condition=Gone --timeout=1s", "timed out waiting", 1),
    Row("wait pod/made --for=jsonpath='{.status.phase}'=Running", "condition met", since=23),
    Row("apply -f pod.yaml", "pod/made configured"),
    Row("apply -f pod.yaml", "pod/made unchanged"),
    Row("apply -f newer.yaml", "pod/made configured"),
    Row("get pod made -o jsonpath='{.spec.containers[0].image}'", "nginx:1.26"),
    Row("replace -f pod.yaml", 'The Pod "made" is invalid: spec: Forbidden: pod updates', 1),
    Row("replace -f shop.yaml", "NotFound", 1),
    Row("label pod made tier=back", "pod/made labeled"),
    Row("label pod made tier=front", "already has a value (back), and --overwrite is false", 1),
    Row("label pod made tier=front --overwrite", "pod/made labeled"),
    Row("annotate pod made note=hi", "pod/made annotated"),
    Row("""patch pod made -p '{"metadata":{"labels":{"a":"1"}}}'""", "pod/made patched"),
    Row("""patch pod made --type=merge -p '{"metadata":{"labels":{"tier":null}}}'""", "patched"),
    Row("""patch pod made --type=json
        -p '[{"op":"add","path":"/metadata/labels/b","value":"2"}]'""", "pod/made patched"),
    Row("get pod made --show-labels", "made 1/1 Running … a=1,app=made,b=2"),
    Row("""patch pod made -p '{"spec":{"nodeName":"n9"}}'""",
        'The Pod "made" is invalid: spec: Forbidden: pod updates may not change fields', 1),
    Row("scale deployment web --replicas=3", "deployment.apps/web scaled"),
    Row("rollout status deployment web --timeout=60s", "successfully rolled out"),
    Row("scale deployment web --current-replicas=3 --replicas=2", "deployment.apps/web scaled"),
    Row("scale deployment web --current-replicas=3 --replicas=4",
        "Expected replicas to be 3, was 2", 1),
    Row("get deployment web --subresource=scale -o yaml", "kind: Scale … replicas: 2", since=24),
    Row("set image deployment/web main=nginx:1.26", "deployment.apps/web image updated"),
    Row("rollout status deployment/web --timeout=60s", "successfully rolled out"),
    Row("rollout history deployment/web", "REVISION CHANGE-CAUSE 1 <none> 2 <none>"),
    Row("rollout undo deployment/web", "deployment.apps/web rolled back"),
    Row("rollout restart deployment/web", "deployment.apps/web restarted"),
    Row("rollout status deployment/web --timeout=60s", "successfully rolled out"),
    Row("taint node n2 a=b:NoSchedule", "node/n2 tainted"),
    Row("cordon n2", "node/n2 cordoned"),
    Row("get node n2", "n2 Ready,SchedulingDisabled"),
    Row("uncordon n2", "node/n2 uncordoned"),
    Row("create -f shop.yaml", "namespace/shop created"),
    Row("""run once --image=nginx -n shop --overrides='{"spec":{"nodeName":"n1"}}'""",
        "pod/once created"),
)  # fmt: skip
DELETE = (
    Row("create -f gone.yaml", "pod/gone created"),
    Row("delete pod gone --grace-period=0 --force", 'pod "gone" force deleted'),
    Row("create -f gone.yaml", "pod/gone created"),
    Row("delete pod gone --now", 'pod "gone" deleted'),
    Row("create -f gone.yaml", "pod/gone created"),
    Row("wait pod/gone --for=condition=Ready --timeout=60s", "pod/gone condition met"),
    Row("delete pods -l app=gone --wait=false --grace-period=20", 'pod "gone" deleted'),
    Row("wait pod/gone --for=delete --timeout=60s"),
    Row("create -f gone.yaml", "pod/gone created"),
    Row("delete -f gone.yaml", 'pod "gone" deleted'),
    Row("get pod gone", "NotFound", 1),
)
DRAIN = (
    Row("drain n3 --timeout=5s", "evicting pod default/guarded- … "
        "Cannot evict pod as it would violate the pod's disruption budget.", 1),
    Row("get node n3", "Ready,SchedulingDisabled"),
    Row("""patch pdb guarded --type=merge -p '{"spec":{"minAvailable":0}}'""", "patched"),
    Row("wait pdb/guarded --for=jsonpath='{.status.disruptionsAllowed}'=2", "met", since=23),
    Row("drain n3 --timeout=60s", "pod/guarded- … evicted … n3 … ed"),
    Row("delete deployment guarded --cascade=orphan", 'deployment.apps "guarded" deleted'),
    Row("get rs -l app=guarded", "guarded- … 2 2 0"),
)  # fmt: skip
APPLY = (
    Row("apply --server-side -f own.yaml", "pod/own serverside-applied"),
    Row("apply --server-side -f own.yaml", "pod/own serverside-applied"),
    Row("apply --server-side -f other.yaml --field-manager=other",
        'Apply failed with 1 conflict: conflict with "kubectl"', 1),
    Row("apply --server-side -f other.yaml --field-manager=other --force-conflicts",
        "pod/own serverside-applied"),
    Row("get pod own -o jsonpath='{.metadata.managedFields[*].manager}'", "other"),
)  # fmt: skip
NOT_HAD = (
    Row("create deployment x --image=nginx", "this testbed reads no protobuf", 1, since=32),
    Row("create namespace x", "this testbed reads no protobuf", 1, since=32),
    Row("create -f gone.yaml --dry-run=server", "cannot try a write", 1, since=27),
    Row("diff -f gone.yaml", "cannot try a write", 2, since=27),
    Row("create -f typo.yaml", "pod/typo created"),
    Row("expose deployment web --port=80", "this testbed does not model Service", 1),
)
GROUPS = {
    "read": READ,
    "about": ABOUT,
    "write": WRITE,
    "delete": DELETE,
    "apply": APPLY,
    "drain": DRAIN,
    "not had": NOT_HAD,
}
"""Each is run in order; none needs another."""
