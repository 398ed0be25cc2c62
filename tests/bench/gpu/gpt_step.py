#!/usr/bin/env python3
"""The model of gpt_step.cpp in PyTorch on the same GPU: a training step, eager and compiled.

Same sizes, mixed precision (bf16 weights and activations, f32 master weights and Adam), attention over the whole matrix
by scaled_dot_product_attention. Prints the same kind of lines; says so and ends with status 77 where there is no PyTorch
or no GPU. `--try` runs a tiny model on the CPU."""

import sys
import time

try:
    import torch
    import torch.nn.functional as F
    from torch import nn
except ImportError:
    print("skipped: PyTorch is not installed")
    sys.exit(77)

TRIAL = sys.argv[1:] == ["--try"]
LAYERS, HIDDEN, HEADS, SEQUENCE, BATCH, VOCABULARY = (2, 32, 2, 8, 2, 64) if TRIAL else (12, 2048, 16, 1024, 8, 50304)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(HIDDEN), nn.LayerNorm(HIDDEN)
        self.qkv, self.proj = nn.Linear(HIDDEN, 3 * HIDDEN), nn.Linear(HIDDEN, HIDDEN)
        self.fc, self.fc2 = nn.Linear(HIDDEN, 4 * HIDDEN), nn.Linear(4 * HIDDEN, HIDDEN)

    def forward(self, x):
        b, s, _ = x.shape
        q, k, v = (t.view(b, s, HEADS, -1).transpose(1, 2) for t in self.qkv(self.ln1(x)).chunk(3, dim=-1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(b, s, HIDDEN))
        return x + self.fc2(F.gelu(self.fc(self.ln2(x)), approximate="tanh"))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.token, self.position = nn.Embedding(VOCABULARY, HIDDEN), nn.Embedding(SEQUENCE, HIDDEN)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm, self.head = nn.LayerNorm(HIDDEN), nn.Linear(HIDDEN, VOCABULARY, bias=False)

    def forward(self, ids, targets):
        x = self.token(ids) + self.position.weight
        for block in self.blocks:
            x = block(x)
        return F.cross_entropy(self.head(self.norm(x)).flatten(0, 1).float(), targets.flatten())


def step_seconds(device, compiled):
    torch.manual_seed(1)
    model = GPT().to(device)
    run = torch.compile(model) if compiled else model
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4, fused=device == "cuda")
    ids = torch.randint(VOCABULARY, (BATCH, SEQUENCE), device=device)
    targets = torch.randint(VOCABULARY, (BATCH, SEQUENCE), device=device)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device, dtype=torch.bfloat16):
            loss = run(ids, targets)
        loss.backward()
        optimizer.step()
        return loss

    def timed(steps):
        step().item()
        begin = time.perf_counter()
        for _ in range(steps - 1):
            step()
        step().item()
        return (time.perf_counter() - begin) / steps

    timed(1 if TRIAL else 5)
    return min(timed(1 if TRIAL else 10) for _ in range(1 if TRIAL else 3))


def main():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu" and not TRIAL:
        print("skipped: PyTorch sees no GPU")
        sys.exit(77)
    print(f"# PyTorch {torch.__version__}, {torch.cuda.get_device_name() if device == 'cuda' else 'CPU'}")
    for compiled in (False, True):
        kind = "compiled" if compiled else "eager"
        try:
            print(f"| GPT step, PyTorch {kind} | {1e3 * step_seconds(device, compiled):.4g} ms | | |", flush=True)
        except Exception as error:  # a missing compiler on the machine must not cost the other figure
            print(f"| GPT step, PyTorch {kind} | failed: {type(error).__name__} | | |", flush=True)


main()
