#!/usr/bin/env python3
"""Is every function of the public headers called by a test or an example?

    public_names.py [ROOT]

Constructors and what is private are left out. Names are compared, not signatures: two overloads count as one. A function
of a class has to be called as one (`.copy()`), in a file that names the class or a function that returns it. Python 3,
nothing besides.
"""

import pathlib
import re
import sys

NOT_FUNCTIONS = {"alignas", "decltype", "for", "if", "noexcept", "operator", "requires", "return", "sizeof",
                 "static_assert", "switch", "while"}
PRIVATE = {"add_module", "add_optimizer", "add_script", "add_tensor", "bit", "callable", "export_in_background", "forward",
           "from", "group", "index_of", "measure", "measure_model", "name_of_loading", "summarize",
           "throw_wrong_inputs"}  # or members, in what is public


def code(file):
    text = file.read_text(encoding="utf-8")
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
    text = re.sub(r"//[^\n]*|^\s*#[^\n]*(?:\\\n[^\n]*)*", " ", text, flags=re.MULTILINE)
    return re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)


CLASS = re.compile(r"^(?:class|struct) (?:\[\[\w+\]\] )?(\w+)[^;{]*\{(.*?)^\};", re.DOTALL | re.MULTILINE)


def functions_in(text):
    # Macros and most classes begin with a capital, members end in `_`.
    called = set(re.findall(r"(?<![\w:.&*<])([a-z]\w*[a-z0-9])\(", text))
    return called - NOT_FUNCTIONS - PRIVATE - set(re.findall(r"\bclass (\w+) \{", text))


def is_called_as_member(name, owner, header, sources):
    makers = re.findall(rf"\b{owner}>? (\w+)\(", header)
    known = re.compile(rf"\b(?:{'|'.join([owner, *makers])})\b")
    call = re.compile(rf"(?:\.|->|::){name}\s*(?:<[^<>;]*>)?\s*\(")
    return any(call.search(text) and known.search(text) for text in sources)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    used = set()
    sources = []
    for folder in ("tests", "examples"):
        for file in (root / folder).rglob("*"):
            if file.suffix in (".cc", ".h"):
                sources.append(code(file))
                used |= set(re.findall(r"\b([A-Za-z_]\w*)\s*(?:<[^<>;]*>)?\s*[({]", sources[-1]))
    names = failed = 0
    for header in sorted((root / "include").rglob("*.h")):
        text = re.sub(r"^ *private:.*?^ *\};|^namespace (?:internal|toolbox_detail) \{.*?^\}", "};", code(header), flags=re.DOTALL | re.MULTILINE)
        missing = [name for name in functions_in(text) if name not in used]
        for owner, body in CLASS.findall(text):
            declared = re.sub(r"\{[^{}]*\}", "{}", re.sub(r"\{[^{}]*\}", "{}", body))  # without what functions do
            declared = re.sub(r"^ *(?:constexpr |explicit )*%s\(.*?\{\}" % owner, "", declared, flags=re.DOTALL | re.MULTILINE)
            missing += [f"{owner}::{name}" for name in functions_in(declared) - {owner, "bool", "void"}
                        if not is_called_as_member(name, owner, text, sources)]
        names += len(functions_in(text))
        failed += len(missing)
        for name in sorted(missing):
            print(f"public_names: {header.relative_to(root)}: {name}() is called by no test and no example")
    print(f"public_names: {names} names, {failed} never called")
    sys.exit(failed > 0 or names == 0)


if __name__ == "__main__":
    main()
