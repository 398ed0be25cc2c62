#include "grading/formulas/v_schedule.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace shardlings::grading::formulas {
namespace {

using front::Event;
using front::EventKind;

constexpr std::size_t kKinds = 6;

/// F, B, W of the first chunk, then of the second one.
std::size_t kind_of(ChunkPass pass) {
  return static_cast<std::size_t>(pass.pass) + (pass.chunk == 0 ? 0 : 3);
}

Nanos time_of_chunk_pass(const StageTimes& times, Pass pass) {
  switch (pass) {
    case Pass::forward: return times.forward;
    case Pass::input: return times.input;
    case Pass::weights: return times.weights;
  }
  return Nanos(0);
}

/// Writes an order down; what all m micro-batches have had is left out.
class FoldedWriter {
 public:
  explicit FoldedWriter(int m) : m_(m) {}

  void write(int times, const ChunkOrder& turn) {
    for (int i = 0; i < times; ++i) {
      for (const ChunkPass pass : turn) {
        int& number = numbers_[kind_of(pass)];
        if (number == m_) continue;
        order_.push_back(pass);
        ++number;
      }
    }
  }
  int forwards_of_second() const { return numbers_[kind_of({Pass::forward, 1})]; }
  ChunkOrder take() { return std::move(order_); }

 private:
  int m_;
  std::array<int, kKinds> numbers_{};
  ChunkOrder order_;
};

struct OnFoldedRank {
  ChunkOrder order;
  std::vector<TimedPass> run;
  std::array<std::vector<Nanos>, kKinds> ends;  ///< by kind: of each micro-batch
};

class FoldedWalk {
 public:
  FoldedWalk(const FoldedPlan& plan, const std::function<ChunkOrder(int)>& order) : plan_(plan) {
    for (int r = 0; r < plan.p; ++r) ranks_.emplace_back().order = order(r);
  }

  std::optional<Timetable> timetable() {
    for (bool moves = true; moves;) {
      moves = false;
      for (int r = 0; r < plan_.p; ++r) {
        while (go_on(r)) moves = true;
      }
    }
    Timetable timetable;
    for (OnFoldedRank& rank : ranks_) {
      if (rank.run.size() < rank.order.size()) return std::nullopt;
      timetable.push_back(std::move(rank.run));
    }
    return timetable;
  }

 private:
  OnFoldedRank& rank_at(int r) { return ranks_[static_cast<std::size_t>(r)]; }
  std::optional<Nanos> ended(const PassOnRank& which) {
    const std::vector<Nanos>& ends = rank_at(which.rank).ends[kind_of(which.pass)];
    const auto i = static_cast<std::size_t>(which.micro);
    return i < ends.size() ? std::optional(ends[i]) : std::nullopt;
  }
  /// When what the pass takes is there, if it is.
  std::optional<Nanos> ready(const PassOnRank& which) {
    const auto own = ended({which.rank, {Pass::forward, which.pass.chunk}, which.micro});
    if (which.pass.pass == Pass::input && !own) return std::nullopt;
    const std::optional<PassOnRank> needed = needed_by(plan_.p, which);
    return needed ? ended(*needed) : Nanos(0);
  }
  bool go_on(int r) {
    OnFoldedRank& own = rank_at(r);
    if (own.run.size() == own.order.size()) return false;
    const ChunkPass pass = own.order[own.run.size()];
    std::vector<Nanos>& ends = own.ends[kind_of(pass)];
    const PassOnRank which{r, pass, static_cast<int>(ends.size())};
    const std::optional<Nanos> there = ready(which);
    if (!there) return false;
    const Nanos free = own.run.empty() ? Nanos(0) : own.run.back().end, begin = std::max(free, *there);
    ends.push_back(begin + time_of_chunk_pass(plan_.chunk, pass.pass));
    own.run.push_back({which, free, *there, begin, ends.back()});
    return true;
  }

  const FoldedPlan& plan_;
  std::vector<OnFoldedRank> ranks_;
};

std::optional<Pass> pass_of_event(const Event& event) {
  if (event.kind == EventKind::forward) return Pass::forward;
  if (event.kind == EventKind::backward_input) return Pass::input;
  if (event.kind == EventKind::backward_weights) return Pass::weights;
  return std::nullopt;
}

}  // namespace

std::string letters_of(const ChunkOrder& order) {
  std::string text;
  for (const ChunkPass pass : order) text += "FBWfbw"[kind_of(pass)];
  return text;
}

PassPlan FoldedPlan::unfolded() const {
  const StageTimes both{2 * chunk.forward, 2 * chunk.input, 2 * chunk.weights};
  return {std::vector<StageTimes>(static_cast<std::size_t>(p), both), m, p};
}

