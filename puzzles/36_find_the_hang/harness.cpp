// Asks what the learner has found in the record of the case's program; only if that is right, runs the learner's
// program, since what the runtime says of one that hangs is the answer.

#include "submission/harness.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "findings.h"

using namespace shardlings;
using submission::Harness;

template <class Archive>
void parts_of(Archive& a, Finding& finding) {
  a(finding.rank, finding.call, finding.cause);
}

/// As in puzzle.cpp.
struct Job {
  Group world, other;
  std::vector<View> grads;
  std::vector<int> ready;
  int batches = 0;
  int most_batches = 0;
  int bad_step = -1;
  Count elements = 0;
  View shard{}, whole{}, loss{};
};
template <class Archive>
void parts_of(Archive& a, Job& job) {
  a(job.world, job.other, job.grads, job.ready, job.batches, job.most_batches, job.bad_step, job.elements, job.shard,
    job.whole, job.loss);
}

SHARDLINGS_LEARNER_FUNCTION(findings, std::vector<Finding>());
SHARDLINGS_LEARNER_FUNCTION(save, void(Job job));
SHARDLINGS_LEARNER_FUNCTION(epoch, void(Job job));
SHARDLINGS_LEARNER_FUNCTION(buckets, void(Job job));
SHARDLINGS_LEARNER_FUNCTION(ring, void(Job job));
SHARDLINGS_LEARNER_FUNCTION(step_and_log, void(Job job));
SHARDLINGS_LEARNER_FUNCTION(pipeline, void(Job job));
SHARDLINGS_LEARNER_FUNCTION(gather, void(Job job));
SHARDLINGS_LEARNER_FUNCTION(steps, void(Job job));

#ifndef SHARDLINGS_BESIDE_LEARNER

namespace {

static_assert(hang::kAllAlike == kNobody);

void run(Count program, const Job& job) {
  switch (program) {
    case 1: return save(job);
    case 2: return epoch(job);
    case 3: return buckets(job);
    case 4: return ring(job);
    case 5: return step_and_log(job);
    case 6: return pipeline(job);
    case 7: return gather(job);
    default: return steps(job);
  }
}

/// The rank that is another than the rest: has fewer batches, another order, a gradient that is not finite.
bool is_odd_one(const Harness& h, int rank) {
  return rank == h.integer("odd");
}

/// Where the pieces of a rank's data begin, and where the last one ends: piece i of n has `size` elements, and i more
/// where sizes differ.
std::vector<Count> bounds(const Harness& h) {
  std::vector<Count> at = {0};
  const Count grow = h.integer("program") == 3 ? 1 : 0;
  for (Count i = 0; i < h.integer("pieces"); ++i) at.push_back(at.back() + h.integer("size") + grow * i);
  return at;
}

Job job_of(Harness& h, View data, View whole, View loss) {
  // Groups of its own, so that the learner's calls are numbered from 1.
  Group world = h.rank().world().split(0, h.rank().id(), "world");
  const auto pieces = static_cast<int>(h.integer("pieces"));
  const bool odd = is_odd_one(h, world.rank());
  Job job{.world = world, .other = h.rank().world().split(0, h.rank().id(), "other"), .grads = {}, .ready = {}};
  const std::vector<Count> at = bounds(h);
  for (std::size_t i = 0; i + 1 < at.size(); ++i) job.grads.push_back(data.part({at[i], at[i + 1]}));
  for (int i = 0; i < pieces; ++i) job.ready.push_back(i);
  // Short orders are turned round, and long ones begin elsewhere: no fixed turning on a rank mends both.
  if (odd && pieces < 4) std::reverse(job.ready.begin(), job.ready.end());
  if (odd && pieces >= 4) std::rotate(job.ready.begin(), job.ready.begin() + 1, job.ready.end());
  job.most_batches = pieces;
  job.batches = odd ? pieces - 1 : pieces;
  if (h.integer("program") == 2 && odd) fill(job.grads.back(), 0);
  if (h.integer("program") == 8 && odd) {
    job.bad_step = static_cast<int>(h.integer("bad_step"));
    fill(job.grads[static_cast<std::size_t>(job.bad_step)], std::numeric_limits<float>::quiet_NaN());
  }
  job.elements = h.integer("size");
  const bool whole_shard = h.integer("program") == 4;
  job.shard = data.part({0, whole_shard ? job.elements : world.mine(job.elements).size()});
  job.whole = whole;
  job.loss = loss;
  return job;
}

}  // namespace

#endif

SHARDLINGS_HARNESS(h) {
#ifndef SHARDLINGS_BESIDE_LEARNER
  const Count program = h.integer("program");
  const std::vector<Finding> found = findings();
  const auto said = static_cast<float>(found.size());
  std::vector<float> of_program(3, std::numeric_limits<float>::quiet_NaN());
  const auto at = static_cast<std::size_t>(program - 1);
  bool right = false;
  if (at < found.size()) {
    const Finding& finding = found[at];
    right = found.size() <= hang::kFindings.size() && hang::same(finding, hang::kFindings.at(at));
    of_program = {static_cast<float>(finding.rank), static_cast<float>(finding.call),
                  static_cast<float>(static_cast<int>(finding.cause))};
  }
  of_program.push_back(said);
  const Count n = bounds(h).back();  // a simulation has no use for so many numbers
  Tensor data = h.computes() ? h.integers(n, Kind::gradient) : h.rank().empty(n, Kind::gradient);
  Tensor whole = h.rank().zeros(h.integer("size") + h.rank().size(), Kind::other);
  Tensor loss = h.integers(1, Kind::other);
  const Job job = job_of(h, data, whole, loss);
  h.begin();
  if (right) run(program, job);
  h.end();
  h.put_of_rank("finding", h.tensor(of_program, Kind::other));
  h.put_of_rank("data", data);
  h.put_of_rank("whole", whole);
  h.put_of_rank("loss", loss);
#endif
}
