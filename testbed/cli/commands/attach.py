"""testbed attach: plays a scenario, or a race file, with real programs in place of actors.

Here stand only its options; the rest is imported when it is called, so --help is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from testbed.cli.attaching.programs import takes_programs
from testbed.cli.playing import DRIVER
from testbed.cli.races import whose_code
from testbed.cli.show import EXIT_CODES, JSON, SWITCH


@click.command("attach", epilog=EXIT_CODES)
@click.argument("what", metavar="SCENARIO|FILE")
@takes_programs
@click.option("--times", type=click.IntRange(1, 100_000), default=1, help="Play it so often.")
@click.option("--switch", "switches", multiple=True, metavar="K=V", help=SWITCH)
@click.option("--out", metavar="DIR", help="Folder for traces and logs, if not `attached/…`.")
@click.option("--driver", default="trio", help=DRIVER)
@click.option("--json", "as_json", is_flag=True, help=JSON)
@whose_code
def command(what: str, **given: Any) -> int:
    """Play a SCENARIO, or the race in FILE.race.yaml, with real programs in place of actors. They
    ask over HTTP; what is late, lost or fails is what the race file says.

    \b
    testbed attach double_bind.race.yaml --as alpha,beta='./my-scheduler --name {name}'
    testbed attach double_bind.race.yaml --as alpha=./fixed --as beta=./fixed --times 100
    """
    code: int = import_module("testbed.cli.attaching.attach").attach(what, **given)
    return code
