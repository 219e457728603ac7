"""Folders that a user may really have: what is wrong with the files of a job besides its causes."""
import pathlib
import random
import shutil

DAMAGES = ("missing_rank", "rank_twice", "two_jobs", "empty_file", "versions")


def apply(damage, truth, folder, make, given):
    """Damages a job's folder; returns what was done, for the truth. `versions` (ranks of two versions of torch) is done
    where the traces are written."""
    rng = random.Random(f"{truth['seed']}/damage")
    rank = rng.randrange(truth["world_size"])
    path = folder / truth["files"][str(rank)]
    if damage == "missing_rank":
        path.unlink()
        del truth["files"][str(rank)]
        return {"kind": damage, "rank": rank}
    if damage == "rank_twice":
        copy = path.with_name("copy_of_" + path.name)
        shutil.copy(path, copy)
        return {"kind": damage, "rank": rank, "file": copy.relative_to(folder).as_posix()}
    if damage == "empty_file":
        path.write_bytes(b"")
        return {"kind": damage, "rank": rank}
    if damage == "two_jobs":
        other = make(folder, truth["seed"] + 1_000_000, **given)
        moved = []
        for name in other["files"].values():
            target = path.with_name(f"other_{pathlib.PurePosixPath(name).name}")
            shutil.move(folder / name, target)
            moved.append(target.relative_to(folder).as_posix())
        shutil.rmtree(folder / "jobs" / other["job"])
        return {"kind": damage, "job": other["job"], "files": moved}
    return {"kind": damage, "ranks": list(range(1, truth["world_size"], 2))}
