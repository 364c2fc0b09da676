"""A program that asks what its arguments say, one after another, and writes what it was told.

`GET /api/v1/nodes` asks once. `WATCH /api/v1/pods` writes each line that comes, to the end of the
watch. `UNTIL file GET path` asks again and again until there is such a file. A body stands behind
the path. `SLEEP 1` waits.
"""

import http.client
import json
import os
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

KUBECONFIG = json.loads(Path(os.environ["KUBECONFIG"]).read_text())
SERVER = urlsplit(KUBECONFIG["clusters"][0]["cluster"]["server"])
assert SERVER.hostname is not None
CONNECTION = http.client.HTTPConnection(SERVER.hostname, SERVER.port, timeout=60)


def say(*words: object) -> None:
    """Write a line of its log."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def ask(method: str, path: str, body: str = "") -> http.client.HTTPResponse:
    """Send one request; its answer, when the head of that has come."""
    kind = "merge-patch+json" if method == "PATCH" else "json"
    headers = {"Content-Type": f"application/{kind}"} if body else {}
    CONNECTION.request(method, SERVER.path + path, body or None, headers)
    return CONNECTION.getresponse()


def tell(method: str, path: str, body: str = "") -> None:
    """Send one request, and write how it was answered."""
    try:
        answer = ask(method, path, body)
        told = json.loads(answer.read())
        say(method, path, answer.status, told.get("reason", ""))
    except (OSError, http.client.HTTPException):
        CONNECTION.close()
        say(method, path, "lost")


def watch(path: str) -> None:
    """Write each line of a watch, and how it ended."""
    end = "ended"
    try:
        answer = ask("GET", path + "?watch=1")
        say("WATCH", path, answer.status)
        while line := answer.readline():
            told = json.loads(line)
            say(told["type"], told["object"].get("metadata", {}).get("name", ""))
    except (OSError, http.client.HTTPException):
        end = "broke"
    CONNECTION.close()
    say("WATCH", path, end)


say("began", os.getpid())
for argument in sys.argv[1:]:
    match argument.split(" ", 2):
        case ["SLEEP", seconds]:
            time.sleep(float(seconds))
        case ["WATCH", path]:
            watch(path)
        case ["UNTIL", file, request]:
            while not Path(file).exists():
                tell(*request.split(" ", 2))
                time.sleep(0.03)
        case _:
            tell(*argument.split(" ", 2))
say("done")
