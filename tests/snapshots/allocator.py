"""A model of PyTorch's caching allocator that writes memory snapshots, with what is true of them.

It shares no code with what reads them: requests are rounded to 512 bytes, blocks are split and merged, pools are small
and large, by stream, private or default; segments may be expandable. `snapshot()` is what
`torch.cuda.memory._snapshot()` returns. Python 3, nothing besides.
"""

import io
import pickle
import random

MIB = 1 << 20
SMALL_SEGMENT = 2 * MIB
LARGE_SEGMENT = 20 * MIB
DEFAULT_POOL = (0, 0)


class OutOfMemory(Exception):
    pass


class Block:
    def __init__(self, segment, address, size):
        self.segment, self.address, self.size = segment, address, size
        self.state, self.requested, self.frames = "inactive", 0, []


class Segment:
    def __init__(self, address, size, stream, pool, kind, expandable, frames):
        self.address, self.size = address, size
        self.stream, self.pool, self.kind = stream, pool, kind
        self.expandable, self.frames = expandable, frames
        self.blocks = [Block(self, address, size)]


class Allocator:
    def __init__(self, capacity=1 << 40, device=0, expandable=False, most_entries=None, states=True):
        self.capacity, self.device, self.expandable = capacity, device, expandable
        self.segments, self.entries, self.by_address, self.annotations = [], [], {}, []
        self.next_address = 0x7F0000000000 + device * 0x10000000000
        self.next_mapped = {}
        self.time_us = 1_760_000_000_000_000
        self.most_entries, self.states = most_entries, states

    def reserved(self):
        return sum(segment.size for segment in self.segments)

    def record(self, action, **values):
        self.time_us += 3
        self.entries.append({"action": action, **values, "time_us": self.time_us})

    def annotate(self, name, stage):
        self.time_us += 1
        self.annotations.append({"stage": stage, "name": name, "device": self.device,
                                 "time_us": self.time_us})

    def add_segment(self, wanted, stream, pool, kind, frames):
        size = -(-wanted // SMALL_SEGMENT) * SMALL_SEGMENT
        if not self.expandable and kind == "large" and wanted < 10 * MIB:
            size = LARGE_SEGMENT
        key = (stream, pool, kind)
        if self.reserved() + size > self.capacity:
            self.release_unused()
        if self.reserved() + size > self.capacity:
            return None
        if self.expandable and key in self.next_mapped:
            address = self.next_mapped[key]
        else:
            address = self.next_address
            self.next_address += (1 << 36) if self.expandable else size + SMALL_SEGMENT
        self.record("segment_map" if self.expandable else "segment_alloc", addr=address, size=size, stream=stream,
                    frames=frames)
        if self.expandable:
            before = next((s for s in self.segments
                           if (s.stream, s.pool, s.kind) == key and s.address + s.size == address), None)
            self.next_mapped[key] = address + size
            if before:
                before.size += size
                last = before.blocks[-1]
                if last.state == "inactive":
                    last.size += size
                    return last if last.size >= wanted else None
                before.blocks.append(Block(before, address, size))
                return before.blocks[-1]
        segment = Segment(address, size, stream, pool, kind, self.expandable, frames)
        self.segments.append(segment)
        return segment.blocks[0]

    def release_unused(self):
        for segment in list(self.segments):
            is_unused = len(segment.blocks) == 1 and segment.blocks[0].state == "inactive"
            if is_unused and segment.pool == DEFAULT_POOL:
                self.segments.remove(segment)
                self.record("segment_unmap" if segment.expandable else "segment_free", addr=segment.address,
                            size=segment.size, stream=segment.stream, frames=[])

    def alloc(self, requested, stream=0, pool=DEFAULT_POOL, frames=(), **more):
        size = -(-max(requested, 1) // 512) * 512
        kind = "small" if size <= MIB else "large"
        fits = [block for segment in self.segments
                if (segment.stream, segment.pool, segment.kind) == (stream, pool, kind)
                for block in segment.blocks if block.state == "inactive" and block.size >= size]
        block = min(fits, key=lambda each: (each.size, each.address), default=None)
        frames = list(frames)
        if block is None:
            block = self.add_segment(size, stream, pool, kind, frames)
        if block is None:
            self.record("oom", device_free=self.capacity - self.reserved(), size=size, stream=stream,
                        frames=frames)
            raise OutOfMemory
        rest = block.size - size
        if rest >= 512 if kind == "small" or self.expandable else rest > MIB:
            after = Block(block.segment, block.address + size, rest)
            block.segment.blocks.insert(block.segment.blocks.index(block) + 1, after)
            block.size = size
        block.state, block.requested, block.frames = "active_allocated", requested, frames
        self.by_address[block.address] = block
        self.record("alloc", addr=block.address, size=requested, stream=stream, frames=frames, **more)
        return block.address

    def request_free(self, address, frames=()):
        block = self.by_address[address]
        block.state = "active_pending_free"
        self.record("free_requested", addr=address, size=block.requested, stream=block.segment.stream,
                    frames=list(frames) or block.frames)

    def complete_free(self, address, frames=()):
        block = self.by_address.pop(address)
        self.record("free_completed", addr=address, size=block.requested, stream=block.segment.stream,
                    frames=list(frames) or block.frames)
        block.state, block.requested, block.frames = "inactive", 0, []
        blocks = block.segment.blocks
        at = blocks.index(block)
        for other in (at + 1, at - 1):
            if 0 <= other < len(blocks) and blocks[other].state == "inactive" and blocks[other] is not block:
                first, second = sorted((blocks[other], block), key=lambda each: each.address)
                first.size += second.size
                blocks.remove(second)
                block = first

    def free(self, address, frames=()):
        self.request_free(address, frames)
        self.complete_free(address, frames)

    def trace(self):
        return self.entries if self.most_entries is None else self.entries[-self.most_entries:]

    def segment_rows(self, old=False):
        rows = []
        for segment in self.segments:
            blocks = []
            for block in segment.blocks:
                row = {"address": block.address, "size": block.size, "requested_size": block.requested,
                       "state": block.state, "frames": block.frames if self.states else []}
                if old:  # as in 2022 and 2023
                    del row["address"], row["requested_size"], row["frames"]
                    if block.state != "inactive":
                        row["history"] = [{"addr": block.address, "real_size": block.requested,
                                           "frames": block.frames if self.states else []}]
                blocks.append(row)
            active = [block for block in segment.blocks if block.state != "inactive"]
            row = {"device": self.device, "address": segment.address, "total_size": segment.size,
                   "allocated_size": sum(block.size for block in active),
                   "active_size": sum(block.size for block in active),
                   "requested_size": sum(block.requested for block in active), "stream": segment.stream,
                   "segment_type": segment.kind, "segment_pool_id": segment.pool, "is_expandable": segment.expandable,
                   "frames": segment.frames, "blocks": blocks}
            if old:
                del row["segment_pool_id"], row["is_expandable"], row["frames"], row["requested_size"]
            rows.append(row)
        return rows


def snapshot(allocators, old=False):
    traces = []
    for allocator in allocators:
        traces += [[] for _ in range(allocator.device - len(traces))]
        traces.append(allocator.trace())
    made = {"segments": [row for allocator in allocators for row in allocator.segment_rows(old)],
            "device_traces": traces}
    if not old:
        made["allocator_settings"] = {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1,
                                      "garbage_collection_threshold": 0.0,
                                      "expandable_segments": allocators[0].expandable,
                                      "roundup_power2_divisions": {"1": 0, "2": 0, "256": 0}}
        made["external_annotations"] = [row for allocator in allocators for row in allocator.annotations]
    return made


def pickled(made, protocol):
    """In the way of Python's pickle, and with 3 in that of torch's C++ pickler: protocol 2 without batches."""
    if protocol != 3:
        return pickle.dumps(made, protocol=protocol)
    out = io.BytesIO()

    class Unbatched(pickle._Pickler):
        _BATCHSIZE = 1 << 30
    Unbatched(out, 2).dump(made)
    return out.getvalue()


def frame(filename, line, name):
    return {"filename": filename, "line": line, "name": name}


def random_program(seed, steps=400):
    """Some allocators after random calls, with frames that differ."""
    random_ = random.Random(seed)
    frames = [[frame("/home/u/project/model.py", line, "forward"),
               frame("/home/u/project/train.py", 10 + line, "main")] for line in range(1, 7)]
    linear = frame("/usr/lib/python3.11/site-packages/torch/nn/modules/linear.py", 12, "forward")
    frames += [[linear] + frames[0], []]
    allocators = []
    for device in range(random_.choice((1, 1, 2))):
        allocator = Allocator(capacity=random_.choice((1 << 40, 200 * MIB)), device=device,
                              expandable=random_.random() < 0.3, most_entries=random_.choice((None, 150, 40)),
                              states=random_.random() < 0.7)
        live, pending = [], []
        for step in range(steps):
            choice = random_.random()
            if choice < 0.5 or not live:
                size = random_.choice((1, 100, 512, 4096, 700_000, MIB, 3 * MIB, 11 * MIB)) + random_.randrange(300)
                try:
                    pool = random_.choice((DEFAULT_POOL,) * 5 + ((1, 0),))
                    live.append(allocator.alloc(size, stream=random_.choice((0, 0, 0, 7)), pool=pool,
                                                frames=random_.choice(frames)))
                except OutOfMemory:
                    pass
            elif choice < 0.85:
                allocator.free(live.pop(random_.randrange(len(live))))
            elif choice < 0.95:
                pending.append(live.pop(random_.randrange(len(live))))
                allocator.request_free(pending[-1])
            elif pending:
                allocator.complete_free(pending.pop(random_.randrange(len(pending))))
        allocators.append(allocator)
    return allocators
