// Spoils the puzzle: this is the judge's, and puzzle.cpp does not need it.
//
// What a run costs that loses ranks, in closed form: bytes between ranks and to the store, gradients, times, memory.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/parts.h"
#include "elastic_plan.h"
#include "elastic_run.h"
#include "grading/formulas/sharding.h"
#include "grading/formulas/step_cost.h"

namespace shardlings {

class ElasticCost {
 public:
  using Bytes_ = grading::judge::Formula<Bytes>;
  using Time = grading::judge::Formula<Nanos>;
  using Number = grading::judge::Formula<Count>;

  explicit ElasticCost(const cases::Case& kase)
      : kase_(kase), batch_(kase.integer("step_batch")), every_(kase.integer("every")) {
    const Count copies = kase.model.optimizer == model::ModelSpec::Optimizer::adam ? 3 : 1;
    for (const auto& layer : grading::formulas::layer_bytes(kase)) {
      layers_.push_back(layer.weights / grading::judge::kBytesOfF32);
    }
    for (Count copy = 0; copy < copies; ++copy) tensors_.insert(tensors_.end(), layers_.begin(), layers_.end());
  }

  /// \name The state
  /// @{
  std::int64_t state_bytes() const { return part_bytes(1, 0); }
  /// What it would write if it wrote the whole state of each checkpoint.
  Bytes whole(const std::vector<Phase>& phases, int rank) const {
    Count all = 0;
    for (const Phase& phase : phases) all += place(phase, rank) >= 0 ? saves(phase) : 0;
    return Bytes(all * state_bytes());
  }
  /// What rank r of n has of it.
  std::int64_t part_bytes(int n, int r) const {
    Count elements = 0;
    for (const Count size : tensors_) elements += part_of(size, n, r).size();
    return elements * grading::judge::kBytesOfF32;
  }
  Bytes_ part(int n, int r) const {
    using namespace grading::judge;
    return simplest(named("the state", Bytes(state_bytes())) / named("N", Count(n)),
                    named("this rank's part of the state", Bytes(part_bytes(n, r))));
  }
  /// Of weights alone.
  std::int64_t weight_bytes() const {
    Count elements = 0;
    for (const Count size : layers_) elements += size;
    return elements * grading::judge::kBytesOfF32;
  }
  /// @}

  /// \name Work
  /// @{
  /// Gradients that a rank computes in a phase at most.
  Count gradients(const Phase& phase, int rank) const {
    const int r = place(phase, rank);
    if (r < 0) return 0;
    return (phase.last - phase.first + (phase.broken ? 1 : 0)) * part_of(batch_, phase.size(), r).size();
  }
  Number gradients(const std::vector<Phase>& phases, int rank) const {
    Count all = 0;
    for (const Phase& phase : phases) all += gradients(phase, rank);
    return grading::judge::named("its share of each step, and of each one that a death has interrupted", all);
  }
  /// Checkpoints that a phase begins to write.
  Count saves(const Phase& phase) const {
    Count count = 0;
    for (Count u = std::max<Count>(phase.first + (phase.loaded ? 1 : 0), 1); u <= phase.last; ++u) {
      count += u % every_ == 0 ? 1 : 0;
    }
    return count;
  }
  /// @}

