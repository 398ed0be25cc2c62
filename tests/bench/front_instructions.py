#!/usr/bin/env python3
"""How many instructions the front takes for an operation where numbers are computed, on the processor's backend.

Counts those of ten steps of `./shardlings train --tp 2 --pp 2` (valgrind's callgrind: 14 steps without those of 4, so
that what a run does once is not counted), and divides them by the operations that the ranks were charged for. The
front's are those of runtime/front, api and model, with what these call in base, in the C++ library, in fmt and in libc,
such as allocations and texts; not what the kernels, the fabric and the engine do, nor BLAS and the program that trains.
The model is tiny, since the front does the same for one that is large. With --most N it fails if there are more than N.
Status 77 where valgrind is not installed. Build first: ./shardlings train --help; --root is another checkout of the
project, with its build in its place."""

import argparse
import collections
import functools
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# What decides whose instructions a function's are; of others, such as those of a library, it is decided by who calls.
OWNERS = [("front", r"/runtime/(front|api|model)/"), ("back", r"/runtime/back/"), ("back", r"openblas|libm[.-]"),
          ("program", r"/runtime/(train|submission|grading|case|world)/|/solutions/")]
CHARGE = re.compile(r"::(Meter|RankFront)::charge\(")


class Profile:
    """A file of callgrind: what each function does itself, how often one calls another, and what that costs."""

    def __init__(self, path):
        self.own, self.calls, self.within = (collections.Counter() for _ in range(3))
        self.names = {"object": {}, "file": {}, "function": {}}
        self.at = {"object": "", "file": "", "function": None}
        self.callee = {}
        calls = None
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                if cost := re.match(r"(?:[+-]?\d+|\*) (\d+)$", line):
                    self.add_cost(int(cost.group(1)), calls)
                    calls = None
                elif line.startswith("calls="):
                    calls = int(line[6:].split()[0])
                elif place := re.match(r"(c?)(ob|fl|fi|fe|fn)=(.*)$", line):
                    self.go_to(*place.groups())

    def go_to(self, of_callee, word, text):
        """Names are numbered, and spelled out where they come first. fi and fe: of what is inlined."""
        kind = {"ob": "object", "fn": "function"}.get(word, "file")
        number, spelled = re.match(r"\((\d+)\)(?: (.*))?$", text).groups()
        if spelled is not None:
            self.names[kind][number] = spelled
        name = self.names[kind][number]
        if of_callee:
            self.callee[kind] = name
        elif word == "fn":
            self.at["function"] = (self.at["object"], self.at["file"], name)
        elif word in ("ob", "fl"):
            self.at[kind] = name

    def add_cost(self, cost, calls):
        """Of a line of the function, or of what it calls there."""
        if calls is None:
            self.own[self.at["function"]] += cost
            return
        called = tuple(self.callee.get(kind, self.at[kind]) for kind in ("object", "file", "function"))
        self.calls[self.at["function"], called] += calls
        self.within[self.at["function"], called] += cost
        self.callee = {}

    def subtract(self, other):
        """What another run did is not counted."""
        self.own.subtract(other.own)
        self.calls.subtract(other.calls)
        self.within.subtract(other.within)


def owner_of(function):
    """Of one of the project's, or nothing."""
    place = f"{function[1]} {function[0]}"
    return next((owner for owner, pattern in OWNERS if re.search(pattern, place)), None)


def shares_of_front(profile):
    """A function: which part of a function's instructions is the front's."""
    callers = collections.defaultdict(list)
    for (caller, called), cost in profile.within.items():
        if caller != called and cost > 0:
            callers[called].append((caller, cost))

    @functools.lru_cache(maxsize=None)
    def share(function, depth=0):
        owner = owner_of(function)
        if owner is not None:
            return 1.0 if owner == "front" else 0.0
        costs = sum(cost for _, cost in callers[function])
        if costs == 0 or depth > 20:  # who calls itself over others
            return 0.0
        return sum(share(caller, depth + 1) * cost for caller, cost in callers[function]) / costs

    return share


def train(root, steps, folder):
    """The profile of the process that trains."""
    command = ["valgrind", "--tool=callgrind", "--trace-children=yes", f"--callgrind-out-file={folder}/%p",
               os.path.join(root, "build/bin/shardlings"), "train", "--tp", "2", "--pp", "2", "--hidden", "8",
               "--heads", "2", "--sequence", "4", "--steps", str(steps), "--fresh", "--checkpoint",
               os.path.join(folder, "checkpoint"), "--json"]
    run = subprocess.run(command, check=False, cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                         env=os.environ | {"OPENBLAS_NUM_THREADS": "1"})
    if run.returncode != 0:
        sys.exit(f"training under valgrind ended with status {run.returncode}:\n{run.stderr}")
    for path in glob.glob(folder + "/*[0-9]"):
        with open(path, encoding="utf-8", errors="replace") as file:
            if re.search(r"^cmd:\s+\S*/shardlings_train ", file.read(10000), re.MULTILINE):
                return Profile(path)
    sys.exit("no process that trains was found")


def main():
    """See above."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=os.path.abspath, default=ROOT)
    parser.add_argument("--most", type=float, help="more are a failure")
    given = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("The instructions are not counted: valgrind is not installed.")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as few, tempfile.TemporaryDirectory() as many:
        profile = train(given.root, 14, many)
        profile.subtract(train(given.root, 4, few))
    share = shares_of_front(profile)
    instructions = sum(own * share(function) for function, own in profile.own.items())
    operations = sum(calls for (caller, called), calls in profile.calls.items()
                     if CHARGE.search(called[2]) and caller != called)
    each = instructions / operations
    print(f"{each:.0f} instructions of the front for each of {operations} operations")
    sys.exit(0 if given.most is None or each <= given.most else f"more than {given.most:.0f}")


if __name__ == "__main__":
    main()
