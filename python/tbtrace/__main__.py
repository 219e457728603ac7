"""The command line program, which lies in the package."""

import os
import sys


def program() -> str:
    """Its path."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "tbtrace")


def main() -> None:
    """Becomes the program: arguments, signals and the exit code are its own. The verbs `sql` and `mcp` are Python's."""
    if sys.argv[1:2] == ["sql"]:
        from tbtrace._sql import command

        sys.exit(command(sys.argv[2:]))
    if sys.argv[1:2] == ["mcp"]:
        from tbtrace.assistants.server import command

        sys.exit(command(sys.argv[2:]))
    try:
        os.environ.setdefault("TBTRACE_PYTHON", sys.executable)  # whose TensorBoard `tbtrace tensorboard` starts
        os.execv(program(), ["tbtrace", *sys.argv[1:]])
    except OSError as problem:
        sys.exit(f"tbtrace: {program()}: {problem.strerror}; install the package again")


if __name__ == "__main__":
    main()