FoldedPlan folded_plan(const cases::Case& kase) {
  const front::CallTable& table = kase.cluster.table;
  const Count layers = layers_of_chunk(kase, 0, 0).size();
  return {{layers * table.forward, layers * (table.backward - table.weights_part()), layers * table.weights_part()},
          kase.ranks,
          kase.micro_batches};
}

Range layers_of_chunk(const cases::Case& kase, int rank, int chunk) {
  const auto layers = static_cast<Count>(layer_bytes(kase).size());
  const int stages = 2 * kase.ranks, stage = chunk == 0 ? rank : stages - 1 - rank;
  return {layers * stage / stages, layers * (stage + 1) / stages};
}

ChunkOrder v_order(const FoldedPlan& plan, int r) {
  using enum Pass;
  const ChunkOrder both_inputs{{input, 0}, {input, 1}}, first{{input, 0}, {weights, 0}};
  const ChunkOrder second{{forward, 1}, {input, 1}, {weights, 1}};
  ChunkOrder all{{forward, 0}, {input, 0}, {weights, 0}};
  all.insert(all.end(), second.begin(), second.end());
  FoldedWriter to(plan.m);
  to.write(2 * (plan.p - r) - 1, {{forward, 0}});
  to.write(r, {{forward, 1}, {forward, 0}});
  to.write(plan.p - r, second);
  to.write(plan.m - to.forwards_of_second(), all);
  to.write(r, both_inputs);
  to.write(plan.p - r, first);
  to.write(plan.m, {{weights, 1}, {weights, 0}});
  return to.take();
}

std::optional<PassOnRank> needed_by(int p, const PassOnRank& which) {
  const int stages = 2 * p, stage = which.pass.chunk == 0 ? which.rank : stages - 1 - which.rank;
  const auto of_stage = [&](int other, Pass pass) -> PassOnRank {
    return {other < p ? other : stages - 1 - other, {pass, other < p ? 0 : 1}, which.micro};
  };
  switch (which.pass.pass) {
    case Pass::forward: return stage == 0 ? std::nullopt : std::optional(of_stage(stage - 1, Pass::forward));
    case Pass::input: return stage + 1 == stages ? of_stage(stage, Pass::forward) : of_stage(stage + 1, Pass::input);
    case Pass::weights: return of_stage(stage, Pass::input);
  }
  return std::nullopt;
}

std::optional<Timetable> timetable_along(const FoldedPlan& plan, const std::function<ChunkOrder(int)>& order) {
  return FoldedWalk(plan, order).timetable();
}

std::optional<std::vector<RankSpan>> spans_along(const FoldedPlan& plan, const std::function<ChunkOrder(int)>& order) {
  const auto timetable = timetable_along(plan, order);
  if (!timetable) return std::nullopt;
  std::vector<RankSpan> spans;
  for (const std::vector<TimedPass>& run : *timetable) {
    spans.push_back(run.empty() ? RankSpan{} : RankSpan{run.front().begin, run.back().end});
  }
  return spans;
}

std::optional<Nanos> end_along(const FoldedPlan& plan, const std::function<ChunkOrder(int)>& order) {
  const auto spans = spans_along(plan, order);
  if (!spans) return std::nullopt;
  Nanos last;
  for (const RankSpan& span : *spans) last = std::max(last, span.end);
  return last;
}

Nanos lower_bound(const FoldedPlan& plan) {
  const StageTimes& each = plan.chunk;
  return std::max((plan.p - 1) * each.forward + 2 * plan.m * each.all(),
                  (plan.m - 1) * each.forward + 2 * plan.p * (each.forward + each.input) + each.weights);
}

int most_held(const ChunkOrder& order) {
  int held = 0, most = 0;
  for (const ChunkPass pass : order) {
    if (pass.pass == Pass::forward) most = std::max(most, ++held);
    if (pass.pass == Pass::weights) --held;
  }
  return most;
}

std::vector<FoundChunkPass> chunk_passes_found(const judge::CheckContext& check, int rank) {
  const Range chunks[2] = {layers_of_chunk(check.kase(), rank, 0), layers_of_chunk(check.kase(), rank, 1)};
  std::vector<FoundChunkPass> passes;
  for (const Event& event : check.trace(rank).events) {
    const std::optional<Pass> pass = pass_of_event(event);
    if (event.depth != 0 || !pass) continue;
    for (int c = 0; c < 2; ++c) {
      const Count first = pass == Pass::forward ? chunks[c].begin : chunks[c].end - 1;
      if (event.label.layer == first) passes.push_back({{*pass, c}, event});
    }
  }
  return passes;
}

ChunkOrder order_of(const std::vector<FoundChunkPass>& passes) {
  ChunkOrder order;
  for (const FoundChunkPass& found : passes) order.push_back(found.pass);
  return order;
}

}  // namespace shardlings::grading::formulas
