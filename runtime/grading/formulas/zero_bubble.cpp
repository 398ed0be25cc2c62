#include "grading/formulas/zero_bubble.h"

#include <algorithm>
#include <deque>
#include <utility>

namespace shardlings::grading::formulas {
namespace {

using front::Event;
using front::EventKind;
using judge::Formula;
using judge::named;

/// Writes an order down, pass by pass.
class OrderWriter {
 public:
  OrderWriter(int m, int most) : m_(m), most_(most) {}

  void forward() { write(Pass::forward, forwards_); }
  void input() { write(Pass::input, inputs_); }
  void weights() { write(Pass::weights, weights_); }
  bool has_forwards() const { return forwards_ < m_; }
  bool has_inputs() const { return inputs_ < m_; }
  bool has_weights() const { return weights_ < m_; }
  bool is_full() const { return forwards_ - weights_ == most_; }
  PassOrder take() { return std::move(order_); }

 private:
  void write(Pass pass, int& number) {
    order_.push_back(pass);
    ++number;
  }

  int m_, most_;
  int forwards_ = 0, inputs_ = 0, weights_ = 0;
  PassOrder order_;
};

Nanos time_of_pass(const StageTimes& times, Pass pass) {
  switch (pass) {
    case Pass::forward: return times.forward;
    case Pass::input: return times.input;
    case Pass::weights: return times.weights;
  }
  return Nanos(0);
}

/// Sum of one kind of pass over the stages [begin, end).
Nanos way(const PassPlan& plan, Pass pass, int begin, int end) {
  Nanos sum;
  for (int r = begin; r < end; ++r) sum += time_of_pass(plan.times[static_cast<std::size_t>(r)], pass);
  return sum;
}

/// What rank r says about the end.
Nanos bound_of_rank(const PassPlan& plan, int r) {
  const StageTimes& own = plan.times[static_cast<std::size_t>(r)];
  const int p = plan.p(), m = plan.m, most = std::min(plan.most, m);
  const Nanos begin = way(plan, Pass::forward, 0, r), up = way(plan, Pass::input, 0, r);
  const Nanos first_weights = plan.times.front().weights;
  const Nanos gradient = way(plan, Pass::forward, 0, p) + way(plan, Pass::input, r + 1, p);
  const Nanos idle = std::max(Nanos(0), gradient - begin - most * own.forward);
  const Nanos inputs = begin + idle + m * (own.forward + own.input);
  const Nanos stays = way(plan, Pass::forward, r, p) + way(plan, Pass::input, r, p);
  const Nanos last_forward = begin + (m - 1) % most * own.forward + (m - 1) / most * (stays + own.weights);
  return std::max({inputs + m * own.weights, inputs + (m - most) * own.weights + up + first_weights,
                   last_forward + stays + std::max(own.weights, up + first_weights)});
}

/// Of a rank whose pass cannot begin yet.
struct OnRank {
  PassOrder order;
  std::size_t next = 0;
  Nanos now;
  int done[3] = {0, 0, 0};  ///< by Pass
};

class EndWalk {
 public:
  EndWalk(const PassPlan& plan, const std::function<PassOrder(int)>& order) : plan_(plan) {
    for (int r = 0; r < plan.p(); ++r) ranks_.emplace_back().order = order(r);
    for (auto& ends : ends_) ends.resize(ranks_.size());
  }

  std::optional<Nanos> end() {
    for (bool moves = true; moves;) {
      moves = false;
      for (int r = 0; r < plan_.p(); ++r) {
        while (go_on(r)) moves = true;
      }
    }
    Nanos last;
    for (const OnRank& rank : ranks_) {
      if (rank.next < rank.order.size()) return std::nullopt;
      last = std::max(last, rank.now);
    }
    return last;
  }

