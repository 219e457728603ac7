#!/usr/bin/env python3
"""The gates for GitHub and GitLab pass equal programs, and fail a slower one with the operator named.

    gate_test.py PROGRAM [NAME...]

Needs PyYAML. Each method is a CTest test python.NAME. The steps of the pipelines run as a runner runs them; `gh`,
`curl` and `pip` are scripts that note what they are asked for.
"""

import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

import yaml

from pipelines import EXPRESSION, ROOT, Action, GitlabJob

PROGRAM = ""
COMMENTS = "repos/me/model/issues/17/comments"
PULL_REQUEST = {"token": "secret", "event.pull_request.number": "17"}
HOSTILE = "evil\n::error::`|<b>"


def made_trace(path, seed, slower=1.0):
    """Six steps with four operators; aten::conv2d takes `slower` times as long. Times vary by 1 %, runs by 0.5 %."""
    draw = random.Random(seed)
    run, now, events = draw.gauss(1, 0.005), 1000.0, []
    usual = {"aten::conv2d": 400 * slower, "aten::mm": 300, "aten::add": 100, HOSTILE: 50}
    for step in range(6):
        start = now
        for name, time in usual.items():
            duration = time * run * draw.gauss(1, 0.01)
            events.append({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": now, "dur": duration})
            now += duration + 2
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1,
                       "ts": start, "dur": now - start})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))


