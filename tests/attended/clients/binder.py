"""A scheduler in its barest form, quick to start: it looks once, binds what has room, and waits."""

import http.client
import json
import os
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

NAME, POOL = sys.argv[1:3]
CONFIG = json.loads(Path(os.environ["KUBECONFIG"]).read_text())
SERVER = urlsplit(CONFIG["clusters"][0]["cluster"]["server"])
assert SERVER.hostname is not None
CONNECTION = http.client.HTTPConnection(SERVER.hostname, SERVER.port)


def ask(method: str, path: str, body: Any = None) -> Any:
    """Send one request; what it was answered."""
    headers = {"Content-Type": "application/json"}
    CONNECTION.request(method, SERVER.path + path, body and json.dumps(body), headers)
    return json.loads(CONNECTION.getresponse().read())


def say(line: str) -> None:
    """Write a line of its log."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def milli(cpu: str) -> int:
    """A quantity of cpu in thousandths."""
    return int(cpu[:-1]) if cpu.endswith("m") else int(cpu) * 1000


def asked(pod: Any) -> int:
    """The cpu that a pod asks for."""
    return sum(milli(c["resources"]["requests"]["cpu"]) for c in pod["spec"]["containers"])


nodes = ask("GET", f"/api/v1/nodes?labelSelector=pool%3D{POOL}" if POOL else "/api/v1/nodes")
pods = ask("GET", "/api/v1/pods")["items"]
for pod in pods:
    spec, name = pod["spec"], pod["metadata"]["name"]
    if spec["schedulerName"] != NAME or spec.get("nodeName"):
        continue
    for node in nodes["items"]:
        here = [each for each in pods if each["spec"].get("nodeName") == node["metadata"]["name"]]
        if asked(pod) + sum(map(asked, here)) <= milli(node["status"]["allocatable"]["cpu"]):
            target = {"kind": "Node", "name": node["metadata"]["name"]}
            body = {"metadata": {"name": name}, "target": target}
            say(f"{name} goes to {node['metadata']['name']}")
            said = ask("POST", f"/api/v1/namespaces/default/pods/{name}/binding", body)
            say(f"{name}: {said.get('reason') or 'bound'}")
            break
while True:
    time.sleep(60)
