"""A program that asks what its arguments say, one after another, and writes what it was told.

`GET /api/v1/nodes` asks once; a body stands behind the path. `WATCH /api/v1/pods` writes each line
that comes, to the end of the watch. `UNTIL file GET path` asks again and again until there is such
a file, and `AGAIN GET path` until it is answered. `LEAVE 1 /api/v1/pods` opens a watch, waits, and
closes it unread. `SEND PATCH path body` waits for no answer. `SLEEP 1` waits, `AWAIT file` until
there is such a file, which `TOUCH file` makes. What all such programs have written stands in
`order.log` as well, in the order in which it was.
"""

import http.client
import json
import os
import signal
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

FILE = Path(os.environ["KUBECONFIG"])
NAME, ORDER = os.environ["TESTBED_NAME"], FILE.with_name("order.log")
KUBECONFIG = json.loads(FILE.read_text())
SERVER = urlsplit(KUBECONFIG["clusters"][0]["cluster"]["server"])
assert SERVER.hostname is not None
CONNECTION = http.client.HTTPConnection(SERVER.hostname, SERVER.port, timeout=300)


def say(*words: object) -> None:
    """Write a line of its log."""
    line = " ".join(map(str, words)).strip()
    os.write(1, f"{line}\n".encode())
    with ORDER.open("ab", buffering=0) as file:
        file.write(f"{NAME}: {line}\n".encode())


def send(method: str, path: str, body: str = "") -> None:
    """Send one request."""
    kind = "merge-patch+json" if method == "PATCH" else "json"
    headers = {"Content-Type": f"application/{kind}"} if body else {}
    CONNECTION.request(method, SERVER.path + path, body or None, headers)


def ask(method: str, path: str, body: str = "") -> http.client.HTTPResponse:
    """Send one request; its answer, when the head of that has come."""
    send(method, path, body)
    return CONNECTION.getresponse()


def tell(method: str, path: str, body: str = "") -> bool:
    """Send one request, and write how it was answered; whether it was."""
    try:
        answer = ask(method, path, body)
        told = json.loads(answer.read())
    except (OSError, http.client.HTTPException):
        CONNECTION.close()
        say(method, path, "lost")
        return False
    say(method, path, answer.status, told.get("reason", ""))
    return True


def watch(path: str) -> None:
    """Write each line of a watch, and how it ended: with its last chunk, or not."""
    end = "broke"
    try:
        CONNECTION.request("GET", SERVER.path + path + "?watch=1")
        assert CONNECTION.sock is not None
        with CONNECTION.sock.makefile("rb") as file:
            say("WATCH", path, file.readline().split()[1].decode())
            while file.readline().strip():
                pass
            while size := file.readline().strip():
                if size == b"0":
                    end = "ended"
                    break
                told = json.loads(file.readline())
                file.readline()
                say(told["type"], told["object"].get("metadata", {}).get("name", ""))
    except OSError:
        pass
    CONNECTION.close()
    say("WATCH", path, end)


signal.signal(signal.SIGCONT, lambda *_: say("goes on"))
say("began")
for argument in sys.argv[1:]:
    match argument.split(" ", 2):
        case ["SLEEP", seconds]:
            time.sleep(float(seconds))
        case ["TOUCH", file]:
            Path(file).touch()
        case ["AWAIT", file]:
            while not Path(file).exists():
                time.sleep(0.02)
        case ["WATCH", path]:
            watch(path)
        case ["LEAVE", seconds, path]:
            answer = ask("GET", path + "?watch=1")
            time.sleep(float(seconds))
            answer.close()
            CONNECTION.close()
            say("LEFT", path)
        case ["UNTIL", file, request]:
            while not Path(file).exists():
                tell(*request.split(" ", 2))
                time.sleep(0.03)
        case ["SEND", method, rest]:
            send(method, *rest.split(" ", 1))
        case ["AGAIN", method, path]:
            while not tell(method, path):
                time.sleep(0.1)
        case _:
            tell(*argument.split(" ", 2))
say("done")