class Gate(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="tbtrace-python-")
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.folder, self.temporary = self.scratch / "my checkout", self.scratch / "runner"
        self.programs = self.scratch / "programs"
        for folder in (self.folder, self.temporary, self.programs):
            folder.mkdir()
        (self.programs / "tbtrace").symlink_to(PROGRAM)
        self.environment = {"PATH": f"{self.programs}:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": str(self.scratch),
                            "GITHUB_REPOSITORY": "me/model"}
        for seed in range(5):
            made_trace(self.folder / f"base/run {seed}.json", seed)
            made_trace(self.folder / f"same/run {seed}.json", 100 + seed)
            made_trace(self.folder / f"slower/run {seed}.json", 200 + seed, slower=1.3)

    def baseline(self):
        words = [PROGRAM, "save", "--for", "diff", *sorted(map(str, (self.folder / "base").iterdir()))]
        subprocess.run([*words, "-o", self.folder / "base.tbb"], check=True)

    def program(self, name, script):
        path = self.programs / name
        path.write_text("#!/bin/bash\n" + script)
        path.chmod(0o755)

    def notes(self, name):
        path = self.scratch / name
        return path.read_text() if path.exists() else ""

    def github(self, new, base="base/*.json", github=None, **inputs):
        inputs = {name.replace("_", "-"): value for name, value in inputs.items()}
        return Action().run({"base": base, "new": new, **inputs}, self.folder, self.environment, self.temporary, github)

    def gitlab(self, new, base="base/*.json", **variables):
        return GitlabJob().run({"TBTRACE_BASE": base, "TBTRACE_NEW": new, **variables}, self.folder, self.environment)

    def gh(self, comments="", fails=False):
        """A `gh` that knows these comments, as its --jq would print them."""
        ending = "exit 1" if fails else ""
        self.program("gh", f"""
printf '%s\\n' "$*" >>"{self.scratch}/gh.calls"
for word in "$@"; do
  if [[ $word == body=@* ]]; then cat "${{word#body=@}}" >>"{self.scratch}/gh.bodies"; fi
done
{ending}
if [[ $* == *--paginate* ]]; then printf '%s' "{comments}"; fi
""")

    # GitHub

    def test_gate_on_github_fails_a_slower_program(self):
        job = self.github("slower/*.json")
        self.assertEqual((job.code, job.outputs["result"]), (1, "failed"), job.log)
        self.assertRegex(job.summary, r"^## tbtrace: failed\n\nbase: base/run 0\.json, base/run 1\.json, ")
        self.assertIn("verdict: slower", job.summary)
        first_row = re.search(r"### By operator[^\n]*\n\n[^\n]*\n[^\n]*\n([^\n]*)", job.summary)[1]
        self.assertRegex(first_row, r"^\| `aten::conv2d` \| `1\d\d\.\d+ us`")
        self.assertIn("exceeded: step_time>+3%: changed by +13", job.log)
        self.assertIn("::error title=tbtrace::A limit is exceeded", job.log)
        self.assertEqual(set(job.artifacts["tbtrace-diff"]), {"diff.md", "compare.html"}, "also of a failure")
        self.assertIn(b"<html", job.artifacts["tbtrace-diff"]["compare.html"])
        commands = [line for line in job.log.splitlines() if line.startswith("::")]
        self.assertEqual(len(commands), 1, "a name in a trace is no command for the runner")

    def test_gate_on_github_passes_noise(self):
        self.baseline()
        for base in ("base/*.json", "base.tbb", "\n".join(f"base/run {seed}.json" for seed in range(5)) + "\n"):
            job = self.github("**/same/*.json", base)
            self.assertEqual((job.code, job.outputs["result"]), (0, "passed"), job.log)
            self.assertRegex(job.summary, r"^## tbtrace: passed\n")
            self.assertEqual([line for line in job.log.splitlines() if line.startswith("::")], [])
            self.assertEqual(set(job.artifacts["tbtrace-diff"]), {"diff.md", "compare.html"})

    def test_gate_on_github_takes_directories_of_ranks(self):
        for side in ("base", "slower"):
            for path in sorted((self.folder / side).iterdir()):
                for rank in range(2):
                    trace = json.loads(path.read_text())
                    trace["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": 2}
                    place = self.folder / f"ranks of {side}/{path.stem}/rank{rank}.json"
                    place.parent.mkdir(parents=True, exist_ok=True)
                    place.write_text(json.dumps(trace))
        job = self.github("ranks of slower/*/", base="ranks of base/*/")
        self.assertEqual(job.code, 1, job.log)
        sides = re.findall(r"^(?:base|new): +(.*)$", job.summary, re.MULTILINE)
        self.assertEqual([side.count(", ") for side in sides], [4, 4], "five runs a side, not ten")

    def test_gate_on_github_judges_a_single_run_by_a_baseline(self):
        self.baseline()
        self.assertEqual(self.github("slower/run 0.json", base="base.tbb").outputs["result"], "failed")
        self.assertEqual(self.github("same/run 0.json", base="base.tbb").code, 0)

    def test_gate_on_github_checks_each_limit(self):
        job = self.github("slower/*.json", fail_if="step_time>+50%\n\noperator:aten::conv2d>+10%\n")
        self.assertEqual(job.code, 1)
        self.assertIn("exceeded: operator:aten::conv2d>+10%", job.log)
        self.assertIn("kept: step_time>+50%", job.log)
        self.assertEqual(self.github("slower/*.json", fail_if="step_time>+50%").code, 0)
        self.assertEqual(self.github("slower/*.json", fail_if="").code, 0, "without a limit it only reports")

    def test_gate_on_github_without_a_verdict(self):
        one = {"new": "slower/run 0.json", "base": "base/run 0.json"}
        job = self.github(**one)
        self.assertEqual((job.code, job.outputs["result"]), (0, "inconclusive"), job.log)
        self.assertIn("::warning title=tbtrace::The runs are too few", job.log)
        self.assertEqual(self.github(**one, inconclusive="fail").code, 1)
        self.assertEqual(self.github(**one, run_noise="0.5%").outputs["result"], "failed")
        other = {"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "other", "pid": 1, "tid": 1, "ts": 1, "dur": 9}]}
        (self.folder / "other.json").write_text(json.dumps(other))
        job = self.github("other.json")
        self.assertEqual((job.code, job.outputs["result"]), (1, "not-comparable"), job.log)

    def test_gate_on_github_names_missing_runs(self):
        job = self.github("nothing/*.json")
        self.assertEqual((job.code, job.outputs["result"], job.artifacts), (3, "", {}))
        self.assertIn("nothing/*.json: no file matches", job.log)
        job = self.github("same/*.json", base="base.tbb")
        self.assertEqual(job.code, 3)
        self.assertIn("base.tbb", job.log)
        self.assertEqual(self.github("", base="base/*.json").code, 2)

    def test_gate_on_github_comments_on_a_pull_request(self):
        self.gh()
        job = self.github("slower/*.json", github=PULL_REQUEST)
        self.assertEqual(job.code, 1)
        calls = self.notes("gh.calls").splitlines()
        self.assertEqual(len(calls), 2, calls)
        self.assertTrue(calls[1].startswith(f"api --method POST {COMMENTS} -F body=@"), calls)
        body = self.notes("gh.bodies")
        self.assertRegex(body, r"^<!-- tbtrace diff: tbtrace-diff -->\n## tbtrace: failed\n\nbase: base/run 0\.json, base/run 1\.json, ")
        before, details = body.split("<details>")
        self.assertRegex(before, r"\n- exceeded: step\\_time\\>\+3%")
        self.assertIn("| `aten::conv2d` |", details)
        self.assertNotIn("<b>", re.sub(r"`[^`\n]*`|`` .* ``", "", details), "names of a trace are code")

    def test_gate_on_github_replaces_its_comment(self):
        self.gh(comments="41\n42\n")
        self.assertEqual(self.github("same/*.json", github=PULL_REQUEST, artifact="of-eval").code, 0)
        lookup, change = self.notes("gh.calls").splitlines()
        self.assertIn('startswith("<!-- tbtrace diff: of-eval -->")', lookup)
        self.assertTrue(change.startswith("api --method PATCH repos/me/model/issues/comments/42 "), change)

    def test_gate_on_github_goes_on_without_a_comment(self):
        self.gh(fails=True)
        job = self.github("same/*.json", github=PULL_REQUEST)
        self.assertEqual(job.code, 0, job.log)
        self.assertIn("::warning title=tbtrace::The comment was not written", job.log)
        os.remove(self.scratch / "gh.calls")
        self.github("same/*.json", github=PULL_REQUEST, comment="false")
        self.github("same/*.json", github=PULL_REQUEST | {"token": ""})
        self.github("same/*.json", github=PULL_REQUEST | {"event.pull_request.number": ""})
        self.assertEqual(self.notes("gh.calls"), "")

    def test_gate_on_github_shortens_a_long_comment(self):
        self.gh()
        limits = "\n".join(f"operator:{name * 60}>+{percent}%" for name in ("a", "b") for percent in range(1, 500))
        job = self.github("slower/*.json", github=PULL_REQUEST, fail_if=limits + "\nstep_time>+3%")
        self.assertEqual(job.code, 1, job.log)
        self.assertGreater(len(job.summary), 65_536)
        self.assertEqual(self.notes("gh.bodies"), "<!-- tbtrace diff: tbtrace-diff -->\n## tbtrace: failed\n\n"
                         "The rows are too long for a comment: see the summary of the job.\n")

    def test_gate_installs_what_is_not_there(self):
        (self.programs / "tbtrace").rename(self.scratch / "tbtrace")
        # Makes the virtual environment that it is asked for, whose pip installs this tbtrace.
        self.program("python3", f"""
echo "$*" >>"{self.scratch}/python3.calls"
mkdir -p "$3/bin"
printf '%s\\n' '#!/bin/bash' 'echo "$*" >>"{self.scratch}/pip.calls"' \\
  'cp "{self.scratch}/tbtrace" "${{0%/*}}/tbtrace"' >"$3/bin/pip"
chmod +x "$3/bin/pip"
""")
        (self.scratch / "tbtrace").unlink()
        shutil.copy(PROGRAM, self.scratch / "tbtrace")
        self.assertEqual(self.github("same/*.json", requirement="tbtrace==1.2").code, 0)
        self.assertEqual(self.gitlab("same/*.json").code, 0)
        installed = [line.split()[-1] for line in self.notes("pip.calls").splitlines()]
        self.assertEqual(installed, ["tbtrace==1.2", "tbtrace"])

    def test_gate_on_github_is_a_valid_action(self):
        document = Action().document
        self.assertEqual(document["runs"]["using"], "composite")
        for step in document["runs"]["steps"]:
            self.assertEqual(len({"run", "uses"} & set(step)), 1, step["name"])
            if "run" in step:
                self.assertEqual(step["shell"], "bash", step["name"])
                self.assertIsNone(EXPRESSION.search(step["run"]), "an expression in a script is a way to inject commands")
        used = set(re.findall(r"inputs\.([\w-]+)", json.dumps(document["runs"])))
        self.assertEqual(used, set(document["inputs"]))
        for name, described in document["inputs"].items():
            self.assertTrue(described["description"].strip(), name)
            self.assertTrue(described.get("required") or "default" in described, name)

    def test_gate_in_the_docs_uses_what_there_is(self):
        github, gitlab = (yaml.safe_load(text) for text in
                          re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/ci.md").read_text(), re.DOTALL))
        [step] = [step for step in github["jobs"]["speed"]["steps"] if "/tbtrace@" in step.get("uses", "")]
        self.assertLessEqual(set(step["with"]), set(Action().document["inputs"]))
        self.assertEqual(self.github("slower/*.json", fail_if=step["with"]["fail-if"]).code, 1)
        self.assertEqual(gitlab["speed"]["extends"], ".tbtrace-diff")
        variables = gitlab["speed"]["variables"]
        self.assertLessEqual(set(variables), set(GitlabJob().document["variables"]))
        self.baseline()
        shutil.copytree(self.folder / "same", self.folder / "traces")
        for path in (self.folder / "traces").iterdir():
            path.rename(f"{path}.gz")  # what a file is, its content decides
        self.assertEqual(GitlabJob().run(variables, self.folder, self.environment).code, 6, "no GPU was recorded")

    # GitLab

    def test_gate_on_gitlab_fails_a_slower_program(self):
        job = self.gitlab("slower/*.json")
        self.assertEqual(job.code, 1, job.log)
        self.assertFalse(GitlabJob().is_only_a_warning(1))
        self.assertIn("| `aten::conv2d` |", job.log)
        self.assertIn("exceeded: step_time>+3%", job.log)
        files = job.artifacts["tbtrace-diff/"]
        self.assertEqual(set(files), {"diff.md", "compare.html", "limits.xml"})
        suite = ElementTree.fromstring(files["limits.xml"])
        [failure] = suite.iter("failure")
        self.assertIn("step_time", ElementTree.tostring(suite, encoding="unicode"))
        self.assertIn("changed by +13", failure.get("message", "") + (failure.text or ""))

    def test_gate_on_gitlab_passes_noise(self):
        self.baseline()
        for base in ("base/*.json", "base.tbb"):
            job = self.gitlab("same/*.json", base)
            self.assertEqual(job.code, 0, job.log)
            self.assertEqual(set(job.artifacts["tbtrace-diff/"]), {"diff.md", "compare.html", "limits.xml"})

    def test_gate_on_gitlab_without_a_verdict(self):
        job = self.gitlab("slower/run 0.json", "base/run 0.json")
        self.assertEqual(job.code, 6, job.log)
        self.assertTrue(GitlabJob().is_only_a_warning(6))
        self.assertEqual(self.gitlab("slower/run 0.json", "base/run 0.json", TBTRACE_RUN_NOISE="0.5%").code, 1)
        job = self.gitlab("nothing/*.json")
        self.assertEqual((job.code, job.artifacts["tbtrace-diff/"]), (3, {}))

    def test_gate_on_gitlab_writes_a_note(self):
        request = {"CI_MERGE_REQUEST_IID": "5", "CI_PROJECT_ID": "12", "CI_API_V4_URL": "https://git.example/api/v4"}
        self.program("curl", f"""(cat; printf '%s\\n' "$@") >>"{self.scratch}/curl.words"\n""")
        self.assertEqual(self.gitlab("slower/*.json", **request).code, 1)
        self.assertEqual(self.notes("curl.words"), "", "without a token")
        self.assertEqual(self.gitlab("slower/*.json", TBTRACE_NOTE_TOKEN="secret").code, 1)
        self.assertEqual(self.notes("curl.words"), "", "without a merge request")
        job = self.gitlab("slower/*.json", TBTRACE_NOTE_TOKEN="secret", **request)
        self.assertEqual(job.code, 1)
        words = self.notes("curl.words").splitlines()
        self.assertEqual(words[-1], "https://git.example/api/v4/projects/12/merge_requests/5/notes")
        self.assertEqual(words[0], "PRIVATE-TOKEN: secret", "which other programs cannot see")
        self.assertLess({"@-", "body@tbtrace-diff/diff.md"}, set(words))
        self.assertNotIn("secret", job.log)
        self.program("curl", "exit 22")
        job = self.gitlab("same/*.json", TBTRACE_NOTE_TOKEN="secret", **request)
        self.assertEqual(job.code, 0)
        self.assertIn("The note was not written", job.log)


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
    unittest.main(argv=[sys.argv[0], *(f"Gate.test_{name}" for name in sys.argv[2:])])