 private:
  /// When a rank's i-th pass of a kind ended, if it has.
  std::optional<Nanos> ended(Pass pass, int r, int i) const {
    const auto& ends = ends_[static_cast<std::size_t>(pass)][static_cast<std::size_t>(r)];
    return i < static_cast<int>(ends.size()) ? std::optional(ends[static_cast<std::size_t>(i)]) : std::nullopt;
  }
  /// When what the pass needs is there, if it is.
  std::optional<Nanos> ready(Pass pass, int r, int i) const {
    if (pass == Pass::forward) return r == 0 ? Nanos(0) : ended(Pass::forward, r - 1, i);
    if (pass == Pass::weights) return ended(Pass::input, r, i);
    if (!ended(Pass::forward, r, i)) return std::nullopt;
    return r + 1 == plan_.p() ? ended(Pass::forward, r, i) : ended(Pass::input, r + 1, i);
  }
  bool go_on(int r) {
    OnRank& own = ranks_[static_cast<std::size_t>(r)];
    if (own.next == own.order.size()) return false;
    const Pass pass = own.order[own.next];
    int& done = own.done[static_cast<std::size_t>(pass)];
    const std::optional<Nanos> begin = ready(pass, r, done);
    if (!begin) return false;
    own.now = std::max(own.now, *begin) + time_of_pass(plan_.times[static_cast<std::size_t>(r)], pass);
    ends_[static_cast<std::size_t>(pass)][static_cast<std::size_t>(r)].push_back(own.now);
    ++done;
    ++own.next;
    return true;
  }

  const PassPlan& plan_;
  std::vector<OnRank> ranks_;
  std::vector<std::vector<Nanos>> ends_[3];  ///< by Pass and rank: of each micro-batch
};

/// Follows a rank's memory call by call.
class PassWalk {
 public:
  PassWalk(const cases::Case& kase, int rank)
      : pipeline_(pipeline_of(kase)), rank_(rank), stage_(pipeline_.layers_of(rank, 0)), most_(pass_plan(kase).most) {
    for (Count l = stage_.begin; l < stage_.end; ++l) weights_ += layer(l).weights;
    if (is_first()) batch_ += pipeline_.m * layer(0).input;
    if (is_last()) batch_ += pipeline_.m * judge::kBytesOfF32 * kase.model.sequence * kase.batch;
  }

  PassMemory along(const PassOrder& order) {
    for (const Pass pass : order) {
      if (pass == Pass::forward) forward();
      if (pass == Pass::input) input();
      if (pass == Pass::weights) weights();
    }
    return std::move(result_);
  }

 private:
  const LayerBytes& layer(Count l) const { return pipeline_.layers[static_cast<std::size_t>(l)]; }
  bool is_first() const { return pipeline_.is_first(rank_, 0); }
  bool is_last() const { return pipeline_.is_last(rank_, 0); }
  std::int64_t output() const { return layer(stage_.end - 1).output; }
  std::int64_t input_gradient() const { return layer(stage_.begin).input_gradient; }
  /// x of a layer stays for its W: that of the stage is the caller's, the others are the stage's own.
  bool stays(Count l) const { return l == stage_.begin || layer(l).weights_read_x; }

  void note(const char* pass, std::int64_t own) {
    const std::int64_t on_the_way = static_cast<std::int64_t>(up_.size()) * input_gradient();
    Formula<Bytes> bytes = named("weights", Bytes(weights_)) + named("gradients", Bytes(weights_)) +
                           named("batch and loss", Bytes(batch_)) + named("held", Bytes(held_)) +
                           named(pass, Bytes(own));
    if (on_the_way > 0) bytes += named("gradients on their way", Bytes(on_the_way));
    if (bytes.value() > result_.peak.value()) result_.peak = bytes;
  }
  void end(std::int64_t own) {
    result_.after.push_back(2 * weights_ + batch_ + held_ + own +
                            static_cast<std::int64_t>(up_.size()) * input_gradient());
  }

  void forward() {
    std::int64_t own = layer(stage_.begin).input;
    for (Count l = stage_.begin; l < stage_.end; ++l) {
      note("one in F", own + layer(l).forward_saving);
      own += layer(l).saved + layer(l).output;
    }
    end(own);
    held_ += own;
  }

  void input() {
    std::int64_t own = output();  // its gradient; the output itself has gone
    for (Count l = stage_.begin; l < stage_.end; ++l) own += layer(l).input + layer(l).saved;
    held_ -= own;
    for (Count l = stage_.end - 1; l >= stage_.begin; --l) {
      note("one in B", own - layer(l).saved - layer(l).output + layer(l).backward_input);
      own += layer(l).input_gradient + layer(l).kept - layer(l).saved - layer(l).output;
      if (l > stage_.begin) after_layer(l, own);
    }
    end(own);
    held_ += own - input_gradient();
    if (is_first()) return;
    up_.push_back(1);
    if (static_cast<int>(up_.size()) > most_) up_.pop_front();
  }
  void after_layer(Count l, std::int64_t& own) const {
    if (!stays(l)) own -= layer(l).input;
  }

  void weights() {
    std::int64_t own = 0;
    for (Count l = stage_.begin; l < stage_.end; ++l) own += layer(l).kept + (stays(l) ? layer(l).input : 0);
    held_ -= own;
    end(layer(stage_.begin).input);
  }

