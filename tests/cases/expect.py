"""What is expected of the answers to a case. Each expectation is strict: an answer that is half right fails.

    expects("tbtrace gpu trace.json --format json", idle(data=(0.9, 1)), busy(0.1, 0.2))

A share is a range from 0 to 1, (low, high). Texts are regular expressions on what matters, not on wording.
"""
import json
import re

# A finding that says how idle the GPU is, beside those that say why.
BESIDE = {"low_gpu_utilization"}


def fail(what, got):
    raise AssertionError(f"expected {what}; got {got}")


def check(holds, what, got):
    if not holds:
        fail(what, got)


def within(value, limits, what):
    low, high = limits
    check(value is not None and low <= value <= high, f"{what} from {low} to {high}", value)


class Answer:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err
        self.parsed = None

    @property
    def json(self):
        if self.parsed is None:
            try:
                self.parsed = json.loads(self.out)
            except json.JSONDecodeError:
                fail("JSON", f"exit code {self.code}, {self.err[:300] or self.out[:300]}")
        return self.parsed


class Expectation:
    """A command, its exit code (or several that are right), and checks of what it prints."""

    def __init__(self, command, checks, code=0):
        self.command, self.checks = command, checks
        self.codes = code if isinstance(code, tuple) else (code,)


def expects(command, *checks, code=0):
    return Expectation(command, checks, code)


def asks(*checks):
    return expects("tbtrace summary trace.json --format json", *checks)


def gpu(*checks):
    return expects("tbtrace gpu trace.json --format json", *checks)


# Findings

def found(expected=None, also=(), **shares):
    """Exactly these findings, the first one first; a value is the range of the share, or None. `also` may be there."""
    expected = (expected or {}) | shares

    def run(answer):
        findings = {finding["id"]: finding for finding in answer.json["findings"]}
        got = {name: round(finding["share"] or 0, 3) for name, finding in findings.items()}
        unexpected = set(findings) - set(expected) - set(also) - BESIDE
        check(not unexpected, f"only {sorted(expected)}", got)
        missing = set(expected) - set(findings)
        check(not missing, f"the findings {sorted(missing)}", got)
        if expected:
            check(next(iter(findings)) == next(iter(expected)), f"first {next(iter(expected))}", list(findings))
        for name, limits in expected.items():
            if limits:
                within(findings[name]["share"], limits, f"share of {name}")
    return run


def nothing_found(answer):
    check(not answer.json["findings"], "no findings", [finding["id"] for finding in answer.json["findings"]])


def gain(name, low, high):
    """What mending it would save at most, in microseconds per step."""
    def run(answer):
        finding = finding_of(answer, name)
        within((finding["gain_ns"] or 0) / 1000, (low, high), f"gain of {name} in us")
    return run


def finding_of(answer, name):
    findings = {finding["id"]: finding for finding in answer.json["findings"]}
    check(name in findings, f"finding {name}", list(findings))
    return findings[name]


def words(finding):
    evidence = (f"{row['what']} {row['event'] or ''}" for row in finding["evidence"])
    return "\n".join([finding["title"] or "", finding["remedy"] or "", *evidence])


def remedy(name, pattern):
    """The finding's remedy has this."""
    def run(answer):
        text = finding_of(answer, name)["remedy"] or ""
        check(re.search(pattern, text, re.I), f"a remedy of {name} with /{pattern}/", text)
    return run


def says(name, pattern):
    """The finding's title, remedy or evidence has this."""
    def run(answer):
        text = words(finding_of(answer, name))
        check(re.search(pattern, text, re.I), f"/{pattern}/ in {name}", text)
    return run


def never(*patterns):
    """No finding's title, remedy or evidence has this."""
    def run(answer):
        text = "\n".join(words(finding) for finding in answer.json["findings"])
        for pattern in patterns:
            match = re.search(pattern, text, re.I)
            check(not match, f"no /{pattern}/ in the findings", match and text)
    return run


