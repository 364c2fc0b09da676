"""testbed certify: checks the certificate of a complete search, and plays its classes again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import click

from testbed.checks.certificate import BAD_FILE, REFUSED, checked
from testbed.checks.certificate.certificate import Certificate
from testbed.checks.certificate.classes import RunClass
from testbed.checks.certificate.lines import CertificateRefused, Unreadable
from testbed.choosers.certified import Certified
from testbed.choosers.complete import ANY_FAULT
from testbed.choosers.equivalence.certificate import Offer, Said, Seen
from testbed.choosers.equivalence.orders import NO_TOUCH, Keys, OrderedTurn
from testbed.cli.output import say
from testbed.cli.progress import counting
from testbed.cli.races import trust_of, whose_code
from testbed.cli.show import EXIT_CODES, JSON, say_json
from testbed.code.printable import in_line
from testbed.errors import ReplayDiverged, ScenarioError
from testbed.races.trust import Named, Trust, allowed, line_for, line_naming
from testbed.search.crossing import Crossing
from testbed.search.terms import terms_of, world_of
from testbed.store.footprint import NOTHING, Footprint
from testbed.turns.option import Sentence
from testbed.turns.session import play_all
from testbed.turns.trace import Trace
from testbed.words import counted
from testbed.world.scenario import Scenario

UNPLAYED = (
    "what each turn touched, what caused it, what was offered, how each class was judged, in how "
    "many other orders"
)
"""What is taken on trust of classes that were not played again."""
PLAYED = (
    "that footprints are true in all orders that were not played, and nobody looks by gc, frames, "
    "private names or a C extension at what others do; a fault whose occasion passes "
    "(docs/search.md)"
)
"""What is taken on trust even if all were."""


@click.command("certify", epilog=f"0 accepted, 1 refused, 2 no certificate. {EXIT_CODES}")
@click.argument("file")
@click.option("--replay", "replays", type=click.IntRange(min=0), default=0, show_default=True,
              metavar="N", help="Play N of its classes again, spread evenly; all if there are "
              "fewer.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help=JSON)
@whose_code
def command(
    file: str, replays: int, as_json: bool, scenario: str | None, folders: tuple[str, ...]
) -> int:
    """Check the certificate in FILE, which a complete search has written.

    \b
    testbed search double_bind --effort complete --out proof
    testbed certify proof/double_bind.certificate.jsonl --replay 100

    A checker that knows no search checks it by itself. Then it is held against the code as it is
    now. Says what was checked, and what is taken on trust.
    """
    trust = trust_of(scenario, folders)
    try:
        certificate = checked(file)
        recipe = _scenario(file, certificate, trust)
        header = certificate.header
        how = {"allows_none": header["allows_none"]}
        hold_against(certificate, terms_of(recipe, header["switches"], header["added"], **how))
        played = play_again(certificate, recipe, replays)
    except CertificateRefused as refused:
        return _refuse(file, refused, as_json)
    classes = len(certificate.runs)
    on_trust = PLAYED if played == classes else f"{UNPLAYED}; {PLAYED}"
    again = line_for("certify", file, trust.naming(recipe.name), "--replay", str(classes))
    if as_json:
        say_json(
            {
                "file": file, "code": 0, "refused": None, "proves": certificate.proves,
                "verdict": certificate.header["verdict"], "classes": classes,
                "tried": certificate.tried, "played": played,
                "orders": header["tested"]["orders"] if played == classes else 0,
                "on_trust": on_trust, "again": again,
            }
        )  # fmt: skip
        return 0
    say(f"{file}: {certificate.proves}.")
    say(
        f"Checked: coherent and closed, {certificate.tried_in_words}; it is of this code, "
        f"{_alike(played, classes, header['tested']['orders'])}."
    )
    say(f"On trust: {on_trust}." + ("" if played == classes else f" Next: {again}"))
    return 0


def _alike(played: int, classes: int, orders: int) -> str:
    if not played:
        return "and no class was played again"
    also = f", in {counted(orders, 'other order')} as well" if played == classes else ""
    return f"and {played:,} of {counted(classes, 'class', 'es')} played again are alike{also}"


def _refuse(file: str, refused: CertificateRefused, as_json: bool) -> int:
    code = BAD_FILE if isinstance(refused, Unreadable) else REFUSED
    if as_json:
        say_json({"file": file, "code": code, "refused": str(refused)})
    else:
        again = "testbed search SCENARIO --effort complete --out DIR"
        why = in_line(str(refused))
        say(f"{file}: refused: {why}.\nNext: search again, and certify that: {again}")
    return code


def _scenario(file: str, certificate: Certificate, trust: Trust) -> Scenario:
    """The scenario that was searched; an error if it may not be run."""
    name: str = certificate.header["scenario"]
    again = line_naming("certify", file, name)
    said = f"{file} is a certificate of"
    return allowed(Named(name, f"{file}, line 1", said, again, ScenarioError), trust)


def hold_against(certificate: Certificate, terms: Mapping[str, Any]) -> None:
    """Refuse a certificate if the code, as it is now, would search another World."""
    for name, here in terms.items():
        said = certificate.header[name]
        if said == here:
            continue
        if name == "sources":
            changed = sorted(k for k in {*said, *here} if said.get(k) != here.get(k))
            raise CertificateRefused(
                f"it is of other code: what has changed since is {', '.join(changed)}"
            )
        raise CertificateRefused(f"it is of another search: its {name} are {said}, here {here}")


def play_again(certificate: Certificate, recipe: Scenario, replays: int) -> int:
    """Play `replays` of its classes again, and if these are all, also in the orders in which they
    were put to the test; refuse the certificate if one is not as it says."""
    header, runs = certificate.header, certificate.runs
    wanted = min(replays, len(runs))
    is_limited = header["faults_max"] < sum(times for _, times in header["allowed"])
    spends = ANY_FAULT if is_limited else NOTHING
    with counting("classes") as progress:
        for number in range(wanted):
            run = runs[number * len(runs) // wanted]
            chooser = Certified(_seen(certificate, run), header["faults_max"], spends)
            how = {"allows_none": header["allows_none"]}
            world = world_of(recipe, header["switches"], header["added"], **how)
            world.prepare(chooser, trace=Trace({}), number=number)
            play_all([world], driver="direct")
            if chooser.difference:
                raise CertificateRefused(
                    f"class {run.number}, played again, is another one: {chooser.difference}"
                )
            progress(number + 1, wanted)
    if wanted == len(runs):
        _play_orders(certificate, recipe)
    return wanted


def _play_orders(certificate: Certificate, recipe: Scenario) -> None:
    """Play its classes in the orders in which the search has played them; refuse the certificate if
    one comes to something else, or if there are not as many. One that was written without any says
    so, and claims nothing."""
    header, keys = certificate.header, Keys()
    tested = header["tested"]
    if not (tested["orders"] or tested["turns"]):
        return
    if not re.fullmatch(r"-?\d{1,30}", tested["seed"]):
        raise CertificateRefused(f"no orders are drawn from the seed {tested['seed']!r}")
    how = {"allows_none": header["allows_none"]}
    crossing = Crossing(
        lambda: world_of(recipe, header["switches"], header["added"], **how),
        "direct", int(tested["seed"]),
    )  # fmt: skip
    classes = [_seen(certificate, run, keys) for run in certificate.runs]
    try:
        orders = crossing.check(classes, "search again", tested["turns"])
    except ReplayDiverged as error:
        raise CertificateRefused(str(error).partition("\n")[0].rstrip(".")) from error
    if tested["orders"] != orders:
        said = counted(tested["orders"], "other order")
        raise CertificateRefused(f"its classes came to the same in {orders:,}, not in {said}")


def _seen(certificate: Certificate, run: RunClass, keys: Keys | None = None) -> Seen:
    """A class of the file as one of ours; with these keys, so that its turns can be ordered."""
    options = [Said(Sentence(*words), settings) for *words, settings in certificate.options]
    turns = tuple(
        OrderedTurn(
            options[step.option - 1].sentence, step.picks, step.at,
            did := Footprint(step.reads, step.writes),
            NO_TOUCH if keys is None else keys.touch(did), tuple(causes),
            options[step.option - 1].settings,
        )
        for step, causes in zip(run.steps, run.causes, strict=True)
    )  # fmt: skip
    offers = tuple(
        Offer(
            tuple(options[option - 1] for option in offer.ready),
            tuple(options[option - 1] for option in offer.faults),
            offer.due,
        )
        for offer in run.offers
    )
    broken = tuple((claim, said) for claim, said in run.broken)
    lates = tuple(Footprint(*certificate.lates[step.number - 1]) for step in run.steps)
    return Seen(run.verdict, run.end, broken, turns, lates, tuple(run.places), offers)
