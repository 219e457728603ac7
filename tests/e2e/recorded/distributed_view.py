"""What torch-tb-profiler's Distributed view says of a rank, computed from the ranks' files with other means."""


def merged(rows):
    """What is covered by rows, as disjoint intervals in order."""
    intervals = []
    for start, end in sorted((row.start, row.end) for row in rows):
        if intervals and start <= intervals[-1][1]:
            intervals[-1][1] = max(intervals[-1][1], end)
        else:
            intervals.append([start, end])
    return intervals


def length(intervals):
    return sum(end - start for start, end in intervals)


def common(left, right):
    return sum(max(0, min(a_end, b_end) - max(a, b)) for a, a_end in left for b, b_end in right)


def near(figures, expected_ns, allowed_us=0.01):
    """Whether figures in us are these in ns."""
    return len(figures) == len(expected_ns) and all(
        abs(figure - ns / 1000) <= allowed_us for figure, ns in zip(figures, expected_ns))


class Rank:
    """A window of one rank: rows of its work, and what the view takes for its collectives."""

    def __init__(self, trace, work, collectives):
        self.trace, self.work, self.collectives = trace, work, collectives
        self.steps = {row.name.split("#")[1]: row for row in trace.steps}

    def ranges(self, collective):
        """All that a collective consists of."""
        return [collective]

    def in_step(self, step, rows):
        step = self.steps[step]
        return [row for row in rows if step.start <= row.start and row.end <= step.end]

    def overlap(self, step):
        """Computation alone, with communication, communication alone, the rest; in ns."""
        work = merged(self.in_step(step, self.work))
        communication = merged([part for one in self.in_step(step, self.collectives) for part in self.ranges(one)])
        both = common(work, communication)
        return [length(work) - both, both, length(communication) - both,
                self.steps[step].duration + both - length(work) - length(communication)]


def check_overlap(report, where, workers, ranks, steps, span):
    answer = span.get("distributed/overlap")["data"]
    report(list(answer) == ["all", *steps], f"{where}: steps {list(answer)}")
    for step in steps:
        for worker, rank in zip(workers, ranks):
            report(list(answer[step]) == workers and near(answer[step][worker], rank.overlap(step)),
                   f"{where} step {step}: overlap {answer[step]}, expected of {worker}: {rank.overlap(step)} ns")
    for worker, rank in zip(workers, ranks):
        mean = [sum(part) / len(steps) for part in zip(*map(rank.overlap, steps))]
        report(near(answer["all"][worker], mean, 1.01), f"{where}: mean overlap {answer['all']}, expected {mean} ns")
        report(answer["all"][worker][1] > 0, f"{where}: nothing of {worker} overlaps")
