// Operations one by one on one rank, sizes of the GPT in gpt_step.cpp: rates of memory and arithmetic, and what a call
// costs that computes next to nothing.
#include <benchmark/benchmark.h>

#include <functional>

#include "shardlings/puzzle.h"
#include "world/world.h"

namespace {

using namespace shardlings;

constexpr Count kS = 64, kB = 8, kH = 256;

Tensor normal(Rank& rank, const Shape& shape) {
  Tensor x = rank.empty(shape, Kind::activation);
  random_normal(x, 1, 0, 1);
  return x;
}

/// Times what `prepare` returns; `bytes` and `flops` are those of one call.
void time(benchmark::State& timer, double bytes, double flops,
          const std::function<std::function<void()>(Rank&)>& prepare) {
  const auto report = world::run({}, [&](Rank& rank) {
    const std::function<void()> call = prepare(rank);
    call();
    for (auto _ : timer) call();
  });
  if (report.failure) timer.SkipWithError(report.failure->message.c_str());
  using benchmark::Counter;
  if (bytes > 0) timer.counters["B/s"] = Counter(bytes, Counter::kIsIterationInvariantRate);
  if (flops > 0) timer.counters["FLOP/s"] = Counter(flops, Counter::kIsIterationInvariantRate);
}

template <class F>
void unary(benchmark::State& timer, F f) {
  const Shape shape{kS, kB, timer.range(0)};
  time(timer, 8.0 * static_cast<double>(shape.size()), 0, [&](Rank& rank) {
    auto x = std::make_shared<Tensor>(normal(rank, shape));
    return [x, f] { benchmark::DoNotOptimize(f(ConstView(*x))); };
  });
}

void call(benchmark::State& timer) {
  time(timer, 0, 0, [](Rank& rank) {
    auto x = std::make_shared<Tensor>(normal(rank, 1));
    return [x] { scale(*x, 1); };
  });
}
void copies(benchmark::State& timer) {
  unary(timer, [](ConstView x) { return clone(x); });
}
void gelus(benchmark::State& timer) {
  unary(timer, [](ConstView x) { return gelu(x); });
}
void gelus_backward(benchmark::State& timer) {
  unary(timer, [](ConstView x) { return gelu_backward(x, x); });
}
void softmaxes(benchmark::State& timer) {
  unary(timer, [](ConstView x) { return softmax(x); });
}
void norms(benchmark::State& timer) {
  unary(timer, [](ConstView x) { return layer_norm(x, x.part({0, x.cols()}), x.part({0, x.cols()}), nullptr); });
}

void matmuls(benchmark::State& timer) {
  const Count n = timer.range(0);
  time(timer, 0, 2.0 * static_cast<double>(kS * kB * kH * n), [&](Rank& rank) {
    auto x = std::make_shared<Tensor>(normal(rank, {kS * kB, kH}));
    auto w = std::make_shared<Tensor>(normal(rank, {n, kH}));
    return [x, w] { benchmark::DoNotOptimize(matmul(*x, *w, nt)); };
  });
}

void attentions(benchmark::State& timer) {
  const Count s = timer.range(0);
  const double flops = 12.0 * static_cast<double>(kB * s * s * kH);  // of dense products, both ways
  time(timer, 0, flops, [&](Rank& rank) {
    auto qkv = std::make_shared<Tensor>(normal(rank, {s, kB, 3 * kH}));
    auto grad = std::make_shared<Tensor>(normal(rank, {s, kB, kH}));
    return [qkv, grad] {
      Tensor inner;
      benchmark::DoNotOptimize(attention(*qkv, 4, &inner));
      benchmark::DoNotOptimize(attention_backward(*qkv, 4, std::move(inner), *grad));
    };
  });
}

void adams(benchmark::State& timer) {
  const Count n = timer.range(0);
  time(timer, 28.0 * static_cast<double>(n), 0, [&](Rank& rank) {
    auto t = std::make_shared<std::vector<Tensor>>();
    for (int i = 0; i < 4; ++i) t->push_back(normal(rank, n));
    fill((*t)[3], 1);  // second moments are positive
    return [t] { adam((*t)[0], (*t)[1], (*t)[2], (*t)[3], {}); };
  });
}

BENCHMARK(call);
BENCHMARK(copies)->Arg(4 * kH);
BENCHMARK(gelus)->Arg(4 * kH);
BENCHMARK(gelus_backward)->Arg(4 * kH);
BENCHMARK(softmaxes)->Arg(kH);
BENCHMARK(norms)->Arg(kH);
BENCHMARK(matmuls)->Arg(kH)->Arg(4 * kH);
BENCHMARK(attentions)->Arg(kS)->Arg(16 * kS);
BENCHMARK(adams)->Arg(1 << 16)->Arg(1 << 22);

}  // namespace

BENCHMARK_MAIN();
