#include "grading/formulas/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <numeric>
#include <optional>
#include <utility>

#include "base/parts.h"

namespace shardlings::grading::formulas {
namespace {

using judge::Formula;
using judge::named;

/// Order in which a rank's chunks go forward: p micro-batches through one chunk, then through the next one.
Order forwards_of(const Pipeline& pipeline) {
  Order order;
  for (int first = 0; first < pipeline.m; first += pipeline.p) {
    for (int chunk = 0; chunk < pipeline.v; ++chunk) {
      for (int i = first; i < std::min(first + pipeline.p, pipeline.m); ++i) order.push_back({true, i, chunk});
    }
  }
  return order;
}

/// Follows a rank's memory call by call. All layers are given by their numbers in the model.
class MemoryWalk {
 public:
  MemoryWalk(const cases::Case& kase, Pipeline pipeline, int rank, Mail mail)
      : pipeline_(std::move(pipeline)), rank_(rank), mail_(mail) {
    for (int chunk = 0; chunk < pipeline_.v; ++chunk) {
      const Range own = pipeline_.layers_of(rank, chunk);
      for (Count l = own.begin; l < own.end; ++l) weights_ += layer(l).weights;
      if (pipeline_.is_first(rank, chunk)) batch_ += pipeline_.m * layer(0).input;
      if (pipeline_.is_last(rank, chunk)) batch_ += pipeline_.m * 4 * kase.model.sequence * kase.batch;
    }
  }

  PipelineMemory along(const Order& order) {
    round_.assign(static_cast<std::size_t>(pipeline_.m), 0);
    for (const Slot& slot : order) {
      if (receives(slot)) coming_[slot.forward].push_back(received_bytes(slot));
    }
    for (const Slot& slot : order) {
      result_.during.push_back(0);
      slot.forward ? forward(slot) : backward(slot);
    }
    return result_;
  }

 private:
  const LayerBytes& layer(Count l) const { return pipeline_.layers[static_cast<std::size_t>(l)]; }
  bool receives(const Slot& slot) const {
    return slot.forward ? !pipeline_.is_first(rank_, slot.chunk) : !pipeline_.is_last(rank_, slot.chunk);
  }
  bool sends(const Slot& slot) const { return receives({!slot.forward, slot.micro, slot.chunk}); }
  std::int64_t received_bytes(const Slot& slot) const {
    const Range own = pipeline_.layers_of(rank_, slot.chunk);
    return slot.forward ? layer(own.begin).input : layer(own.end - 1).output;
  }

  /// The message of a slot is there, and a receive of the next one may be posted.
  void receive(const Slot& slot) {
    round_[static_cast<std::size_t>(slot.micro)] = 0;
    if (receives(slot)) coming_[slot.forward].pop_front();
  }
  std::int64_t mail_bytes() const {
    std::int64_t bytes = std::accumulate(round_.begin(), round_.end(), sent_[0] + sent_[1]);
    for (const auto& coming : coming_) bytes += mail_.receives_ahead && !coming.empty() ? coming.front() : 0;
    return bytes;
  }
  /// The message of a slot leaves. Up to now the one before may have been kept.
  void send(const Slot& slot, std::int64_t bytes) {
    if (!sends(slot)) return;
    if (mail_.sends_in_flight) sent_[slot.forward] = bytes;
    const bool goes_round = slot.forward ? rank_ == pipeline_.p - 1 : rank_ == 0;
    if (mail_.rounds_in_flight && goes_round) round_[static_cast<std::size_t>(slot.micro)] = bytes;
  }

  /// A layer of a slot works, and its micro-batch holds so many bytes of this rank.
  void note(const Slot& slot, Count l, std::int64_t own) {
    Formula<Bytes> bytes = named("weights", Bytes(weights_)) + named("gradients", Bytes(weights_)) +
                           named("batch and loss", Bytes(batch_));
    if (number_ > 0) bytes += named(fmt::format("{} in flight", number_), Bytes(in_flight_));
    bytes += named(fmt::format("one in {} of layer {}", slot.forward ? "forward" : "backward", l), Bytes(own));
    if (mail_bytes() > 0) bytes += named("messages", Bytes(mail_bytes()));
    result_.during.back() = std::max(result_.during.back(), bytes.value().value());
    if (bytes.value() > result_.peak.value()) result_.peak = bytes;
  }
  void end(std::int64_t own) { result_.after.push_back(2 * weights_ + batch_ + in_flight_ + own + mail_bytes()); }

