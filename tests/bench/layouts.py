#!/usr/bin/env python3
"""The lists of a case of puzzle 34: what one block takes, and layouts of the whole, both by ./shardlings simulate.

    tests/bench/layouts.py --model layers=30,hidden=3072,heads=32,vocabulary=51200,sequence=2048 --cluster dgx_a100 \\
        --stack megatron-2022 --ranks 32 --global-batch 256 --capacity 74.5 \\
        --tp 1,2,4,8 --batch 1,2,4 --sweep tp=1..8,pp=1..8,v=1..4,batch=1..4,recompute=off,selective,full

The layouts are those of one sweep, by puzzle 33's solution, each on a device with enough memory. Of all that are
possible the fastest that fit are kept, the fastest that do not, and some of the others. Add --json FILE to keep the
whole sweep.
"""
import argparse
import json
import os
import subprocess
import sys
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RECOMPUTE = ["off", "selective", "full"]  # as shardlings::Recomputed counts them
GIB = 2.0**30


def simulate(options, arguments):
    command = [ROOT + "/shardlings", "simulate", "33", "--solution", "--json", "--cluster", options.cluster, "--stack",
               options.stack] + arguments
    answer = subprocess.run(command, capture_output=True, text=True)
    if answer.returncode != 0 or not answer.stdout:
        sys.exit(" ".join(command) + "\n" + answer.stdout + answer.stderr)
    return json.loads(answer.stdout)


def sizes_of(model):
    return dict(part.split("=") for part in model.split(","))


def profile_of(options):
    """Differences between one block and two, and between one micro-batch and two."""
    sizes = sizes_of(options.model)
    rows = []
    for tp in options.tp:
        for batch in options.batch:
            for recomputed, word in enumerate(RECOMPUTE):
                end, peak = {}, {}
                for layers in (1, 2):
                    for micro_batches in (1, 2):
                        model = ",".join(f"{key}={layers if key == 'layers' else value}" for key, value in sizes.items())
                        of = simulate(options, ["--model", model, "--parallel", f"tp={tp}", "--batch", str(batch),
                                                "--micro-batches", str(micro_batches), "--recompute", word, "--unlimited"])
                        end[layers, micro_batches], peak[layers, micro_batches] = of["end"] / 1e9, of["peak"]
                one, two = (end[layers, 2] - end[layers, 1] for layers in (1, 2))
                hidden = int(sizes["hidden"])
                block, tables = 12 * hidden**2 / tp, 2 * int(sizes["vocabulary"]) * hidden / tp
                kept = peak[2, 1] - peak[1, 1] - 16 * block  # of one rank 16 bytes for each weight
                once = peak[1, 1] - 16 * (block + tables) - kept
                rows.append((tp, batch, recomputed, two - one, 2 * one - two, kept / GIB, once / GIB))
    return rows


def swept_layouts(options):
    points = simulate(options, ["--model", options.model, "--ranks", str(options.ranks), "--global-batch",
                                str(options.global_batch), "--sweep", options.sweep, "--fold"])
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(points, file)
    rows = []
    for point in points:
        size = {key: value if key == "recompute" else int(value) for key, value in point["sizes"].items()}
        tp, pp, chunks, batch = size["tp"], size["pp"], size.get("v", 1), size["batch"]
        layers = int(sizes_of(options.model)["layers"])
        if not point.get("finished") or (chunks > 1 and pp == 1) or layers % (pp * chunks) != 0 or chunks > 4:
            continue  # puzzle 34 wants equal chunks
        rows.append((tp, pp, chunks, batch, RECOMPUTE.index(size["recompute"]), point["end"] / 1e9, point["peak"] / GIB))
    return sorted(rows, key=lambda row: row[5])


def chosen_rows(rows, capacity):
    fitting = [row for row in rows if row[6] <= capacity]
    others = [row for row in rows if row[6] > capacity]
    rest = fitting[16:]
    return sorted(fitting[:16] + others[:8] + rest[::max(1, len(rest) // 12)][:12], key=lambda row: row[5])


def print_list(name, numbers, form):
    text = ", ".join(format(number, form) for number in numbers)
    print(f"{name} = [\n" + "\n".join(textwrap.wrap(text, 116, initial_indent="  ", subsequent_indent="  ")) + "\n]")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="by its sizes")
    parser.add_argument("--cluster", required=True)
    parser.add_argument("--stack", required=True)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--global-batch", type=int, required=True)
    parser.add_argument("--capacity", type=float, required=True, help="of a device, in GiB")
    parser.add_argument("--tp", required=True, type=lambda text: [int(one) for one in text.split(",")])
    parser.add_argument("--batch", required=True, type=lambda text: [int(one) for one in text.split(",")])
    parser.add_argument("--sweep", required=True)
    parser.add_argument("--json", help="a file for the whole sweep")
    options = parser.parse_args()
    profile, layouts = profile_of(options), chosen_rows(swept_layouts(options), options.capacity)
    for column, (name, form) in enumerate([("profile_tp", "d"), ("profile_batch", "d"), ("profile_recomputed", "d"),
                                           ("block_seconds", ".6g"), ("head_seconds", ".6g"), ("kept_gib", ".6g"),
                                           ("once_gib", ".6g")]):
        print_list(name, [row[column] for row in profile], form)
    for column, (name, form) in enumerate([("tp", "d"), ("pp", "d"), ("chunks", "d"), ("batch", "d"),
                                           ("recomputed", "d"), ("seconds", ".5g"), ("gib", ".5g")]):
        print_list(name, [row[column] for row in layouts], form)


if __name__ == "__main__":
    main()
