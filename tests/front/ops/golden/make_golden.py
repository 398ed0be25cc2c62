#!/usr/bin/env python3
"""Golden values for tests/front/ops, computed once with PyTorch in double precision.

Usage: python3 make_golden.py > golden.json      (Debian: apt install python3-torch)

Inputs are rounded to f32 first, so that both sides compute from the same numbers. Every case is
{name: {"shape": [...], "data": [...]}}; names say what an entry is to the test that reads it.
"""
import json
import sys

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
torch.manual_seed(20240607)


def rand(*shape, scale=1.0):
    return (torch.randn(*shape) * scale).float().double().requires_grad_()


def entry(t):
    t = t.detach()
    integral = not t.dtype.is_floating_point
    data = [int(v) if integral else float(f"{v:.9g}") for v in t.flatten().tolist()]
    return {"shape": list(t.shape), "data": data}


def case(**tensors):
    return {name: entry(t) for name, t in tensors.items()}


def backward(y):
    g = (torch.randn(y.shape)).float().double()
    y.backward(g)
    return g


def linear():
    x, w, b = rand(3, 2, 7), rand(5, 7), rand(5)
    y = F.linear(x, w, b)
    g = backward(y)
    return case(x=x, w=w, b=b, y=y, g=g, gx=x.grad, gw=w.grad, gb=b.grad)


def gelu():
    x = torch.linspace(-6, 6, 61).float().double().requires_grad_()
    y = F.gelu(x, approximate="tanh")
    g = backward(y)
    return case(x=x, y=y, g=g, gx=x.grad)


def softmax():
    x = rand(5, 19, scale=3.0)
    y = F.softmax(x, -1)
    g = backward(y)
    return case(x=x, y=y, g=g, gx=x.grad)


def layer_norm():
    x, w, b = rand(6, 33), rand(33), rand(33)
    y = F.layer_norm(x, (33,), w, b, 1e-5)
    g = backward(y)
    return case(x=x, w=w, b=b, y=y, g=g, gx=x.grad, gw=w.grad, gb=b.grad)


def attention():
    s, b, heads, d = 9, 2, 3, 4
    w = heads * d
    qkv = rand(s, b, 3 * w)
    q, k, v = (t.reshape(s, b, heads, d).permute(1, 2, 0, 3) for t in qkv.split(w, -1))
    scores = (q @ k.transpose(-1, -2)) / d**0.5
    mask = torch.triu(torch.ones(s, s, dtype=torch.bool), 1)
    p = scores.masked_fill(mask, float("-inf")).softmax(-1)
    y = (p @ v).permute(2, 0, 1, 3).reshape(s, b, w)
    g = backward(y)
    return case(qkv=qkv, p=p, y=y, g=g, gqkv=qkv.grad)


def cross_entropy():
    x = rand(8, 13, scale=2.0)
    targets = torch.tensor([3, -1, 0, 12, 7, -1, 3, 5], dtype=torch.int32)
    loss = F.cross_entropy(x, targets.long(), ignore_index=-1, reduction="sum") / 6
    loss.backward()
    return case(x=x, targets=targets, loss=loss.reshape(1), gx=x.grad)


def adam():
    w = rand(17)
    start = w.detach().clone()
    grads = [torch.randn(17).float().double() for _ in range(3)]
    opt = torch.optim.AdamW([w], lr=0.01, betas=(0.9, 0.99), eps=1e-6, weight_decay=0.1)
    steps = []
    for g in grads:
        w.grad = g.clone()
        opt.step()
        steps.append(w.detach().clone())
    state = opt.state[w]
    return case(w=start, grads=torch.stack(grads), steps=torch.stack(steps), m=state["exp_avg"], v=state["exp_avg_sq"])


def embedding():
    table, positions = rand(11, 6), rand(4, 6)
    ids = torch.tensor([[1, 10], [0, 1], [7, 7], [1, 3]], dtype=torch.int32)
    y = F.embedding(ids.long(), table) + positions[:, None, :]
    g = backward(y)
    return case(ids=ids, table=table, positions=positions, y=y, g=g, gtable=table.grad, gpositions=positions.grad)


CASES = (linear, gelu, softmax, layer_norm, attention, cross_entropy, adam, embedding)
json.dump({f.__name__: f() for f in CASES}, sys.stdout, separators=(",", ":"))
print()
