"""Level 4, did it happen: a create gets no answer, is sent again, and there are two Jobs."""

from __future__ import annotations

import attrs

from actors.apiserver import ApiServer
from testbed import Actor, Client, Evidence, Unavailable, World, always, quiescent
from testbed.errors import ScenarioError
from testbed.faults.lose_reply import LoseReply
from testbed.objects import Job, JobSpec, Map, Meta, PodSpec, PodTemplate
from testbed.teaching.level import GuessFirst, LearnLevel, LevelTrial, RealIncident
from testbed.teaching.looks import EveryMoment, EveryOrder
from testbed.teaching.patience import AsksWithinReason
from testbed.teaching.seat import seat

CRON = seat("cron")
TIME = "time"
"""The label of a Job that says for which time it is."""
ASKS_MAX = 100
"""How often one program may ask in a minute."""
TURNS_MAX = 800
"""In one instant; more than all programs together may take."""
MINUTES_MAX = 3


@attrs.frozen
class Cron(Actor):
    """A cron: starts one Job for each of its times."""

    component = CRON

    job_name: str = "report"
    """What its Jobs do; their names begin so."""
    times: tuple[str, ...] = ("0900", "2100")
    """The times of one day; each is to have its Job."""

    def job(self, time: str, name: str = "") -> Job:
        """The Job of that time, to create. Without a name, the API server gives it a new one."""
        prefix = "" if name else f"{self.job_name}-{time}-"
        meta = Meta(name, "default", generate_name=prefix, labels=Map({TIME: time}))
        pods = PodTemplate(spec=PodSpec(restart_policy="Never"))
        return Job(meta, spec=JobSpec(template=pods))


class CarelessCron(Cron):
    """Creates a Job for each time, and tries again if no answer comes."""

    async def run(self, client: Client) -> None:
        for time in self.times:
            while True:
                try:
                    await client.create(self.job(time))
                    break
                except Unavailable:
                    await client.sleep(1_000)


def asked_twice(
    world: World,
    *,
    names: str = "cron",
    job: str = "report",
    times: str = "0900,2100",
    create_takes_ms: int = 0,
) -> None:
    """A create gets no answer and is sent again: two Jobs for one time.

    Cause: Unavailable says that no answer came, not that nothing was done, and a create with a
      generated name is a new object each time.
    Look for: the second create of the same time, after the lost answer.
    Source: kubernetes#148; the Kubernetes API Conventions, "Idempotency".
    Tags: lost-reply.
    """
    crons, due = names.split(","), times.split(",")
    for what, given in (("names", crons), ("times", due)):
        if not all(given) or len({*given}) < len(given):
            raise ScenarioError(
                f"{what}={','.join(given)}: expected each once, with commas between.\n"
                "Next: --switch times=0900,2100"
            )
    world.serve(ApiServer)
    for name in crons:
        world.start(CarelessCron(name, job, tuple(due)))
    world.allow(LoseReply("*"))
    if create_takes_ms:
        world.latency("create jobs", serve_ms=create_takes_ms)

    def no_time_has_two_jobs(see: Evidence) -> str | None:
        for time, found in _jobs_ever(see, due).items():
            if len(found) > 1:
                return f"{time} was given {len(found)} Jobs: {', '.join(found)}"
        return None

    def each_time_has_its_job(see: Evidence) -> str | None:
        none = [time for time, found in _jobs_ever(see, due).items() if not found]
        if not none:
            return None
        return f"there is no Job for {', '.join(none)}"

    world.claim(
        always(no_time_has_two_jobs, reads=("log:jobs",)),
        quiescent(each_time_has_its_job, reads=()),
        AsksWithinReason(ASKS_MAX, 60_000),
    )
    world.limit(instant_turns_max=TURNS_MAX, virtual_ms_max=MINUTES_MAX * 60_000)


def _jobs_ever(see: Evidence, times: list[str]) -> dict[str, list[str]]:
    """By time, the Jobs that were created for it, also those that are gone."""
    made: dict[str, list[str]] = {time: [] for time in times}
    for change in see.store.log("jobs").after(0):
        new = change.new.value if change.old is None and change.new is not None else None
        if isinstance(new, Job):
            made.setdefault(new.meta.labels.get(TIME, "no time"), []).append(new.meta.name)
    return made


