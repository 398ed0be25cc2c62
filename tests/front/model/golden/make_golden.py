#!/usr/bin/env python3
"""Computes training steps of a small MLP and a small GPT with PyTorch, in double precision, for golden_test.cpp.

Weights, inputs and results are written as JSON beside this file. Weights are rounded to f32 first, so that the runtime
starts from exactly the same numbers. Debian: apt-get install python3-torch; then run this file without arguments.
"""
import json
import math
import pathlib

import torch
from torch.nn import functional

HERE = pathlib.Path(__file__).parent
LR, EPS = 0.05, 1e-3  # the same for SGD and Adam


def random_weight(generator, *shape, mean=0.0, deviation=0.3):
    x = mean + deviation * torch.randn(*shape, generator=generator, dtype=torch.float64)
    return x.float().double().requires_grad_()


def mlp_weights(spec, generator):
    h, out, layers = spec["hidden"], spec["outputs"], spec["layers"]
    sizes = [h] * layers + [out]
    return [{"weight": random_weight(generator, sizes[l + 1], sizes[l]), "bias": random_weight(generator, sizes[l + 1])}
            for l in range(layers)]


def mlp_forward(spec, weights, batch):
    x = torch.tensor(batch["inputs"], dtype=torch.float64).reshape(-1, spec["hidden"])
    for l, w in enumerate(weights):
        x = functional.linear(x, w["weight"], w["bias"])
        if l + 1 < len(weights):
            x = functional.gelu(x, approximate="tanh")
    return x


def gpt_weights(spec, generator):
    h, v, s = spec["hidden"], spec["outputs"], spec["sequence"]

    def norm(name):
        return {f"{name}.weight": random_weight(generator, h, mean=1.0), f"{name}.bias": random_weight(generator, h)}

    def block():
        w = norm("ln1")
        for name in ("query", "key", "value"):
            w[f"{name}.weight"] = random_weight(generator, h, h)
        for name in ("query", "key", "value"):
            w[f"{name}.bias"] = random_weight(generator, h)
        w.update({"proj.weight": random_weight(generator, h, h), "proj.bias": random_weight(generator, h)})
        w.update(norm("ln2"))
        w.update({"fc.weight": random_weight(generator, 4 * h, h), "fc.bias": random_weight(generator, 4 * h)})
        w.update({"fc2.weight": random_weight(generator, h, 4 * h), "fc2.bias": random_weight(generator, h)})
        return w

    embedding = {"token": random_weight(generator, v, h), "position": random_weight(generator, s, h)}
    head = norm("norm") | {"weight": random_weight(generator, v, h)}
    return [embedding] + [block() for _ in range(spec["layers"])] + [head]


def gpt_block(spec, w, x):
    """x is (b, s, h): the framework's usual order, not the runtime's."""
    b, s, h = x.shape
    n = functional.layer_norm(x, (h,), w["ln1.weight"], w["ln1.bias"], 1e-5)

    def heads(name):
        y = functional.linear(n, w[f"{name}.weight"], w[f"{name}.bias"])
        return y.reshape(b, s, spec["heads"], -1).transpose(1, 2)

    scores = heads("query") @ heads("key").transpose(2, 3) / math.sqrt(h // spec["heads"])
    mask = torch.ones(s, s, dtype=torch.bool).tril()
    y = scores.masked_fill(~mask, -math.inf).softmax(dim=-1) @ heads("value")
    x = x + functional.linear(y.transpose(1, 2).reshape(b, s, h), w["proj.weight"], w["proj.bias"])
    n = functional.layer_norm(x, (h,), w["ln2.weight"], w["ln2.bias"], 1e-5)
    y = functional.gelu(functional.linear(n, w["fc.weight"], w["fc.bias"]), approximate="tanh")
    return x + functional.linear(y, w["fc2.weight"], w["fc2.bias"])


def gpt_forward(spec, weights, batch):
    ids = torch.tensor(batch["ids"]).reshape(spec["sequence"], spec["batch"]).T
    x = weights[0]["token"][ids] + weights[0]["position"]
    for w in weights[1:-1]:
        x = gpt_block(spec, w, x)
    w = weights[-1]
    x = functional.layer_norm(x, (spec["hidden"],), w["norm.weight"], w["norm.bias"], 1e-5)
    return functional.linear(x, w["weight"]).transpose(0, 1).reshape(-1, spec["outputs"])


def make_batch(spec, generator):
    rows = spec["sequence"] * spec["batch"]
    targets = torch.randint(spec["outputs"], (rows,), generator=generator)
    targets[1] = -1  # one that does not count
    batch = {"targets": targets.tolist()}
    if spec["family"] == "mlp":
        batch["inputs"] = torch.randn(rows * spec["hidden"], generator=generator).tolist()
    else:
        batch["ids"] = torch.randint(spec["outputs"], (rows,), generator=generator).tolist()
    return batch


def flat(layers):
    return [[round(x, 12) for tensor in layer for x in tensor.flatten().tolist()] for layer in layers]


def train(spec, forward, start, batch, optimizer, steps):
    """Returns loss and gradients of the first step, and the weights after all."""
    weights = [{k: v.detach().clone().requires_grad_() for k, v in w.items()} for w in start]
    parameters = [p for w in weights for p in w.values()]
    update = optimizer(parameters)
    for step in range(steps):
        update.zero_grad()
        loss = functional.cross_entropy(forward(spec, weights, batch), torch.tensor(batch["targets"]), ignore_index=-1)
        loss.backward()
        if step == 0:
            first = {"loss": loss.item(), "grads": flat([[p.grad for p in w.values()] for w in weights])}
        update.step()
    return first, flat([[p.detach() for p in w.values()] for w in weights])


def make(spec, make_weights, forward, seed):
    generator = torch.Generator().manual_seed(seed)
    start = make_weights(spec, generator)
    batch = make_batch(spec, generator)
    golden, sgd = train(spec, forward, start, batch, lambda p: torch.optim.SGD(p, lr=LR), 2)
    _, adam = train(spec, forward, start, batch, lambda p: torch.optim.Adam(p, lr=LR, eps=EPS), 3)
    golden.update(spec=spec, lr=LR, eps=EPS, batch=batch, weights=flat([[p.detach() for p in w.values()] for w in start]),
                  sgd={"steps": 2, "weights": sgd}, adam={"steps": 3, "weights": adam})
    (HERE / f"{spec['family']}.json").write_text(json.dumps(golden, separators=(",", ":")).replace("],[", "],\n[") + "\n")


make({"family": "mlp", "layers": 3, "hidden": 7, "outputs": 5, "sequence": 3, "batch": 3, "heads": 1},
     mlp_weights, mlp_forward, 1)
make({"family": "gpt", "layers": 2, "hidden": 6, "outputs": 11, "sequence": 5, "batch": 3, "heads": 2},
     gpt_weights, gpt_forward, 2)
