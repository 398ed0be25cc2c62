#!/usr/bin/env python3
"""What a simulation costs: puzzle 33's solution in the shape of GPT-3 175B, 16 micro-batches, on more and more ranks.

Prints for each number of ranks the processor's seconds, the memory at its most, and how many operations and calls are
simulated in a second; all processes together, but without the build. With --instructions, on 64 ranks, how many
instructions of the submission's process (valgrind's callgrind) there are for an operation or call, and with --most N
fails if there are more than N. Status 77 where valgrind is not installed. Build first: ./shardlings simulate --help."""

import argparse
import glob
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LAYOUTS = {8: "tp=8", 64: "tp=8,pp=8", 512: "tp=8,pp=8,dp=8", 1024: "tp=8,pp=8,dp=16",
           4096: "tp=8,pp=16,dp=32", 16384: "tp=8,pp=16,dp=128"}


def command(ranks):
    """The simulation that is measured."""
    return [os.path.join(ROOT, "build/bin/shardlings"), "simulate", "33", "--solution", "--json", "--unlimited",
            "--model", "gpt3-175b", "--cluster", "dgx_h100", "--batch", "1", "--micro-batches", "16",
            "--parallel", LAYOUTS[ranks]]


def run(arguments):
    """What it prints, as JSON."""
    return json.loads(subprocess.run(arguments, check=True, cwd=ROOT, capture_output=True, text=True).stdout)


def measure(ranks):
    """A line of the table. In a process of its own, since the most memory of all children is all that is known."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = run(command(ranks))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{ranks:6} {result['seconds']:8.2f} {seconds:8.2f} {after.ru_maxrss / 1024:8.0f} "
          f"{after.ru_maxrss / ranks:10.0f} {result['operations'] / seconds / 1e6:8.1f}", flush=True)


def instructions_of_each(ranks):
    """Of the process that runs the ranks, for an operation or call."""
    with tempfile.TemporaryDirectory() as folder:
        result = run(["valgrind", "--tool=callgrind", "--trace-children=yes",
                      f"--callgrind-out-file={folder}/%p"] + command(ranks))
        for path in glob.glob(folder + "/*"):
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read()
            if re.search(r"^cmd: .*/submission \d+ dry$", text, re.MULTILINE):
                return int(re.search(r"^(?:totals|summary): (\d+)", text, re.MULTILINE).group(1)) / result["operations"]
    sys.exit("no process of the submission was found")


def main():
    """See above."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, nargs="+", choices=LAYOUTS, default=[8, 64, 512, 1024, 4096])
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--most", type=float, help="with --instructions: more are a failure")
    given = parser.parse_args()
    run(command(8))  # builds
    if given.instructions:
        if shutil.which("valgrind") is None:
            print("The instructions are not counted: valgrind is not installed.")
            sys.exit(77)
        each = instructions_of_each(64)
        print(f"{each:.0f} instructions for an operation or call")
        sys.exit(0 if given.most is None or each <= given.most else f"more than {given.most:.0f}")
    print(" ranks  wall s    cpu s      MiB KiB a rank  M ops/s")
    for ranks in given.ranks:
        if os.fork() == 0:
            measure(ranks)
            os._exit(0)
        if os.wait()[1] != 0:
            sys.exit(1)


if __name__ == "__main__":
    main()