# The table gpu

def row_of(answer, device):
    rows = [row for row in answer.json["rows"] if row["device"] == device]
    check(len(rows) == 1, f"one row of device {device}", len(rows))
    return rows[0]


def idle(device=0, rest=0.05, causes=None, **shares_of):
    """Shares of the idle time by cause. All other causes together have at most `rest`."""
    causes = (causes or {}) | shares_of

    def run(answer):
        row = row_of(answer, device)
        check("idle_causes" in row, "idle_causes", sorted(row))
        idle_ns = row["idle_ns"]
        parts = {part["cause"]: part["ns"] for part in row["idle_causes"]}
        check(sum(parts.values()) == idle_ns, f"causes that add up to {idle_ns}", parts)
        shares = {cause: round(ns / idle_ns, 3) for cause, ns in parts.items()}
        for cause, limits in causes.items():
            got = parts.get(cause, 0) / idle_ns
            check(limits[0] <= got <= limits[1], f"{cause} from {limits[0]} to {limits[1]} of the idle time", shares)
        others = sum(ns for cause, ns in parts.items() if cause not in causes) / idle_ns
        check(others <= rest, f"at most {rest} of the idle time for causes other than {sorted(causes)}", shares)
    return run


def busy(low, high, device=0):
    return lambda answer: within(row_of(answer, device)["busy_share"], (low, high), f"busy share of device {device}")


def exposed(low, high, device=0, what="communication"):
    def run(answer):
        row = row_of(answer, device)
        within(row[f"exposed_{what}_ns"] / row["window_ns"], (low, high), f"exposed {what}")
    return run


# Any table

def rows(check_rows, what):
    """check_rows(rows) is true."""
    def run(answer):
        got = answer.json["rows"]
        check(check_rows(got), what, json.dumps(got)[:1500])
    return run


def value(path, limits=None, equals=None):
    """The value at a path such as 'totals.idle_ns' or 'rows.0.name'."""
    def run(answer):
        got = answer.json
        for key in path.split("."):
            try:
                got = got[int(key)] if isinstance(got, list) else got[key]
            except (KeyError, IndexError):
                fail(f"a value at {path}", json.dumps(got)[:300])
        if limits is not None:
            within(got, limits, path)
        else:
            check(got == equals, f"{path} {equals!r}", repr(got))
    return run


def has(*patterns):
    """What was printed, errors included, has all of these."""
    def run(answer):
        text = answer.out + answer.err
        for pattern in patterns:
            check(re.search(pattern, text, re.I), f"/{pattern}/", text[:2000])
    return run


def lacks(*patterns):
    def run(answer):
        text = answer.out + answer.err
        for pattern in patterns:
            match = re.search(pattern, text, re.I)
            check(not match, f"no /{pattern}/", match and text[max(0, match.start() - 200):match.end() + 200])
    return run


def checks_are(*expected, also=()):
    """Exactly these rows of `check` (or of the summary) that are errors or warnings."""
    def run(answer):
        found_rows = answer.json.get("rows") or answer.json.get("checks") or []
        got = {row["id"] for row in found_rows if row["severity"] != "info"}
        check(set(expected) <= got <= set(expected) | set(also), f"checks {sorted(expected)}", sorted(got))
    return run


# Ranks

def straggler(rank, cause, steps=None):
    """One rank holds up the job, for this reason (one of several)."""
    causes = {cause} if isinstance(cause, str) else set(cause)

    def run(answer):
        got = answer.json["stragglers"]
        check([row["rank"] for row in got] == [rank], f"rank {rank} as the only straggler", got)
        check(got[0]["cause"] in causes, f"cause {sorted(causes)}", got[0])
        if steps is not None:
            check(got[0]["steps"] == steps, f"steps {steps}", got[0])
    return run


def no_straggler(answer):
    check(not answer.json["stragglers"], "no straggler", answer.json["stragglers"])
