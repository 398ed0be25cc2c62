#!/usr/bin/env python3
"""Published steps beside simulated ones: what a step took, what ./shardlings simulate says, and how far that is off.

Every row of tests/bench/fidelity.json runs the project's solution of puzzle 33. With --fit, for each cluster, which
matmul and memory efficiency come nearest to all of its rows, whatever their software stacks, and how far each row is
from what is fitted to the others (leave one out). Steps are linear in the inverse of both, as far as a row's critical
path stays the same, so three runs of a row are enough. Build first: ./shardlings simulate --help."""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STACKS = os.path.join(ROOT, "runtime/front/clock/stacks")


def rows(kind, most_ranks):
    """Those of tests/bench/fidelity.json that are not too large."""
    with open(os.path.join(ROOT, "tests/bench/fidelity.json"), encoding="utf-8") as file:
        return [row for row in json.load(file)[kind] if row["ranks"] <= most_ranks]


def simulated(arguments):
    """What the simulation prints, as JSON."""
    return json.loads(subprocess.run(
        [os.path.join(ROOT, "build/bin/shardlings"), "simulate", "--solution", "--json", "--unlimited"] + arguments,
        check=True, cwd=ROOT, capture_output=True, text=True).stdout)


def simulate(row, stack=None):
    """A step, or what it keeps; `stack`: a file in place of the row's."""
    return simulated(["33", "--cluster", row["cluster"], "--stack", stack or row["stack"], "--model", row["model"],
                      "--parallel", row["parallel"], "--batch", str(row["batch"]),
                      "--micro-batches", str(row["micro_batches"]),
                      "--recompute", row["recompute"]] + row.get("options", []))


def seconds(row, stack=None):
    """Of the simulated step."""
    return simulate(row, stack)["end"] / 1e9


def with_efficiency(stack, cluster, matmul, memory):
    """The text of the stack's file with other efficiencies."""
    with open(os.path.join(STACKS, stack + ".toml"), encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"\n\[\[on\]\]\n.*?(?=\n\[|\Z)", "", text, flags=re.DOTALL)
    return text + f'\n[[on]]\ncluster = "{cluster}"\nmatmul = {matmul}\nmemory = {memory}\n'


class Linear:
    """A row's step as base + a / matmul + b / memory, from three runs."""

    POINT, STEP = (0.75, 0.75), 0.85

    def __init__(self, row):
        self.row = row
        times = [self.run(*point) for point in
                 [self.POINT, (self.POINT[0] * self.STEP, self.POINT[1]), (self.POINT[0], self.POINT[1] * self.STEP)]]
        change = [1 / (p * self.STEP) - 1 / p for p in self.POINT]
        self.a, self.b = (times[1] - times[0]) / change[0], (times[2] - times[0]) / change[1]
        self.base = times[0] - self.a / self.POINT[0] - self.b / self.POINT[1]

    def run(self, matmul, memory):
        """The step with these efficiencies."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "stack.toml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(with_efficiency(self.row["stack"], self.row["cluster"], matmul, memory))
            return seconds(self.row, path)

    def error(self, matmul, memory):
        """Relative, with its sign."""
        return (self.base + self.a / matmul + self.b / memory) / self.row["seconds"] - 1


def fitted(lines):
    """Efficiencies with the least sum of squared relative errors, of a grid from 0.4 to 1 in steps of 0.005."""
    grid = [0.4 + 0.005 * i for i in range(121)]
    return min(((m, b) for m in grid for b in grid),
               key=lambda point: sum(line.error(*point) ** 2 for line in lines))


def summary(what, lines, errors, left_out):
    """A line for rows of one kind."""
    of = [i for i, line in enumerate(lines) if what in ("all", line.row["stack"])]
    fits, others = [abs(errors[i]) for i in of], [abs(left_out[i]) for i in of]
    print(f"{what}: mean {100 * mean(fits):.1f} %, worst {100 * max(fits):.1f} %; left out: mean "
          f"{100 * mean(others):.1f} %, worst {100 * max(others):.1f} %")


def fit(of_cluster):
    """Prints what fits one cluster, and how well each row is predicted by the others."""
    lines = [Linear(row) for row in of_cluster]
    matmul, memory = fitted(lines)
    print(f"{of_cluster[0]['cluster']}: matmul {matmul:.3f}, memory {memory:.3f}")
    errors = [line.error(matmul, memory) for line in lines]
    left_out = [line.error(*fitted([other for other in lines if other is not line])) for line in lines]
    for line, error, without in zip(lines, errors, left_out):
        print(f"  {line.row['name']:34} {100 * error:+6.1f} %   left out {100 * without:+6.1f} %")
    for what in sorted({line.row["stack"] for line in lines}) + ["all"]:
        summary(what, lines, errors, left_out)


def print_memory(most_ranks):
    """Activations at the peak of the fullest rank, and what a weight's states take."""
    for row in rows("activations", most_ranks):
        ours = simulate(row)["peak_by_kind"]["activation"]
        formula = row["bytes"] + row.get("again", 0)  # what backward of one block computes again is there beside it
        print(f"{row['name']:34} {formula / 2**30:8.2f} GiB {ours / 2**30:7.2f} GiB "
              f"{100 * (ours / formula - 1):+6.1f} %", flush=True)
    layers, hidden, vocabulary, sequence = 36, 4096, 51200, 1024
    weights = layers * (12 * hidden**2 + 13 * hidden) + (2 * vocabulary + sequence + 2) * hidden
    for row in rows("states", most_ranks):
        kinds = simulated([row["puzzle"], "--cluster", "dgx_a100", "--precision", row.get("precision", "mixed"),
                           "--ranks", str(row["ranks"]), "--batch", "1", "--micro-batches", "1", "--model",
                           f"layers={layers},hidden={hidden},heads=32,vocabulary={vocabulary},sequence={sequence}"]
                          )["peak_by_kind"]
        ours = (kinds["parameter"] + kinds["gradient"] + kinds["optimizer"]) / weights
        print(f"{row['name']:34} {row['bytes_a_weight']:8.4f} B   {ours:7.4f} B", flush=True)


def mean(errors):
    """Of their sizes."""
    return sum(map(abs, errors)) / len(errors)


def main():
    """See above."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--memory", action="store_true", help="activations and states in place of steps")
    parser.add_argument("--most-ranks", type=int, default=1 << 20, help="leave larger rows out")
    given = parser.parse_args()
    if given.memory:
        print_memory(given.most_ranks)
        return
    chosen = rows("steps", given.most_ranks)
    if given.fit:
        for cluster in sorted({row["cluster"] for row in chosen}):
            fit([row for row in chosen if row["cluster"] == cluster])
        return
    errors = []
    print(f"{'row':34} {'published':>10} {'ours':>9} {'error':>8}")
    for row in chosen:
        ours = seconds(row)
        errors.append(ours / row["seconds"] - 1)
        print(f"{row['name']:34} {row['seconds']:8.2f} s {ours:7.2f} s {100 * errors[-1]:+6.1f} %", flush=True)
    print(f"mean {100 * mean(errors):.1f} %, worst {100 * max(map(abs, errors)):.1f} %")


if __name__ == "__main__":
    sys.exit(main())
