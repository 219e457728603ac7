"""What is allocated at each moment of a memory snapshot, by undoing its entries from the blocks at the end.

It shares no code with what reads snapshots. Python 3, nothing besides.
"""


def own_line(frames):
    """The line of a stack as the program names it: what is not below site-packages is the user's."""
    for frame in frames:
        if "site-packages" not in frame["filename"]:
            return f"{frame['filename'].removeprefix('/home/u/project/')}({frame['line']}): {frame['name']}"
    return None


def stack_text(frames):
    """All frames of a stack, innermost first."""
    return " < ".join(frame_text(frame) for frame in frames)


def frame_text(frame):
    file = frame["filename"].removeprefix("/home/u/project/")
    return f"{file}({frame['line']}): {frame['name']}"


def states(made, device):
    """What is allocated before each entry and after the last: address -> (bytes, line or why it has none, stack)."""
    entries = made["device_traces"][device] if device < len(made["device_traces"]) else []
    last_alloc = [{}]
    for entry in entries:
        seen = dict(last_alloc[-1])
        if entry["action"] == "alloc":
            seen[entry["addr"]] = entry
        elif entry["action"] == "free_completed":
            seen.pop(entry["addr"], None)
        last_alloc.append(seen)

    def origin(address, moment, frames):
        alloc = last_alloc[moment].get(address)
        if alloc is None:
            why = "[unattributed]" if frames else "[before the recording]"
            return own_line(frames) or why, stack_text(frames) or why
        return own_line(alloc["frames"]) or "[unattributed]", stack_text(alloc["frames"]) or "[unattributed]"

    live, at_end = {}, {}
    for segment in made["segments"]:
        address = segment["address"]
        for block in segment["blocks"]:
            if segment["device"] == device and block["state"] != "inactive":
                history = block.get("history", [{}])[0]
                live[address] = block.get("requested_size", history.get("real_size"))
                at_end[address] = block.get("frames", history.get("frames", []))
            address += block["size"]
    freed_later = set()
    result = []
    for moment in range(len(entries), -1, -1):
        frames_of = {address: [] if address in freed_later else at_end.get(address, []) for address in live}
        result.append({address: (size, *origin(address, moment, frames_of[address]))
                       for address, size in live.items()})
        if moment == 0:
            break
        entry = entries[moment - 1]
        if entry["action"] == "alloc":
            del live[entry["addr"]]
            freed_later.add(entry["addr"])
        elif entry["action"] == "free_completed":
            live[entry["addr"]] = entry["size"]
            freed_later.add(entry["addr"])
    return result[::-1]