  void forward(const Slot& slot) {
    const Range stage = pipeline_.layers_of(rank_, slot.chunk);
    receive(slot);
    std::int64_t own = layer(stage.begin).input;
    for (Count l = stage.begin; l < stage.end; ++l) {
      note(slot, l, own + layer(l).forward_saving);
      own += layer(l).saved + layer(l).output;
    }
    end(own);
    const std::int64_t output = layer(stage.end - 1).output;
    send(slot, output);
    in_flight_ += sends(slot) ? own - output : own;
    ++number_;
  }

  void backward(const Slot& slot) {
    const Range stage = pipeline_.layers_of(rank_, slot.chunk);
    receive(slot);
    std::int64_t own = layer(stage.end - 1).output;  // its gradient
    for (Count l = stage.begin; l < stage.end; ++l) own += layer(l).input + layer(l).saved;
    in_flight_ -= receives(slot) ? own - layer(stage.end - 1).output : own;
    --number_;
    if (!receives(slot) && pipeline_.loss > 0) note(slot, stage.end - 1, own + pipeline_.loss);
    for (Count l = stage.end - 1; l >= stage.begin; --l) {
      note(slot, l, own - layer(l).saved - layer(l).output + layer(l).backward);
      own += layer(l).input_gradient - layer(l).saved - layer(l).output;
      if (l > stage.begin) own -= layer(l).input;
    }
    end(own);
    send(slot, layer(stage.begin).input_gradient);
  }

