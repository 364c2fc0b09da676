"""A program that sends all that no program should, row after row, and writes what came of each."""

import json
import os
import socket
import sys
from pathlib import Path
from urllib.parse import urlsplit

from tests.attended.malice import HUNG_UP, ROWS, SERVED, WRITES, Malice
from tests.attended.programs import TOKEN, WITHIN_S, Answered

DONE = Path(sys.argv[1])
KUBECONFIG = json.loads(Path(os.environ["KUBECONFIG"]).read_text())
SERVER = urlsplit(KUBECONFIG["clusters"][0]["cluster"]["server"])
OWN = KUBECONFIG["users"][0]["user"]["token"].encode()


def fate(row: Malice) -> str:
    """Why that is not what should have come of it; empty if it is."""
    with socket.create_connection((SERVER.hostname, SERVER.port), WITHIN_S) as sock:
        heard = b""
        try:
            sock.sendall(row.said.replace(TOKEN.encode(), OWN))
            if row.says_no_more:
                sock.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        for code in row.codes:
            if code == HUNG_UP:
                continue
            while (found := Answered.read(heard)) is None:
                data = sock.recv(1 << 16)
                if not data:
                    return f"hung up on, and not answered {code}"
                heard += data
            answer, heard = found
            if code == SERVED:
                if answer.code >= 500:
                    return f"answered {answer.code}"
            elif answer.code != code:
                return f"answered {answer.code} instead of {code}: {answer.body.decode()}"
            elif code >= 400 and json.loads(answer.body)["code"] != code:
                return f"told {answer.body.decode()}"
    return ""


for each in (*ROWS, *WRITES):
    if told := fate(each):
        sys.stdout.write(f"{each.claim}: {told}\n")
sys.stdout.write("that was all\n")
DONE.touch()
