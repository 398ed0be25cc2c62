// What a case of puzzle 29 is: who serves and who works, and which rows each batch needs. Harness and grader have the
// same.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/units.h"

namespace shardlings {

struct ServerPlan {
  template <class Case>
  explicit ServerPlan(const Case& kase)
      : seed(kase.seed),
        steps(kase.steps),
        servers(static_cast<int>(kase.integer("servers"))),
        workers(kase.ranks - servers),
        backups(static_cast<int>(kase.integer("backups"))),
        slow(static_cast<int>(kase.integer("slow"))),
        slowness(static_cast<int>(kase.integer("slowness"))),
        rows(kase.integer("rows")),
        hidden(kase.integer("h")),
        needed(kase.integer("needed")),
        lr(static_cast<float>(kase.number("lr"))) {}

  std::uint64_t seed;
  int steps, servers, workers, backups;
  int slow;      ///< so many workers, those in the middle, are slow
  int slowness;  ///< and take so many times as long
  Count rows, hidden;
  Count needed;  ///< of each server's rows by a batch; 0: all
  float lr;

  bool is_slow(int worker) const {
    const int first = (workers - slow) / 2;
    return worker >= first && worker < first + slow;
  }
  /// Row v of the table is row v / S of server v % S.
  Count rows_of(int server) const { return (rows - server + servers - 1) / servers; }
  Count touched(int server) const { return needed == 0 ? rows_of(server) : needed; }
  Count touched_in_all() const {
    Count all = 0;
    for (int s = 0; s < servers; ++s) all += touched(s);
    return all;
  }
  /// Rows of that server which batch `step` of a worker needs, without repeats.
  std::vector<std::int32_t> ids(int worker, int step, int server) const {
    std::vector<std::int32_t> all(static_cast<std::size_t>(rows_of(server)));
    std::iota(all.begin(), all.end(), 0);
    if (needed == 0) return all;
    constexpr std::uint64_t kStream = 29, kNumbers = 1024;
    const auto batch = static_cast<std::uint64_t>((step * workers + worker) * servers + server);
    for (std::size_t i = 0; i < static_cast<std::size_t>(needed); ++i) {
      const auto left = static_cast<std::uint32_t>(all.size() - i);
      std::swap(all[i], all[i + below_at(left, seed, batch * kNumbers + i, kStream)]);
    }
    all.resize(static_cast<std::size_t>(needed));
    return all;
  }

  /// Under which name the rows are published that a worker has computed a batch with.
  static std::string seen(int worker, int step) {
    return "seen." + std::to_string(worker) + "." + std::to_string(step);
  }

  /// \name Which random numbers are what: see Harness::normals
  /// @{
  static int curvature() { return 0; }
  int table(int server) const { return 1 + server; }
  int wanted(int worker, int step) const { return 1 + servers + step * workers + worker; }
  /// @}
};

}  // namespace shardlings
