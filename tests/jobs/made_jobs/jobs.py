"""Makes a job: settings, program, causes, traces and truth."""
import json
import pathlib

from . import damage as damages
from .causes import MadeCauses
from .clocks import draw_clocks
from .dialects import DIALECTS
from .layouts import build
from .settings import draw
from .truth import truth_of
from .writer import TraceWriter

START_NS = 1_760_000_000_000_000_000   # when jobs start, in true time


def simulate(seed, **given):
    """A job's causes and times, without files."""
    settings = draw(seed, **given)
    return MadeCauses(build(settings), START_NS)


def traces(made, clocks, dialects=None):
    """Each rank, its file's name and text; `dialects` are those of ranks whose torch is another version."""
    settings = made.settings
    for state, clock in zip(made.result.ranks, clocks):
        dialect = (dialects or {}).get(state.rank, settings.dialect)
        writer = TraceWriter(state, made.program, clock, dialect)
        yield state.rank, writer.file_name(), writer.document()


def make_truth(seed, **given):
    """A job's truth alone."""
    made = simulate(seed, **given)
    return truth_of(name_of(made.settings), made, draw_clocks(made.settings, START_NS), {})


def name_of(settings):
    return f"{settings.seed:04d}_{settings.kind}_{settings.world_size}"


def make(folder, seed, damage=None, **given):
    """Makes the job of a seed below `folder`; returns its truth. Settings can be given: see settings.Settings. `damage`
    is one of damage.DAMAGES."""
    if damage is not None and damage not in damages.DAMAGES:
        raise ValueError(f"there is no damage {damage!r}, only {', '.join(damages.DAMAGES)}")
    made = simulate(seed, **given)
    settings = made.settings
    name = name_of(settings)
    clocks = draw_clocks(settings, START_NS)
    folder = pathlib.Path(folder)
    target = folder / "jobs" / name
    target.mkdir(parents=True, exist_ok=True)
    (folder / "truth").mkdir(exist_ok=True)
    files = {}
    dialects = {}
    if damage == "versions":
        other = "torch_2_5" if settings.dialect.name != "torch_2_5" else "torch_2_10"
        dialects = {rank: DIALECTS[other] for rank in range(1, settings.world_size, 2)}
    for rank, file_name, text in traces(made, clocks, dialects):
        path = target / file_name
        path.write_text(text)
        files[str(rank)] = path.relative_to(folder).as_posix()
    truth = truth_of(name, made, clocks, files)
    if damage is not None:
        truth["damage"] = damages.apply(damage, truth, folder, make, given)
    (folder / "truth" / f"{name}.json").write_text(text_of(truth))
    return truth


def text_of(truth):
    """JSON with a line for each member, and for each collective."""
    lines = []
    for key, value in truth.items():
        if key == "collectives":
            rows = ",\n".join("  " + json.dumps(row) for row in value)
            lines.append(f'"{key}": [\n{rows}\n]')
        else:
            lines.append(f'"{key}": {json.dumps(value)}')
    return "{\n" + ",\n".join(lines) + "\n}\n"