  Pipeline pipeline_;
  int rank_;
  Range stage_;
  int most_;
  std::int64_t weights_ = 0;
  std::int64_t batch_ = judge::kBytesOfF32;  // with the loss
  std::int64_t held_ = 0;
  std::deque<int> up_;  // gradients that were sent and not waited for
  PassMemory result_;
};

std::optional<Pass> pass_of(const Event& event) {
  if (event.kind == EventKind::forward) return Pass::forward;
  if (event.kind == EventKind::backward_input) return Pass::input;
  if (event.kind == EventKind::backward_weights) return Pass::weights;
  return std::nullopt;
}

}  // namespace

std::string letters_of(const PassOrder& order) {
  std::string text;
  for (const Pass pass : order) text += "FBW"[static_cast<std::size_t>(pass)];
  return text;
}

std::vector<StageTimes> stage_times(const cases::Case& kase, const Pipeline& pipeline) {
  const front::CallTable& table = kase.cluster.table;
  std::vector<StageTimes> times;
  for (int r = 0; r < pipeline.p; ++r) {
    const Count layers = pipeline.layers_of(r, 0).size();
    times.push_back(
        {layers * table.forward, layers * (table.backward - table.weights_part()), layers * table.weights_part()});
  }
  return times;
}

PassPlan pass_plan(const cases::Case& kase) {
  return {stage_times(kase, pipeline_of(kase)), kase.micro_batches, static_cast<int>(kase.integer("most"))};
}

PassOrder zero_bubble_order(const PassPlan& plan, int r) {
  const int after = plan.p() - r - 1, more = std::clamp(plan.most - plan.p(), 0, after);
  OrderWriter write(plan.m, plan.most);
  for (int i = 0; i < std::min({after + more, plan.most - 1, plan.m}); ++i) write.forward();
  while (write.has_inputs()) {
    if (write.has_forwards()) write.forward();
    write.input();
    if (write.is_full() || !write.has_forwards()) write.weights();
  }
  while (write.has_weights()) write.weights();
  return write.take();
}

PassOrder whole_backward_order(const PassPlan& plan, int r) {
  OrderWriter write(plan.m, plan.most);
  for (int i = 0; i < std::min({plan.p() - r - 1, plan.most - 1, plan.m}); ++i) write.forward();
  while (write.has_inputs()) {
    if (write.has_forwards()) write.forward();
    write.input();
    write.weights();
  }
  return write.take();
}

std::optional<Nanos> end_along(const PassPlan& plan, const std::function<PassOrder(int)>& order) {
  return EndWalk(plan, order).end();
}

Nanos lower_bound(const PassPlan& plan) {
  Nanos bound;
  for (int r = 0; r < plan.p(); ++r) bound = std::max(bound, bound_of_rank(plan, r));
  return bound;
}

int most_held(const PassOrder& order) {
  int held = 0, most = 0;
  for (const Pass pass : order) {
    if (pass == Pass::forward) most = std::max(most, ++held);
    if (pass == Pass::weights) --held;
  }
  return most;
}

int leading_forwards(const PassOrder& order) {
  const auto first = std::find_if(order.begin(), order.end(), [](Pass pass) { return pass != Pass::forward; });
  return static_cast<int>(first - order.begin());
}

int inputs_before_weights(const PassOrder& order) {
  return static_cast<int>(std::count(order.begin(), std::find(order.begin(), order.end(), Pass::weights), Pass::input));
}

std::vector<FoundPass> passes_found(const judge::CheckContext& check, const Pipeline& pipeline, int rank) {
  const Range own = pipeline.layers_of(rank, 0);
  std::vector<FoundPass> passes;
  for (const Event& event : check.trace(rank).events) {
    const std::optional<Pass> pass = pass_of(event);
    if (event.depth != 0 || !pass) continue;
    if (event.label.layer == (pass == Pass::forward ? own.begin : own.end - 1)) {
      passes.push_back({*pass, event.label.micro, event, event});
    } else if (!passes.empty()) {
      passes.back().last = event;
    }
  }
  return passes;
}

PassOrder order_of(const std::vector<FoundPass>& passes) {
  PassOrder order;
  for (const FoundPass& found : passes) order.push_back(found.pass);
  return order;
}

PassMemory memory_along(const cases::Case& kase, int rank, const PassOrder& order) {
  return PassWalk(kase, rank).along(order);
}

}  // namespace shardlings::grading::formulas
