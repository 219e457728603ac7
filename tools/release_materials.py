#!/usr/bin/env python3
"""What a release has compiled in: a CycloneDX bill of materials, or the licences as text.

    release_materials.py [--static FOLDER] [--wheel FOLDER] VERSION [--licences]

The static program's FOLDER is what tools/release_libraries.sh made, the wheels' what tools/wheel.sh made of that; what
these have not made comes from Debian's packages of this machine. Python's standard library only.
"""

import argparse
import json
import pathlib
import subprocess
import sys

# The packages of this machine that the wheels link, and also the static program, and their licences as SPDX writes them.
OF_WHEELS = {
    "libc6-dev": "LGPL-2.1-or-later",
    "libstdc++-12-dev": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libgcc-12-dev": "GPL-3.0-or-later WITH GCC-exception-3.1",
}
OF_STATIC = OF_WHEELS | {
    "zlib1g-dev": "Zlib",
    "libzstd-dev": "BSD-3-Clause",
    "libre2-dev": "BSD-3-Clause",
    "libprotobuf-dev": "BSD-3-Clause",
    "libpng-dev": "libpng-2.0",
}


def materials(folder: pathlib.Path, packages: dict[str, str]) -> list[tuple[str, str, str, pathlib.Path]]:
    """Name, version, licence, and the file that has the licence."""
    found = []
    for line in (folder / "components.tsv").read_text().splitlines():
        name, version, licence, file = line.split("\t")
        found.append((name, version, licence, folder / "share" / file))
    for name, licence in packages.items():
        asked = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", name], capture_output=True, text=True)
        if asked.returncode != 0:
            sys.exit(f"release_materials: the package {name} is not installed")
        found.append((name, asked.stdout, licence, pathlib.Path("/usr/share/doc") / name / "copyright"))
    return found


def licence_of(licence: str) -> dict:
    return {"expression": licence} if " WITH " in licence else {"license": {"id": licence}}


def bill(version: str, found: list[tuple[str, str, str, pathlib.Path]]) -> dict:
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "application", "bom-ref": "tbtrace", "name": "tbtrace", "version": version,
                                   "licenses": [licence_of("BSD-3-Clause")]}},
        "components": [{"type": "library", "bom-ref": name, "name": name, "version": its_version,
                        "licenses": [licence_of(licence)], "purl": f"pkg:{'pypi' if name == 'nanobind' else 'deb/debian'}/{name}@{its_version}"}
                       for name, its_version, licence, _ in found],
        "dependencies": [{"ref": "tbtrace", "dependsOn": [name for name, *_ in found]}],
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--static", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--wheel", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("version")
    parser.add_argument("--licences", action="store_true")
    arguments = parser.parse_args()
    each = {}  # by name: the program and the wheels have some in common
    for folder, packages in ((arguments.static, OF_STATIC), (arguments.wheel, OF_WHEELS)):
        if folder:
            each |= {material[0]: material for material in materials(folder, packages)}
    found = sorted(each.values())
    if arguments.licences:
        for name, version, _, file in found:
            print(f"\n\n==== {name} {version}, which is compiled in ====\n\n{file.read_text(errors='replace')}")
    else:
        print(json.dumps(bill(arguments.version, found), indent=2))


if __name__ == "__main__":
    main()
