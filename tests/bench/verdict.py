#!/usr/bin/env python3
"""From a saved file to its verdict: directly and in jails, the solutions of some puzzles by turns.

Each run judges a copy that nobody has judged before, so that compiling it is part of the time. Prints the median of
each way in seconds and their ratio; other work on the machine disturbs both alike. Build first: ./shardlings verify 09."""

import argparse
import glob
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COMMAND = os.path.join(ROOT, "build/bin/shardlings")


def seconds_to_verdict(puzzle, text, folder, more):
    """Of a file with this text."""
    path = os.path.join(folder, "puzzle.cpp")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    begin = time.perf_counter()
    run = subprocess.run([COMMAND, "run", puzzle, "--file", path] + more, cwd=ROOT, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{puzzle} {' '.join(more)}: status {run.returncode}\n{run.stdout}{run.stderr}")
    return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("puzzles", nargs="*", default=["09", "20", "33"])
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    print("puzzle  direct s  jails s  ratio")
    with tempfile.TemporaryDirectory() as folder:
        for puzzle in options.puzzles:
            with open(glob.glob(f"{ROOT}/solutions/{puzzle}_*/solution.cpp")[0], encoding="utf-8") as file:
                solution = file.read()
            times = {"direct": [], "jails": []}
            for turn in range(options.turns):
                text = f"{solution}\n// {time.time_ns()} {turn}"
                times["direct"].append(seconds_to_verdict(puzzle, text, folder, []))
                times["jails"].append(seconds_to_verdict(puzzle, text + " in jails\n", folder, ["--jail"]))
            direct, jails = statistics.median(times["direct"]), statistics.median(times["jails"])
            print(f"{puzzle:6} {direct:9.2f} {jails:8.2f} {jails / direct:6.2f}", flush=True)


if __name__ == "__main__":
    main()
