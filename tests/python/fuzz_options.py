"""The command line of scripts that ask random questions for a while."""

import argparse
import sys
import unittest


def run(fuzz, description):
    """Runs the tests of the class `fuzz`, which has `seconds` and `seed`."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=fuzz.seconds)
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--seed", type=int, default=fuzz.seed)
    options = parser.parse_args()
    fuzz.seconds = options.minutes * 60 or options.seconds
    fuzz.seed = options.seed
    unittest.main(argv=sys.argv[:1])