  Pipeline pipeline_;
  int rank_;
  Mail mail_;
  std::int64_t weights_ = 0;
  std::int64_t batch_ = 4;      // with the loss
  std::int64_t in_flight_ = 0;  // of what has gone forward and not yet backward
  int number_ = 0;              // so many
  std::int64_t sent_[2] = {0, 0};
  std::vector<std::int64_t> round_;  // by micro-batch
  std::deque<std::int64_t> coming_[2];
  PipelineMemory result_;
};

}  // namespace

Range Pipeline::layers_of(int rank, int chunk) const {
  return part_of(static_cast<Count>(layers.size()), p * v, stage(rank, chunk));
}

Count Pipeline::num_layers_of(int rank) const {
  Count sum = 0;
  for (int chunk = 0; chunk < v; ++chunk) sum += layers_of(rank, chunk).size();
  return sum;
}

Count Pipeline::longest_stage() const {
  return layers_of(0, 0).size();  // the first ones are the longest
}

Pipeline pipeline_of(const cases::Case& kase) {
  const int chunks = kase.numbers.contains("chunks") ? static_cast<int>(kase.integer("chunks")) : 1;
  return {kase.ranks, kase.micro_batches, chunks, layer_bytes(kase)};
}

Order order_of(const Pipeline& pipeline, int warm_up) {
  const Order forwards = forwards_of(pipeline);
  const std::size_t all = forwards.size(), ahead = std::min(static_cast<std::size_t>(warm_up), all);
  Order order;
  for (std::size_t k = 0; k < all + ahead; ++k) {
    if (k < all) order.push_back(forwards[k]);
    if (k < ahead) continue;
    const Slot& done = forwards[k - ahead];
    order.push_back({false, done.micro, pipeline.v - 1 - done.chunk});
  }
  return order;
}

int gpipe_warm_up(const Pipeline& pipeline) {
  return pipeline.m * pipeline.v;
}

int one_f_one_b_warm_up(const Pipeline& pipeline, int rank) {
  const int after = pipeline.p - rank - 1;
  return pipeline.v == 1 ? after : 2 * after + (pipeline.v - 1) * pipeline.p;
}

int eager_warm_up(const Pipeline& pipeline, int rank) {
  return 2 * (pipeline.p - rank - 1);
}

int leading_forwards(const Order& order) {
  const auto first = std::find_if(order.begin(), order.end(), [](const Slot& slot) { return !slot.forward; });
  return static_cast<int>(first - order.begin());
}

int most_in_flight(const Order& order) {
  int number = 0, most = 0;
  for (const Slot& slot : order) {
    number += slot.forward ? 1 : -1;
    most = std::max(most, number);
  }
  return most;
}

Formula<Count> one_f_one_b_in_flight(const Pipeline& pipeline, int rank) {
  const Formula<Count> p = named("p", pipeline.p), r = named("r", rank), m = named("m", pipeline.m);
  if (pipeline.v == 1) return min(p - r, m);
  const Formula<Count> v = named("v", pipeline.v);
  return min(2 * (p - r - 1) + (v - 1) * p + 1, m * v);
}

bool runs_empty(const Order& order) {
  int in_flight = 0;
  for (std::size_t k = 0; k + 1 < order.size(); ++k) {
    in_flight += order[k].forward ? 1 : -1;
    if (in_flight == 0) return true;
  }
  return false;
}

Formula<Nanos> step_time(const cases::Case& kase, const Pipeline& pipeline) {
  const Count longest = pipeline.longest_stage(), layers = static_cast<Count>(pipeline.layers.size());
  const Nanos forward = kase.cluster.table.forward, backward = kase.cluster.table.backward;
  const Formula<Count> m = named("m", pipeline.m), p = named("p", pipeline.p), v = named("v", pipeline.v);
  if (layers != longest * pipeline.p * pipeline.v) {
    return named("all stages once", layers * (forward + backward)) +
           (m - 1) * named("the longest", longest * (forward + backward));
  }
  const bool has_chunks = pipeline.v > 1;
  const Formula<Nanos> turn = named("F", longest * forward) + named("B", longest * backward);
  const Formula<Nanos> computing = ((has_chunks ? m * v : m) + p - 1) * turn;
  const Nanos latency = kase.cluster.links[0].latency;
  if (latency == Nanos(0)) return computing;
  return computing + 2 * ((has_chunks ? p * v : p) - 1) * named("alpha", latency);
}

Nanos end_along(const Pipeline& pipeline, const std::vector<Order>& orders, const std::vector<StageTime>& times,
                Nanos latency) {
  const int stages = pipeline.p * pipeline.v;
  std::vector<std::vector<std::optional<Nanos>>> done[2];  // by direction, stage and micro-batch
  for (auto& way : done) {
    way.assign(static_cast<std::size_t>(stages),
               std::vector<std::optional<Nanos>>(static_cast<std::size_t>(pipeline.m)));
  }
  std::vector<Nanos> now(orders.size());
  std::vector<std::size_t> next(orders.size());
  for (bool moves = true; moves;) {
    moves = false;
    for (std::size_t rank = 0; rank < orders.size(); ++rank) {
      for (; next[rank] < orders[rank].size(); ++next[rank], moves = true) {
        const auto [forward, micro, chunk] = orders[rank][next[rank]];
        const int stage = pipeline.stage(static_cast<int>(rank), chunk), before = forward ? stage - 1 : stage + 1;
        const auto own = static_cast<std::size_t>(stage), i = static_cast<std::size_t>(micro);
        if (before >= 0 && before < stages) {
          const std::optional<Nanos> sent = done[forward][static_cast<std::size_t>(before)][i];
          if (!sent) break;
          now[rank] = std::max(now[rank], *sent + latency);
        }
        now[rank] += forward ? times[own].forward : times[own].backward;
        done[forward][own][i] = now[rank];
      }
    }
  }
  for (std::size_t rank = 0; rank < orders.size(); ++rank) {
    if (next[rank] < orders[rank].size()) return Nanos(0);
  }
  return *std::max_element(now.begin(), now.end());
}

Formula<Bytes> message_bytes(const Pipeline& pipeline, int rank) {
  std::int64_t bytes = 0;
  for (int chunk = 0; chunk < pipeline.v; ++chunk) {
    const Range stage = pipeline.layers_of(rank, chunk);
    const auto layer = [&](Count l) { return pipeline.layers[static_cast<std::size_t>(l)]; };
    if (!pipeline.is_last(rank, chunk)) bytes += layer(stage.end - 1).output;
    if (!pipeline.is_first(rank, chunk)) bytes += layer(stage.begin).input_gradient;
  }
  return named("m", pipeline.m) * named("what its stages pass on", Bytes(bytes));
}

PipelineMemory memory_along(const cases::Case& kase, int rank, const Order& order, Mail mail) {
  return memory_along(kase, pipeline_of(kase), rank, order, mail);
}

PipelineMemory memory_along(const cases::Case& kase, const Pipeline& pipeline, int rank, const Order& order,
                            Mail mail) {
  return MemoryWalk(kase, pipeline, rank, mail).along(order);
}

}  // namespace shardlings::grading::formulas
