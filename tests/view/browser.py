"""Drives a headless Chromium in tests, through the pipe of its remote debugging protocol."""
import itertools
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time


class Browser:
    """A running browser. page() opens a page. Use it in a `with` statement."""

    def __init__(self):
        program = shutil.which("chromium")
        if not program:
            raise SystemExit("this test needs chromium; as root: apt-get install chromium")
        # Processes of the browser may write there for a moment after they were killed.
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()

        def connect():  # the protocol reads descriptor 3 and writes to 4
            read, write = os.dup(to_browser), os.dup(from_browser)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self._process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
             "--disable-dev-shm-usage", "--remote-debugging-pipe", f"--user-data-dir={self._folder.name}", "about:blank"],
            preexec_fn=connect, close_fds=False, start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env={**os.environ, "HOME": self._folder.name})
        os.close(to_browser)
        os.close(from_browser)
        self._numbers = itertools.count(1)
        self._rest = b""
        self.events = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._folder.cleanup()

    def _receive(self):
        while b"\0" not in self._rest:
            more = os.read(self._read, 1 << 20)
            if not more:
                raise RuntimeError("chromium has ended")
            self._rest += more
        text, self._rest = self._rest.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, session=None, **parameters):
        number = next(self._numbers)
        request = {"id": number, "method": method, "params": parameters}
        if session:
            request["sessionId"] = session
        data = json.dumps(request).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data):]
        while True:
            answer = self._receive()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def page(self, path, width=1300, height=1900):
        return Page(self, path, width, height)


class Page:
    def __init__(self, browser, path, width, height):
        self._browser = browser
        self._target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = browser.call("Target.attachToTarget", targetId=self._target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network"):
            self.call(f"{domain}.enable")
        self.call("Performance.enable", timeDomain="threadTicks")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        browser.events.clear()
        self.call("Page.navigate", url="file://" + os.path.realpath(path))
        self.wait("document.body?.dataset.ready === 'yes'")
        self.settle()

    def call(self, method, **parameters):
        return self._browser.call(method, self._session, **parameters)

    def close(self):
        self._browser.call("Target.closeTarget", targetId=self._target)

    def value(self, expression):
        """Returns the value of a JavaScript expression. Waits for it if it is a promise."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait(self, condition, seconds=300):
        end = time.monotonic() + seconds
        while not self.value(condition):
            if time.monotonic() > end:
                raise RuntimeError(f"not true after {seconds} s: {condition}")
            time.sleep(0.02)

    def settle(self):
        """Waits until the page has drawn everything requested so far."""
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, text=key if key == " " else "")
        self.settle()

    def media(self, media="", dark=False):
        self.call("Emulation.setEmulatedMedia", media=media,
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.settle()

    def processor_milliseconds(self):
        """Returns the time that the page's thread has worked so far, which does not depend on the machine's load."""
        metrics = self.call("Performance.getMetrics")["metrics"]
        return 1000 * next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")

    def requests(self):
        """Returns the addresses that the page has requested."""
        return [event["params"]["request"]["url"] for event in self._browser.events
                if event.get("method") == "Network.requestWillBeSent"]

    def errors(self):
        return [event["params"] for event in self._browser.events if event.get("method") == "Runtime.exceptionThrown"]
