// Collectives beside what they are measured against, in one run: a bare loop over shared buffers without any
// instrument, std::barrier, and memcpy. Figures are ratios; absolute times of blocking calls vary between runs.
//
//   collectives [repetitions]      CSV: what, ranks, bytes, median us, and for ours the ratio to the anchor
#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "back/engine/engine.h"
#include "base/parts.h"
#include "shardlings/puzzle.h"
#include "world/world.h"

namespace {

using namespace shardlings;
using Clock = std::chrono::steady_clock;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int repeats(std::int64_t bytes) {
  return bytes <= 65536 ? 1000 : bytes <= (1 << 20) ? 100 : 7;
}

// A barrier with the runtime's own waiting policy, so that the bare loop differs only in what it does not do.
class PolicyBarrier {
 public:
  PolicyBarrier(int ranks, back::Engine& engine) : ranks_(ranks), left_(ranks), engine_(engine) {}
  void wait() {
    const std::uint32_t round = round_.load(std::memory_order_acquire);
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      left_.store(ranks_, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_release);
      engine_.wake(round_);
      return;
    }
    while (round_.load(std::memory_order_acquire) == round) {
      if (!engine_.spin(round_, round)) engine_.park(round_, round);
    }
  }

 private:
  int ranks_;
  std::atomic<int> left_;
  alignas(64) std::atomic<std::uint32_t> round_{0};
  back::Engine& engine_;
};

// Each rank sums its slice of all buffers in rank order, then copies the others' slices.
double bare_all_reduce(int ranks, std::int64_t bytes) {
  const auto engine = back::make_threads_engine();
  PolicyBarrier barrier(ranks, *engine);
  const Count count = bytes / 4;
  std::vector<std::vector<float>> data(static_cast<std::size_t>(ranks),
                                       std::vector<float>(static_cast<std::size_t>(count), 1));
  std::vector<std::vector<float>> sums(static_cast<std::size_t>(ranks));
  std::vector<double> times;
  engine->run(ranks, [&](int rank) {
    const Range mine = part_of(count, ranks, rank);
    std::vector<float>& sum = sums[static_cast<std::size_t>(rank)];
    sum.resize(static_cast<std::size_t>(mine.size()));
    for (int k = -3; k < repeats(bytes); ++k) {
      barrier.wait();
      const auto begin = Clock::now();
      for (Count i = 0; i < mine.size(); ++i)
        sum[static_cast<std::size_t>(i)] =
            data[0][static_cast<std::size_t>(mine.begin + i)] + data[1][static_cast<std::size_t>(mine.begin + i)];
      for (int r = 2; r < ranks; ++r) {
        const float* other = data[static_cast<std::size_t>(r)].data() + mine.begin;
        for (Count i = 0; i < mine.size(); ++i) sum[static_cast<std::size_t>(i)] += other[i];
      }
      barrier.wait();
      for (int r = 0; r < ranks; ++r) {
        const Range part = part_of(count, ranks, r);
        std::memcpy(data[static_cast<std::size_t>(rank)].data() + part.begin, sums[static_cast<std::size_t>(r)].data(),
                    static_cast<std::size_t>(part.size()) * 4);
      }
      barrier.wait();
      if (rank == 0 && k >= 0) times.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    }
  });
  return median(times);
}

double std_barrier(int ranks) {
  std::barrier barrier(ranks);
  std::vector<std::thread> threads;
  double seconds = 0;
  constexpr int kRounds = 2000;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      for (int i = 0; i < 50; ++i) barrier.arrive_and_wait();
      const auto begin = Clock::now();
      for (int i = 0; i < kRounds; ++i) barrier.arrive_and_wait();
      if (rank == 0) seconds = std::chrono::duration<double>(Clock::now() - begin).count() / kRounds;
    });
  }
  for (std::thread& thread : threads) thread.join();
  return seconds;
}

