"""Counts instructions with callgrind. The counts are the same on every run."""
import glob
import os
import re
import tempfile
from dataclasses import dataclass

from bench import machine

OPEN_MPI = re.compile(r"openmpi|libmpi|libopen-")


@dataclass
class Instructions:
    """Counts of instructions. `own`: of the program itself, except functions named PMPI_...; `open_mpi`: of Open
    MPI's libraries. A function's instructions do not include those of functions that it calls."""

    all: int = 0
    own: int = 0
    open_mpi: int = 0

    def add(self, count, thing, function, program):
        self.all += count
        if os.path.basename(thing) == program and not function.startswith("PMPI_"):
            self.own += count
        if OPEN_MPI.search(thing):
            self.open_mpi += count


def read(lines, program):
    """Reads a profile of the program with that file name. Returns its Instructions.

    Lines ob= and fn= name the object and the function of the lines that follow, first by number and name, later by
    number. Lines cob= and cfn= name those of a call. The line after calls= has the cost of the call."""
    found, names, now, is_call = Instructions(), {}, {"ob": "", "fn": ""}, False
    for line in lines:
        named = re.match(r"(c?)(ob|fn)=(\(\d+\)) ?(.*)", line)
        if named:
            called, kind, number, name = named.groups()
            if name:
                names[kind, number] = name.strip()
            if not called:
                now[kind] = names.get((kind, number), "")
        elif line.startswith("calls="):
            is_call = True
        elif re.match(r"[-+*0-9]", line):
            if not is_call:
                found.add(int(line.split()[1]), now["ob"], now["fn"], program)
            is_call = False
    return found


def count(command, function, launcher=(), must_be_called=True):
    """Runs a program and counts inside one of its functions. Returns its output, and the Instructions of each
    process. `launcher` is the command that starts the processes. Raises Unusable if it counts nothing."""
    with tempfile.TemporaryDirectory() as folder:
        printed = machine.run(
            [*launcher, "valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={folder}/%p"]
            + ["--collect-atstart=no", f"--toggle-collect={function}", *command],
            timeout=1800,
        )
        profiles = []
        for path in sorted(glob.glob(f"{folder}/*")):
            with open(path) as file:
                profiles.append(read(file, os.path.basename(command[0])))
        if must_be_called and not any(profile.all for profile in profiles):
            raise machine.Unusable(f"{os.path.basename(command[0])}: callgrind counted nothing in {function}")
        return printed, profiles
