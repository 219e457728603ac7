"""Runs the shell steps of the pipelines in action.yml and integrations/gitlab as GitHub's and GitLab's runners do."""

import os
import pathlib
import re
import subprocess

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")


class Job:
    """What a job printed and left."""

    def __init__(self):
        self.code, self.log, self.summary, self.outputs, self.artifacts = 0, "", "", {}, {}


def _bash(script, folder, environment, options=("-eo", "pipefail")):
    done = subprocess.run(["bash", "--noprofile", "--norc", *options, "-c", script], cwd=folder, env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    return done.returncode, done.stdout


def _files_below(path):
    return {str(file.relative_to(path)): file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()}


class Action:
    """A composite action: steps with `run`, and those with `uses` that are known here."""

    def __init__(self, path=ROOT / "action.yml"):
        self.document = yaml.safe_load(path.read_text())
        self.steps = self.document["runs"]["steps"]

    def run(self, inputs, folder, environment, temporary, github=None):
        """`folder`: the checkout; `temporary`: the runner's."""
        for name, description in self.document["inputs"].items():
            if description.get("required") and name not in inputs:
                raise ValueError(f"the input {name} is required")
        github = {"token": "", "event.pull_request.number": "", **(github or {})}
        self._values = {f"github.{name}": value for name, value in github.items()}
        for name, description in self.document["inputs"].items():
            self._values[f"inputs.{name}"] = inputs.get(name, self._resolved(str(description.get("default", ""))))
        if unknown := set(inputs) - set(self.document["inputs"]):
            raise ValueError(f"unknown inputs {unknown}")
        files = {name: temporary / name.lower() for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_PATH")}
        environment = dict(environment, RUNNER_TEMP=str(temporary), GITHUB_ACTIONS="true",
                           **{name: str(file) for name, file in files.items()})
        job = Job()
        for step in self.steps:
            for file in files.values():
                file.write_text("")
            if "run" in step:
                own = {name: self._resolved(value) for name, value in step.get("env", {}).items()}
                job.code, printed = _bash(step["run"], folder, environment | own)
                job.log += printed
            else:
                self._use(step, job)
            for line in files["GITHUB_OUTPUT"].read_text().splitlines():
                name, value = line.split("=", 1)
                self._values[f"steps.{step['id']}.outputs.{name}"] = value
            job.summary += files["GITHUB_STEP_SUMMARY"].read_text()
            for line in files["GITHUB_PATH"].read_text().splitlines():
                environment["PATH"] = line + os.pathsep + environment["PATH"]
            if job.code != 0:
                break
        job.outputs = {name: self._resolved(output["value"]) for name, output in self.document["outputs"].items()}
        return job

    def _resolved(self, text):
        """Of a step that did not run, an output is empty."""
        def value(found):
            if found[1].startswith("steps."):
                return self._values.get(found[1], "")
            return self._values[found[1]]
        return EXPRESSION.sub(value, text)

    def _use(self, step, job):
        if not step["uses"].startswith("actions/upload-artifact@"):
            raise ValueError(f"{step['uses']} is not known here")
        options = {name: self._resolved(value) for name, value in step["with"].items()}
        job.artifacts[options["name"]] = _files_below(pathlib.Path(options["path"]))


class GitlabJob:
    def __init__(self, name=".tbtrace-diff", path=ROOT / "integrations/gitlab/tbtrace.gitlab-ci.yml"):
        self.document = yaml.safe_load(path.read_text())[name]

    def run(self, variables, folder, environment):
        """One shell runs all lines, as GitLab's runner puts them into one script."""
        own = {name: str(value) for name, value in self.document["variables"].items()}
        job = Job()
        script = "\n".join(self.document["script"])
        job.code, job.log = _bash(script, folder, environment | own | variables)
        for path in self.document["artifacts"]["paths"]:
            job.artifacts[path] = _files_below(folder / path)
        return job

    def is_only_a_warning(self, code):
        codes = self.document["allow_failure"]["exit_codes"]
        return code in (codes if isinstance(codes, list) else [codes])