  /// \name Bytes
  /// @{
  /// Of all ranks together.
  Bytes_ sent(const std::vector<Phase>& phases) const {
    using namespace grading::judge;
    std::int64_t sums = 0, healed = 0, gathered = 0;
    for (const Phase& phase : phases) {
      for (int r = 0; r < phase.size(); ++r) {
        sums += (phase.last - phase.first + (phase.broken ? 1 : 0)) * sum_bytes(phase.size(), r);
        gathered += phase.loaded ? gather_bytes(phase.size(), r) : 0;
      }
      healed += static_cast<std::int64_t>(phase.healed.size()) * state_bytes();
    }
    Bytes_ all = named("all-reduces of all steps", Bytes(sums));
    if (healed > 0) all += named("the state, once for each rank that takes a place", Bytes(healed));
    if (gathered > 0) all += named("all-gathers of what was read", Bytes(gathered));
    return all;
  }
  /// By each of N ranks where nobody dies.
  Bytes_ sent_by_one(int n) const {
    using namespace grading::judge;
    const Number share = grading::formulas::share_of_others(named("N", Count(n)));
    return named("T", Count(kase_.steps)) * (2 * share * named("weights", Bytes(weight_bytes())));
  }
  Bytes_ written(const std::vector<Phase>& phases, int rank) const {
    using namespace grading::judge;
    std::int64_t parts = 0;
    Count all = 0;
    for (const Phase& phase : phases) {
      const int r = place(phase, rank);
      if (r < 0) continue;
      parts += saves(phase) * part_bytes(phase.size(), r);
      all += saves(phase);
    }
    return named("its part of each checkpoint", Bytes(parts)) + all * named("numbers", Bytes(kNumbers));
  }
  Bytes_ read(const std::vector<Phase>& phases, int rank) const {
    using namespace grading::judge;
    std::int64_t parts = 0;
    for (const Phase& phase : phases) {
      const int r = place(phase, rank);
      if (r >= 0 && phase.loaded) parts += part_bytes(phase.size(), r);
    }
    return named("its part of each checkpoint that is loaded", Bytes(parts));
  }
  /// @}

  /// \name Times
  /// @{
  /// Of one micro-batch; 0 in exact cases, where it is not known.
  Nanos gradient_time() const {
    if (is_exact(kase_) || !kase_.cluster.uses_table) return Nanos(0);
    const grading::formulas::Letters letter(kase_);
    return (letter.l * (letter.f + letter.b)).value();
  }
  Nanos shares_time(int n, int r) const { return part_of(batch_, n, r).size() * gradient_time(); }
  /// All writes of a checkpoint by one rank.
  Nanos write_time(int n, int r) const {
    Nanos all;
    for (const Count size : tensors_) all += store_time(part_of(size, n, r).size() * grading::judge::kBytesOfF32);
    return all;
  }
  /// Two numbers, and the new name.
  Nanos publish_time() const { return 2 * store_time(kNumber) + store_time(0); }
  /// All sums of a step.
  Nanos sums_time(int n) const {
    const cases::Case of = of_ranks(n);
    std::int64_t time = 0;
    for (const Count size : layers_) time += n == 1 ? 0 : grading::formulas::all_reduce_time(of, size);
    return Nanos(time);
  }
  /// The end of a run in which nobody dies, on a cluster with a table.
  Time end(int n) const {
    using namespace grading::judge;
    const Count steps = kase_.steps, behind = steps % every_ == 0 ? 1 : 0, beside = steps / every_ - behind;
    Nanos longest, exposed;
    for (int r = 0; r < n; ++r) {
      longest = std::max(longest, shares_time(n, r));
      exposed = std::max(exposed, write_time(n, r) - shares_time(n, 0));
    }
    const Time publish = named("two numbers and a new name", publish_time());
    Time all = named("T", steps) * (named("gradients", longest) + named("sums", sums_time(n)));
    all += named("checkpoints", beside + behind) * publish;
    if (exposed > Nanos(0))
      all += named("of these not at the end", beside) * named("what gradients do not hide", exposed);
    if (behind > 0) all += named("writes of the last one", write_time(n, 0));
    return all + 2 * named("asking for the newest", store_time(0));
  }
  /// What a program may do beside end(): more questions, and two numbers more in each checkpoint.
  Time granted() const {
    using namespace grading::judge;
    const Nanos questions = questions_time(1) - 2 * store_time(0), numbers = 2 * store_time(kNumber);
    return named("more questions and numbers", questions + kase_.steps / every_ * numbers);
  }
  /// How long a rank stands still for the store at most.
  Time standing_still(const std::vector<Phase>& phases, int rank) const {
    using namespace grading::judge;
    Nanos all = questions_time(phases.size());
    for (const Phase& phase : phases) {
      const int r = place(phase, rank);
      if (r < 0) continue;
      const Nanos writes = write_time(phase.size(), r),
                  left = std::max(Nanos(0), writes - shares_time(phase.size(), r));
      const bool behind = phase.last == kase_.steps && kase_.steps % every_ == 0, drained = phase.broken;
      all += saves(phase) * (left + 4 * store_time(kNumber) + store_time(0));  // whoever gives the name
      if (behind || drained) all += writes;
      if (phase.loaded) all += read_time(phase.size(), r);
    }
    return named("what gradients do not hide of its writes, numbers, and what it reads", all);
  }
  /// @}

