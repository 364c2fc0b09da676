"""testbed switches: shows how each component may behave, and how it does in each profile."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from textwrap import wrap

import click

from testbed.cli.output import say
from testbed.cli.show import EXIT_CODES, JSON, say_json
from testbed.errors import UnknownName
from testbed.switches import USUAL, Component, text_of

PACKAGE, MODULE = "actors", "switches"
"""Where the components of the testbed are found: in each package of `actors`, its `switches`."""
WIDTH = 96


@click.command("switches", epilog=EXIT_CODES)
@click.argument("names", nargs=-1, metavar="[COMPONENT...]")
@click.option("--json", "as_json", is_flag=True, help=JSON)
def command(names: tuple[str, ...], as_json: bool) -> None:
    """Show how each COMPONENT, or every one, may behave where versions of Kubernetes, or people's
    settings, differ.

    \b
    --switch scheduler.queue=fifo        all schedulers
    --switch alpha.queue=fifo            the actor alpha
    --switch profile=seed                all components, as a profile has them
    --switch alpha.profile=k8s-1.26      the actor alpha

    A switch of one actor overrides that of all, and a switch overrides a profile.
    """
    there = known()
    for name in names:
        if name not in there:
            raise UnknownName("component", name, there, see="testbed switches shows them all")
    chosen = [there[name] for name in names or there]
    if as_json:
        say_json({"components": [as_dict(component) for component in chosen]})
        return
    for component in chosen:
        _show(component)
    say(f"Next: testbed run double_bind --switch profile={USUAL}")


def known() -> dict[str, Component]:
    """The components that come with the testbed, by name."""
    root = import_module(PACKAGE)
    packages = [info.name for info in iter_modules(root.__path__) if info.ispkg]
    found = [component for name in packages for component in _of(f"{PACKAGE}.{name}")]
    return {component.name: component for component in sorted(found, key=lambda each: each.name)}


def _of(package: str) -> list[Component]:
    if not any(info.name == MODULE for info in iter_modules(import_module(package).__path__)):
        return []
    there = vars(import_module(f"{package}.{MODULE}")).values()
    return [each for each in there if isinstance(each, Component)]


def as_dict(component: Component) -> dict[str, object]:
    """One component as `--json` shows it."""
    said = component.says()
    flat = {profile: component.flat(component.of(profile)) for profile in component.known_profiles}
    return {
        "component": component.name,
        "switches": [
            {
                "name": name,
                "may_be": str(kind),
                "says": said.get(name, ""),
                "in": {profile: values[name] for profile, values in flat.items()},
            }
            for name, kind in component.kinds.items()
        ],
    }


def _show(component: Component) -> None:
    """Print each switch with its default and its possible values, and below that what it does."""
    said, usual = component.says(), component.flat(component.of())
    say(f"{component.name}: as in {USUAL}, unless it is said otherwise")
    for name, kind in component.kinds.items():
        say(f"\n  {component.name}.{name}={usual[name]}    ({kind})")
        for line in wrap(said.get(name, ""), WIDTH - 6):
            say(f"      {line}")
        for profile in component.known_profiles:
            value = text_of(getattr(component.of(profile), name))
            if value != usual[name]:
                say(f"      {profile}: {value}")
    say()