// Two threads (as many as the cores that the goals name) copying buffers of their own.
double memcpy_rate(std::int64_t bytes) {
  std::vector<std::thread> threads;
  std::barrier barrier(2);
  std::vector<double> times;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      std::vector<char> from(static_cast<std::size_t>(bytes), 1), to(static_cast<std::size_t>(bytes));
      for (int k = -2; k < repeats(bytes); ++k) {
        barrier.arrive_and_wait();
        const auto begin = Clock::now();
        std::memcpy(to.data(), from.data(), from.size());
        barrier.arrive_and_wait();
        if (t == 0 && k >= 0) times.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return 2 * static_cast<double>(bytes) / median(times);
}

// Median seconds of `step` on rank 0, all ranks meeting before each.
double ours(int ranks, int rounds, const std::function<std::function<void()>(Rank&)>& prepare) {
  world::Options options;
  options.ranks = ranks;
  options.cluster.ranks_per_node = ranks;
  options.trace = false;
  std::vector<double> times;
  const auto report = world::run(options, [&](Rank& rank) {
    const std::function<void()> step = prepare(rank);
    for (int k = -3; k < rounds; ++k) {
      rank.world().barrier();
      const auto begin = Clock::now();
      step();
      if (rank.id() == 0 && k >= 0) times.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    }
  });
  if (report.failure) std::fprintf(stderr, "%s\n", report.failure->message.c_str());
  return median(times);
}

double our_all_reduce(int ranks, std::int64_t bytes) {
  std::vector<Tensor> data(static_cast<std::size_t>(ranks));
  return ours(ranks, repeats(bytes), [&](Rank& rank) {
    auto tensor = std::make_shared<Tensor>(rank.zeros(bytes / 4, Kind::buffer));
    return [&rank, tensor] { rank.world().all_reduce(*tensor, ReduceOp::sum); };
  });
}

double our_all_gather(int ranks, std::int64_t bytes) {
  return ours(ranks, repeats(bytes), [&](Rank& rank) {
    auto out = std::make_shared<Tensor>(rank.zeros(bytes / 4, Kind::buffer));
    auto in = std::make_shared<Tensor>(rank.zeros(rank.world().mine(bytes / 4).size(), Kind::buffer));
    return [&rank, in, out] { rank.world().all_gather(*in, *out); };
  });
}

double our_barrier(int ranks) {
  constexpr int kBatch = 100;
  return ours(ranks, 20,
              [&](Rank& rank) {
                return [&rank] {
                  for (int i = 0; i < kBatch; ++i) rank.world().barrier();
                };
              }) /
         kBatch;
}

// Runs both several times in turn; prints the medians and the median of the ratios.
void compare(const char* what, int ranks, std::int64_t bytes, int rounds, const std::function<double()>& mine,
             const std::function<double()>& anchor) {
  std::vector<double> a, b, ratio;
  for (int i = 0; i < rounds; ++i) {
    a.push_back(mine());
    b.push_back(anchor());
    ratio.push_back(a.back() / b.back());
  }
  std::printf("%s,%d,%lld,%.2f,%.2f,%.2f\n", what, ranks, static_cast<long long>(bytes), median(a) * 1e6,
              median(b) * 1e6, median(ratio));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 5;
  std::puts("what,ranks,bytes,ours_us,anchor_us,ratio");
  for (const int ranks : {2, 4, 8}) {
    compare(
        "barrier_vs_std_barrier", ranks, 0, rounds, [&] { return our_barrier(ranks); },
        [&] { return std_barrier(ranks); });
  }
  for (const int ranks : {2, 4}) {
    for (const std::int64_t bytes : {64LL, 65536LL, 1LL << 20, 16LL << 20, 64LL << 20}) {
      compare(
          "all_reduce_vs_bare_loop", ranks, bytes, rounds, [&] { return our_all_reduce(ranks, bytes); },
          [&] { return bare_all_reduce(ranks, bytes); });
    }
  }
  for (const std::int64_t bytes : {1LL << 20, 16LL << 20, 64LL << 20}) {
    // A gather of `bytes` on two ranks moves two times that; ratio of rates, so larger is better.
    compare(
        "all_gather_rate_vs_memcpy", 2, bytes, rounds,
        [&] { return 2 * static_cast<double>(bytes) / our_all_gather(2, bytes) / 1e6; },
        [&] { return memcpy_rate(bytes) / 1e6; });
  }
}
