"""The program tbtrace_rows as a reader that answers many questions. Python 3, nothing besides."""
import json
import select
import subprocess


class Reader:
    """Asks one process, and starts another where it died or did not answer."""

    def __init__(self, program, timeout=280):
        self.program = str(program)
        self.timeout = timeout
        self.process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def ask(self, path, threads, block):
        """{"digest", "rows", "issues"}, or {"error"}."""
        if self.process is None:
            self.process = subprocess.Popen([self.program, "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL)
        try:
            self.process.stdin.write(f"{path} {threads} {block}\n".encode())
            self.process.stdin.flush()
            if not select.select([self.process.stdout], [], [], self.timeout)[0]:
                self.stop()
                return {"error": f"no answer within {self.timeout} s"}
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = b""
        if not answer:
            self.process.wait()
            code, self.process = self.process.returncode, None
            return {"error": f"the reader died, exit code {code}"}
        return json.loads(answer)

    def lines(self, path, threads, block):
        """All rows, to show where they differ."""
        printed = self.run(path, "--threads", str(threads), "--block", str(block))
        return printed.decode(errors="replace").split("\n")[:-1]

    def run(self, *arguments):
        try:
            return subprocess.run([self.program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  timeout=self.timeout, check=False).stdout
        except subprocess.TimeoutExpired:
            return b""

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None
