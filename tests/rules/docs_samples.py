#!/usr/bin/env python3
"""Do the samples in README.md and docs/ still work?

    docs_samples.py --compiler COMPILER --tbtrace PROGRAM [ROOT]

- A ```cpp block with `int main(` is a whole program and must compile; those with LibTorch's headers are the
  examples that the test examples.toolbox_page compares them with. Other blocks are pieces; tests/libtorch compiles
  those that record.
- A ```console block of README.md and of docs/tour.md, questions.md, compare.md, toolbox.md and exports.md whose first line starts
  with `$ tbtrace` is run, command by command, in a folder that has examples/ and tests/. What a command prints (both streams)
  must be what stands under it; a line `...` stands for any number of lines, and trailing blanks do not count.
  A flame graph that they write is the one in docs/pictures/. In
  other console blocks nothing is run.
- What stands in backticks, in an indented block or in a block of a shell and begins with `tbtrace` is a call that the
  program knows: its verb and each of its options have a place in the help. Calls with a placeholder in capitals for
  the verb are left out.
- Each line of a ```cmake block stands in a CMakeLists.txt of tests/package/, whose projects are built.
- Each link to a file of the project leads to one, and to a heading in it. docs/README.md has a link to each page.

Python 3, nothing besides.
"""

import argparse
import os
import pathlib
import re
import subprocess
import tempfile

