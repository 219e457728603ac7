"""Firefox without a window, driven by its own protocol, Marionette: each message is JSON after its length."""
import json
import pathlib
import socket
import subprocess
import time

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # WebDriver's name of an element in JSON


class Firefox:
    def __init__(self, program, profile):
        profile = pathlib.Path(profile)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        (profile / "user.js").write_text(f'user_pref("marionette.port", {port});\n'
                                         'user_pref("app.update.enabled", false);\n')
        self.process = subprocess.Popen([program, "--headless", "--marionette", "--no-remote", "--profile", profile],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.number, self.rest = 0, b""
        for _ in range(300):
            try:
                self.socket = socket.create_connection(("127.0.0.1", port), timeout=120)
                break
            except OSError:
                time.sleep(0.2)
        else:
            raise AssertionError("Firefox does not answer")
        self.message()  # its greeting
        self("WebDriver:NewSession")

    def message(self):
        while b":" not in self.rest:
            self.rest += self.received()
        length, _, self.rest = self.rest.partition(b":")
        while len(self.rest) < int(length):
            self.rest += self.received()
        text, self.rest = self.rest[:int(length)], self.rest[int(length):]
        return json.loads(text)

    def received(self):
        got = self.socket.recv(1 << 16)
        assert got, "Firefox ended"
        return got

    def __call__(self, command, **parameters):
        self.number += 1
        text = json.dumps([0, self.number, command, parameters])
        self.socket.sendall(f"{len(text.encode())}:{text}".encode())
        _, number, error, result = self.message()
        assert number == self.number and error is None, f"{command}: {error}"
        return result.get("value") if isinstance(result, dict) and set(result) == {"value"} else result

    def find(self, selector, wait_s=60):
        """An element, when it is there."""
        end = time.monotonic() + wait_s
        while True:
            found = self("WebDriver:FindElements", using="css selector", value=selector)
            if found:
                return found[0][ELEMENT]
            assert time.monotonic() < end, f"there is no {selector}"
            time.sleep(0.1)

    def close(self):
        self.socket.close()
        self.process.terminate()
        self.process.wait(timeout=30)