  Bytes_ peak() const {
    using namespace grading::judge;
    const auto step = grading::formulas::step_peak(kase_, 0, 0);
    const Bytes_ state = named("weights, gradients, moments", Bytes(step.weights + step.gradients + step.optimizer));
    const Bytes_ given = named("data and loss", Bytes(step.batch + rows_bytes()));
    if (is_exact(kase_)) return state + given;
    return state + given + named("a micro-batch", Bytes(step.kept + step.own));
  }

 private:
  static constexpr std::int64_t kNumber = 8;    ///< bytes of a number in the store
  static constexpr std::int64_t kNumbers = 32;  ///< of four, the most that a checkpoint may have

  /// A rank's number among those that train; -1 if it does not.
  static int place(const Phase& phase, int rank) {
    const auto found = std::find(phase.ranks.begin(), phase.ranks.end(), rank);
    return found == phase.ranks.end() ? -1 : static_cast<int>(found - phase.ranks.begin());
  }
  cases::Case of_ranks(int n) const {
    cases::Case of = kase_;
    of.ranks = n;
    of.batches = 0;
    return of;
  }
  std::int64_t sum_bytes(int n, int r) const {
    const cases::Case of = of_ranks(n);
    std::int64_t apart = 0;
    Count together = 0;
    for (const Count size : layers_) {
      apart += n == 1 ? 0 : grading::formulas::all_reduce_bytes(of, size, r);
      together += size;
    }
    return n == 1 ? 0 : std::max(apart, grading::formulas::all_reduce_bytes(of, together, r));
  }
  /// Everything but the next rank's part.
  std::int64_t gather_bytes(int n, int r) const { return n == 1 ? 0 : state_bytes() - part_bytes(n, (r + 1) % n); }
  /// The latency is a nanosecond at least.
  Nanos store_time(std::int64_t bytes) const {
    const front::StoreSpeed& store = kase_.cluster.store;
    constexpr double kSecond = 1e9;
    const double transfer = static_cast<double>(bytes) * kSecond / store.bytes_per_second.value();
    return std::max(Nanos(1), store.latency.value()) + Nanos(static_cast<std::int64_t>(std::llround(transfer)));
  }
  /// Of all questions to the store that a program may ask: one in each step, and three at the beginning, at the end and
  /// after each time that ranks are lost.
  Nanos questions_time(std::size_t phases) const {
    return (kase_.steps + 3 * static_cast<Count>(phases + 1)) * store_time(0);
  }
  /// Each tensor's part may lie in all parts of a checkpoint, and those of as many ranks as there are at most.
  Nanos read_time(int n, int r) const {
    Nanos all;
    for (const Count size : tensors_) {
      all += store_time(part_of(size, n, r).size() * grading::judge::kBytesOfF32);
      all += static_cast<Count>(kase_.ranks) * store_time(0);
    }
    return all;
  }
  std::int64_t rows_bytes() const { return is_exact(kase_) ? kase_.micro_batches * weight_bytes() : 0; }

  const cases::Case& kase_;
  Count batch_, every_;
  std::vector<Count> layers_;   ///< elements of the weights
  std::vector<Count> tensors_;  ///< and of all tensors of the state
};

}  // namespace shardlings
