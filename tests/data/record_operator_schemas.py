#!/usr/bin/env python3
"""Writes operator_schemas.tsv: the arguments of the operators for which src/analyses/ has rules, as torch has them.

    record_operator_schemas.py [VERSION=RegistrationDeclarations.h ...]    writes it
    record_operator_schemas.py --check       exits with 1 if a line of this torch's version differs

Run it with the Python of .venv-torch. Of other versions the lines stay, unless a file of theirs is given: a wheel of
torch 1.x has torch/include/ATen/RegistrationDeclarations.h. A line has the operator with its overload, the versions
with these arguments, and their names. Overloads that write to an argument `out` are left out.
"""

import argparse
import pathlib
import re
import sys

FILE = pathlib.Path(__file__).resolve().parent / "operator_schemas.tsv"
RULES = FILE.parents[2] / "src" / "analyses"
TABLES = ("flops/rules.cc", "flops/element_rules.cc", "modules/weight_rules.cc")
HEADER = """\
# Arguments of operators, written by record_operator_schemas.py; do not edit.
"""
# No part of torch: flash_attn/flash_attn_interface.py.
FLASH_ATTENTION = {
    "flash_attn::_flash_attn_forward":
        "q k v dropout_p softmax_scale causal window_size_left window_size_right softcap alibi_slopes return_softmax",
    "flash_attn::_flash_attn_backward":
        "dout q k v out softmax_lse dq dk dv dropout_p softmax_scale causal window_size_left window_size_right softcap "
        "alibi_slopes deterministic rng_state",
}


def names_of_rules():
    """The operators in the tables."""
    texts = ((RULES / table).read_text() for table in TABLES)
    return {name for text in texts for name in re.findall(r'\{"(\w+::\w+)"', text)}


def base(operator):
    """An operator without its overload."""
    return operator.partition(".")[0]


def schemas_of_torch():
    """Its version, and the arguments of each overload."""
    import torch  # pylint: disable=import-outside-toplevel

    version = torch.__version__.partition("+")[0]
    schemas = {}
    for schema in torch._C._jit_get_all_schemas():  # pylint: disable=protected-access
        overload = f".{schema.overload_name}" if schema.overload_name else ""
        if not any(argument.is_out for argument in schema.arguments):
            schemas[schema.name + overload] = " ".join(argument.name for argument in schema.arguments)
    return version, schemas


def parts_of(arguments):
    """`Tensor self, bool[2] mask=[True, False]` by argument."""
    depth, part = 0, ""
    for character in arguments + ",":
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            yield part.strip()
            part = ""
        else:
            part += character


def schemas_of_declarations(file):
    """The arguments of each overload that a RegistrationDeclarations.h of torch 1.x has."""
    schemas = {}
    for text in re.findall(r'"schema": "([^"]+)"', pathlib.Path(file).read_text()):
        found = re.match(r"([\w:.]+)\((.*)\) *->", text)
        if not found:
            continue
        parts = [part for part in parts_of(found[2]) if part]
        after = parts[parts.index("*") + 1:] if "*" in parts else []
        if not any("!" in part for part in after):
            schemas[found[1]] = " ".join(part.partition("=")[0].split()[-1] for part in parts if part != "*")
    return schemas


def order(version):
    return [int(number) for number in version.split(".")]


def read():
    """{(operator, arguments): versions} of the file."""
    lines = FILE.read_text().splitlines() if FILE.exists() else []
    rows = {}
    for line in lines:
        if not line.startswith("#"):
            operator, versions, arguments = line.split("\t")
            rows[operator, arguments] = set(versions.split(","))
    return rows


def put(rows, version, schemas):
    """With the schemas of a version in place of those that it had."""
    kept = {key: versions - {version} for key, versions in rows.items()}
    for operator, arguments in schemas.items():
        kept.setdefault((operator, arguments), set()).add(version)
    return {key: versions for key, versions in kept.items() if versions}


def text_of(rows):
    lines = sorted(f"{operator}\t{','.join(sorted(versions, key=order))}\t{arguments}\n"
                   for (operator, arguments), versions in rows.items())
    return HEADER + "".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("declarations", nargs="*", metavar="VERSION=FILE")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    wanted = names_of_rules()
    before = read()
    rows = put(before, "2.7", FLASH_ATTENTION)
    for given in options.declarations:
        version, _, file = given.partition("=")
        rows = put(rows, version, schemas_of_declarations(file))
    version, schemas = schemas_of_torch()
    # MKL and oneDNN are not part of every torch.
    spaces = {operator.partition("::")[0] for operator in schemas}
    missing = {key: versions for key, versions in before.items()
               if version in versions and key[0].partition("::")[0] not in spaces}
    rows = put(rows, version, schemas | dict(missing))
    rows = {key: versions for key, versions in rows.items() if base(key[0]) in wanted}
    if options.check:
        differing = sorted(set(text_of(before).splitlines()) ^ set(text_of(rows).splitlines()))
        print("".join(f"differs: {line}\n" for line in differing), end="")
        print(f"operator_schemas: {len(rows)} lines, {len(differing)} differ from torch {version}")
        sys.exit(bool(differing) or not rows)
    FILE.write_text(text_of(rows))


if __name__ == "__main__":
    main()
