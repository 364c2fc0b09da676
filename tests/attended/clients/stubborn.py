"""A program that asks once and then will not go: it heeds no signal, and neither does what it has
started, of which a part has moved to sessions of its own.
"""

import http.client
import json
import os
import signal
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
    signal.signal(number, signal.SIG_IGN)


def stay() -> None:
    """Sleep for longer than any test lasts."""
    while True:
        time.sleep(600)


def fork(depth: int) -> None:
    """Start a child that does the same, and in the end stays; some move to sessions of their own,
    and leave their parent."""
    if depth == 0 or os.fork():
        return
    if depth % 2:
        os.setsid()
        if os.fork():
            os._exit(0)
    fork(depth - 1)
    stay()


fork(4)
kubeconfig = json.loads(Path(os.environ["KUBECONFIG"]).read_text())
server = urlsplit(kubeconfig["clusters"][0]["cluster"]["server"])
assert server.hostname is not None
connection = http.client.HTTPConnection(server.hostname, server.port)
connection.request("GET", server.path + "/api/v1/nodes")
connection.getresponse().read()
sys.stdout.write("it stays\n")
sys.stdout.flush()
if sys.argv[1:] == ["goes"]:
    sys.exit()
stay()