LINK = re.compile(r"\]\(([^)\s]+)\)")
BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```\s*$", re.MULTILINE | re.DOTALL)


def blocks(page, language):
    """The blocks of a page in that language, with their lines."""
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        if match[1] == language:
            yield text.count("\n", 0, match.start()) + 1, match[2]


def compile_problem(code, compiler, root):
    command = [compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I", str(root / "include"),
               "-x", "c++", "-"]
    result = subprocess.run(command, input=code, capture_output=True, text=True)
    return "" if result.returncode == 0 else result.stderr


# Verbs of the Python package, whose `tbtrace` runs the program for all others.
OF_PYTHON = ("sql",)
CALL = re.compile(r"`tbtrace ([^`]+)`|^(?:    |\$ )tbtrace (.+)$", re.MULTILINE)
SHELL = re.compile(r"^```(?:sh|bash|console)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


class Help:
    """The options of each verb, and of what a verb is with one of its options, such as `gpu --gaps`."""

    def __init__(self, program):
        self.program = program
        text = self.printed("--help", "--all")
        self.verbs = sorted(set(re.findall(r"^  ([a-z-]+(?: --[a-z]+(?: [a-z]+)?)?)(?:  |$)", text, re.MULTILINE)),
                            key=len, reverse=True)
        self.known = {}

    def printed(self, *words):
        return subprocess.run([self.program, *words], capture_output=True, text=True, check=False).stdout

    def options(self, verb):
        if verb not in self.known:
            self.known[verb] = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", self.printed(*verb.split(), "--help")))
        return self.known[verb]

    def problem(self, call):
        """What is wrong with a call, without its first word; empty if nothing is."""
        call = re.split(r"\s(?:\||>|&&|#|<)|\s--\s", call + " ")[0].strip()
        if not re.match(r"[a-z-]", call):
            return ""
        verb = next((verb for verb in self.verbs if f"{call} ".startswith(f"{verb} ")), call.split()[0])
        if verb in OF_PYTHON:
            return ""
        if verb not in self.verbs and not verb.startswith("-"):
            is_input = "." in verb or "/" in verb
            return "" if is_input else f"there is no verb `{verb}`"
        given = re.findall(r"(?<=\s)--?[a-z][a-z-]*", call.removeprefix(verb))
        unknown = [option for option in given if option not in self.options(verb)]
        return f"`{verb}` has no {', '.join(unknown)}" if unknown else ""


def calls_of(text):
    """The calls of a page, with their lines."""
    for match in CALL.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match[1] or match[2]
    for block in SHELL.finditer(text):
        for match in re.finditer(r"^tbtrace (.+)$", block[1], re.MULTILINE):
            yield text.count("\n", 0, block.start(1) + match.start()) + 1, match[1]


def stripped(text):
    lines = [line.rstrip() for line in text.split("\n")]
    return "\n".join(lines).strip("\n")


def commands_of(block):
    """The commands of a console block, each with what the page shows under it."""
    shown = []
    for line in block.split("\n"):
        if line.startswith("$ "):
            shown.append([line[2:], ""])
        elif shown[-1][0].endswith("\\"):
            shown[-1][0] += "\n" + line
        else:
            shown[-1][1] += line + "\n"
    return shown


def run_problem(block, program, root):
    with tempfile.TemporaryDirectory() as folder:
        for name in ("examples", "tests"):
            (pathlib.Path(folder) / name).symlink_to(root / name)
        path = str(pathlib.Path(program).resolve().parent) + os.pathsep + os.environ["PATH"]
        for command, shown in commands_of(block):
            result = subprocess.run(["bash", "-c", command], cwd=folder, env={**os.environ, "PATH": path},
                                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                    text=True)
            pattern = "\n".join(".*" if line == "..." else re.escape(line) for line in stripped(shown).split("\n"))
            if not re.fullmatch(pattern, stripped(result.stdout), re.DOTALL):
                return f"`{command}` printed:\n{result.stdout}"
        made = pathlib.Path(folder) / "flame.svg"
        if made.exists() and made.read_bytes() != (root / "docs/pictures/flame_graph.svg").read_bytes():
            return "docs/pictures/flame_graph.svg is not the picture that this writes"
    return ""


def unknown_lines(block, known):
    return "".join(f"no project of tests/package/ has `{line.strip()}`\n" for line in block.splitlines()
                   if line.strip() and line.strip() not in known)


def heading_anchors(page):
    """As GitHub makes them."""
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def broken_links(page):
    text = page.read_text(encoding="utf-8")
    for match in LINK.finditer(BLOCK.sub(lambda block: "\n" * block[0].count("\n"), text)):
        line, target = text.count("\n", 0, match.start()) + 1, match[1]
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        if "://" in target:
            continue
        if not file.exists():
            yield line, f"there is no {target}"
        elif anchor and anchor not in heading_anchors(file):
            yield line, f"{file.name} has no heading #{anchor}"


def pages_without_way(start):
    """Pages of the folder of `start` that it has no link to."""
    linked = {(start.parent / match[1].partition("#")[0]).resolve() for match in
              LINK.finditer(start.read_text(encoding="utf-8"))}
    return [page for page in sorted(start.parent.rglob("*.md")) if page != start and page.resolve() not in linked]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).parents[2])
    options = parser.parse_args()
    root = options.root.resolve()

    readme = root / "README.md"
    with_output = [readme, *(root / f"docs/{name}.md" for name in ("tour", "questions", "compare", "toolbox", "exports"))]
    pages = sorted((root / "docs").rglob("*.md"))
    if readme.exists():
        pages.append(readme)
    pages += [page for page in (root / "CONTRIBUTING.md", root / "CHANGELOG.md") if page.exists()]
    known = {line.strip() for file in (root / "tests/package").rglob("CMakeLists.txt")
             for line in file.read_text(encoding="utf-8").splitlines()}
    programs, consoles, calls, failed = 0, 0, 0, 0
    of_program = Help(options.tbtrace)
    for page in pages:
        found = []
        for line, call in calls_of(page.read_text(encoding="utf-8")) if page.name != "CHANGELOG.md" else ():
            calls += 1
            found.append((line, of_program.problem(call)))
        for line, code in blocks(page, "cpp"):
            if "int main(" in code and "#include <torch/" not in code:
                programs += 1
                found.append((line, compile_problem(code, options.compiler, root)))
        for line, block in blocks(page, "cmake"):
            found.append((line, unknown_lines(block, known)))
        for line, block in blocks(page, "console") if page in with_output else ():
            if block.startswith("$ tbtrace"):
                consoles += 1
                found.append((line, run_problem(block, options.tbtrace, root)))
        found += broken_links(page)
        for line, problem in found:
            if problem:
                failed += 1
                print(f"docs_samples: {page.relative_to(root)}:{line}: {problem}")
    for page in pages_without_way(root / "docs/README.md"):
        failed += 1
        print(f"docs_samples: docs/README.md has no link to {page.relative_to(root)}")
    print(f"docs_samples: {len(pages)} pages, {programs} programs, {consoles} consoles, {calls} calls")
    raise SystemExit(failed > 0)


if __name__ == "__main__":
    main()