LEVEL = LearnLevel(
    number=4,
    title="did it happen?",
    concept=(
        "Sometimes a program gets no answer to a request, and must decide: to ask again, or to go "
        "on? Work that is missing is wrong, and so is work that is done twice. The way out is to "
        "ask in such a way that the second time changes nothing."
    ),
    build=asked_twice,
    component=CRON,
    base=Cron,
    careless=CarelessCron,
    asked=(
        "A cron starts one Job for each of `self.times`: each time must be given exactly one Job, "
        "ever; then `run` returns. A request may be lost, or the answer to it, at any call: both "
        "raise Unavailable, and look the same. The cron may crash at any time: then `run` begins "
        "again with empty memory, while what it has asked for may still be under way. And two "
        "crons with the same times may run at once. Mend `run`."
    ),
    calls=(
        "`self.job(time, name)` is the Job of that time with that name, and `self.job_name` is "
        "what the Jobs do, such as report. `client.create` raises "
        "AlreadyExists if the name is taken; it is in `testbed.errors`. You may also need "
        "`client.get(Job, name)`, which raises NotFound, or `client.list(Job)`, whose `.items` are "
        "all Jobs. A Job that is deleted and created again is two Jobs."
    ),
    imports="""\
from scenarios.levels.asked_twice import Cron
from testbed import Client, Unavailable
from testbed.objects import Job
""",
    guess=GuessFirst(
        question="A create raises Unavailable. Is the Job there?",
        choices=("no", "yes", "perhaps"),
        answer=3,
        why=(
            "If the request was lost, nothing was done. If the answer was lost, all was done. The "
            "caller sees the same error."
        ),
    ),
    hints=(
        "Two creates of one time: what makes the API server take the second one for another Job?",
        "To look first, and create if there is none, leaves a gap: a create that is under way, or "
        "the other cron, comes in between. Let the API server decide instead.",
        "The API server refuses a name that is taken. So let the name follow from the time alone, "
        "as in report-0900: not from a number that you count, the clock, or chance.",
        "In the loop: `await client.create(self.job(time, f'{self.job_name}-{time}'))`, `break`; "
        "`except AlreadyExists: break`, since the Job is there; `except Unavailable`: sleep, and "
        "try again.",
    ),
    words={
        "Job": "A piece of work in the cluster, to be done once.",
        "cron": "A program that starts a Job for each of its times.",
        "create": "To ask the API server for a new object.",
        "request": "What a program asks of the API server.",
        "answer": "What comes back; without one, the caller gets Unavailable.",
        "lost": "Of a request: it never arrived. Of an answer: all was done, and the caller is not "
        "told.",
        "Unavailable": "The error when no answer came.",
        "AlreadyExists": "The refusal of a create: the name is taken.",
        "crash": "The end of a program between two of its steps; its memory is gone.",
        "under way": "Of a request: sent, and not yet done.",
        "generated name": "A name with a random end, which the API server makes for an object "
        "without one.",
    },
    incident=RealIncident(
        said=(
            "The documentation of CronJob warns that two Jobs may be created for one time, or "
            "none, and that Jobs should bear that. The controller of today names each Job by its "
            "time, as you did."
        ),
        link="https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/",
    ),
    trials=(
        LevelTrial(name="every order, and an answer may be lost", look=EveryOrder(150, 30)),
        LevelTrial(name="a request is lost", look=EveryMoment("lose_request")),
        LevelTrial(
            name="every order, and both may be lost",
            look=EveryOrder(150, 30),
            faults=("lose_request",),
        ),
        LevelTrial(
            name="a create takes 10 s, and the cron crashes",
            look=EveryMoment("crash,restart=2s"),
            switches={"create_takes_ms": 10_000},
        ),
        LevelTrial(
            name="two crons with the same times",
            look=EveryOrder(100, 30),
            switches={"names": "alpha,beta"},
        ),
        LevelTrial(
            name="one time, and the cron crashes and is back at once",
            look=EveryOrder(100, 30),
            switches={"times": "0900"},
            faults=("crash,restart=0s",),
        ),
        LevelTrial(name="other names and times", look=EveryOrder(100, 30), is_varied=True),
    ),
    varied={
        "names": ("cron-1", "clock", "anna"),
        "job": ("backup", "invoice", "sweep", "mail"),
        "times": ("0000,0600,1200", "0730,1930", "2359", "0100,0200"),
    },
)
