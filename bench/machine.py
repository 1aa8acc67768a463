"""Describes the machine that measures and its load, and builds and runs programs on it."""
import os
import platform
import re
import signal
import subprocess
import tempfile
import time

MOST_LOAD = 0.35  # load a core by other work, before a measurement
PATIENCE = 150  # seconds, in which the average falls from 1.5 a core to MOST_LOAD if the work ends now


class Unusable(Exception):
    """Says why nothing can be measured, and what to do about it. Ends the command with code 2."""


def cores():
    return len(os.sched_getaffinity(0))


def load():
    """Returns the load of one core, averaged over the last minute."""
    return os.getloadavg()[0] / cores()


def description():
    with open("/proc/cpuinfo") as lines:
        models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return {
        "processor": models[0] if models else platform.machine(),
        "cores": cores(),
        "system": f"{platform.system()} {platform.release()}",
    }


def await_calm(patience=PATIENCE, most=MOST_LOAD, load=load, sleep=time.sleep):
    """Waits until the machine is calm, for at most `patience` seconds. Returns whether it is."""
    waited = 0
    while load() > most and waited < patience:
        sleep(5)
        waited += 5
    return load() <= most


def build(*targets):
    """Builds the targets (//ROOM:NAME). Returns the paths of their outputs."""
    command = ["bazel", "build", "--noshow_progress", "--ui_event_filters=-info", *targets]
    if subprocess.run(command, stdout=subprocess.DEVNULL).returncode != 0:
        raise Unusable(f"{' '.join(targets)} could not be built; mend the errors above")
    return [os.path.abspath("bazel-bin/" + target.removeprefix("//").replace(":", "/")) for target in targets]


def run(command, timeout=None, **others):
    """Runs a command and returns its output. If it fails, raises Unusable with its last line."""
    command = [str(word) for word in command]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, **others)
    except FileNotFoundError:
        raise Unusable(f"{command[0]} is not there; tools/packages.txt names what is needed") from None
    except subprocess.TimeoutExpired:
        raise Unusable(f"{command[0]} did not end within {timeout} s") from None
    if done.returncode != 0:
        raise Unusable(f"{os.path.basename(command[0])} failed: {last_words(done.stderr or done.stdout)}")
    return done.stdout


def last_words(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it says nothing"


def elapsed(repetitions, work):
    """Returns the seconds of each repetition of the work."""
    times = []
    for _ in range(repetitions):
        start = time.monotonic()
        work()
        times.append(time.monotonic() - start)
    return times


def lines_until(command, last, timeout):
    """Returns the lines that a command prints, up to one that matches `last`, and its error stream. Ends the command
    then, since some launchers do not return, and after `timeout` seconds."""
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            [str(word) for word in command], stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True
        )
        lines = []

        def end(*_):
            try:
                os.killpg(process.pid, signal.SIGTERM)
            except ProcessLookupError:
                pass

        previous = signal.signal(signal.SIGALRM, end)
        signal.alarm(timeout)
        try:
            for line in process.stdout:
                lines.append(line.rstrip("\n"))
                if re.fullmatch(last, lines[-1]):
                    break
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, previous)
            try:
                process.wait(timeout=0.5)
            except subprocess.TimeoutExpired:
                end()
                process.wait()
            process.stdout.close()
        errors.seek(0)
        return lines, errors.read()
