"""Troupe: the real programs of one Run: the command, the token and the kubeconfig of each.

A guest has no command: somebody else starts it, or nobody does.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

import attrs

from testbed.attended.http.tokens import known, path_of
from testbed.attended.process import RealProcess
from testbed.client.actor import Actor
from testbed.code.files import write_bytes
from testbed.errors import ScenarioError

TOKEN_BYTES = 16
WORD = re.compile(r"\{([a-z_]+)\}")


class Troupe:
    """The programs that stand in place of actors, and which of them run; and the guests."""

    def __init__(
        self, commands: Mapping[str, tuple[str, ...]], folder: Path, guests: Iterable[str] = ()
    ) -> None:
        self.commands = dict(commands)
        self.guests = tuple(guests)
        self.folder = folder
        """Where their kubeconfigs and their output stand."""
        named = (*self.commands, *self.guests)
        self._tokens = {secrets.token_urlsafe(TOKEN_BYTES): name for name in named}
        self.knows = known(self._tokens)
        """Says whether a token is that of one of them."""
        self._words: dict[str, Mapping[str, str]] = {}
        self._running: dict[str, RealProcess] = {}

    @property
    def names(self) -> Iterable[str]:
        """The actors in place of which they stand; a guest stands in place of none."""
        return self.commands.keys()

    def named(self, token: str) -> str:
        """The program that has this token."""
        return self._tokens[token]

    def speak_to(self, address: str) -> None:
        """Write a kubeconfig for each of them, which names that address."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            for token, name in self._tokens.items():
                path = self.kubeconfig_of(name)
                path.touch(mode=0o600)
                path.chmod(0o600)
                server = f"{address}{path_of(token)}"
                write_bytes(path, kubeconfig(server, name, token).encode())
        except OSError as error:
            raise ScenarioError(
                f"the kubeconfigs of the programs cannot be kept in {self.folder}: "
                f"{error.strerror}.\nNext: name another folder by --out."
            ) from error

    def kubeconfig_of(self, name: str) -> Path:
        """Where its kubeconfig stands."""
        return self.folder / f"{name}.kubeconfig"

    def output_of(self, name: str) -> Path:
        """Where its output stands."""
        return self.folder / f"{name}.log"

    def command_of(self, name: str) -> str:
        """Its command, as it was given."""
        return " ".join(self.commands[name])

    def cast(self, actor: Actor) -> None:
        """Remember the settings of the actor that one of them stands in place of: `{pool}` in its
        command becomes what that actor was given as its `pool`."""
        fields = {field.name: getattr(actor, field.name) for field in attrs.fields(type(actor))}
        told = {name: value for name, value in fields.items() if isinstance(value, str | int)}
        self._words[actor.name] = {name: str(value) for name, value in told.items()}

    # -- running --------------------------------------------------------------------------------

    def start(self, name: str) -> None:
        """Start that program."""
        kubeconfig = str(self.kubeconfig_of(name).resolve())
        words = {"name": name, **self._words.get(name, {}), "kubeconfig": kubeconfig}
        unknown = {*WORD.findall(self.command_of(name))} - words.keys()
        if unknown:
            raise ScenarioError(
                f"{name}: its command speaks of {{{min(unknown)}}}, and the actor that it stands "
                f"in place of has no such setting; there are {', '.join(sorted(words))}.\n"
                f"Next: name one of these: {self.command_of(name)}"
            )
        command = tuple(
            WORD.sub(lambda found: words[found[1]], part) for part in self.commands[name]
        )
        if shutil.which(command[0]) is None:
            raise ScenarioError(
                f"{name}: there is no program {command[0]} that can be run: {' '.join(command)}\n"
                "Next: name one that is in PATH, or by its path; a script needs `chmod +x`."
            )
        env = {"KUBECONFIG": kubeconfig, "TESTBED_NAME": name, **_around_proxies()}
        self._running[name] = RealProcess(name, command, self.output_of(name), env)

    @property
    def running(self) -> list[str]:
        """The programs that were started and not killed since."""
        return sorted(self._running)

    @property
    def at_work(self) -> list[str]:
        """Those of them that have a thread that can run now."""
        return [name for name, process in self._running.items() if process.is_at_work]

    def exit_code(self, name: str) -> int | None:
        """The code with which it has ended by itself; None while it runs."""
        return self._running[name].exit_code

    def stop(self, name: str, is_stopped: bool) -> None:
        """Stop it, or let it go on."""
        self._running[name].stop(is_stopped)

    def kill(self, name: str) -> None:
        """Kill it, with all that it has started."""
        self._running.pop(name).kill()

    def last_words(self, name: str) -> str:
        """The last line that it has written."""
        process = self._running.get(name)
        return "" if process is None else process.last_words()

    def close(self) -> None:
        """Kill all of them."""
        while self._running:
            self.kill(next(iter(self._running)))


def _around_proxies() -> dict[str, str]:
    """The variables with which no program asks a proxy of the user's for what is on this machine;
    some heed the one name, and some the other."""
    return {
        name: ",".join(filter(None, (os.environ.get(name), "127.0.0.1", "localhost")))
        for name in ("NO_PROXY", "no_proxy")
    }


def kubeconfig(server: str, name: str, token: str) -> str:
    """A kubeconfig with which a program speaks to that server; JSON is YAML, too."""
    context = {"cluster": "testbed", "user": name, "namespace": "default"}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "testbed", "cluster": {"server": server}}],
        "users": [{"name": name, "user": {"token": token}}],
        "contexts": [{"name": "testbed", "context": context}],
        "current-context": "testbed",
    }
    return json.dumps(config, indent=2) + "\n"
