// What a random program means: on one rank of a world, and for all ranks at once on the host.
#include <chrono>
#include <map>
#include <random>
#include <thread>

#include "base/parts.h"
#include "contract/collective_case.h"
#include "contract/random_program.h"
#include "support/host.h"

namespace shardlings::contract {
namespace {

using StepKind = RandomStep::Kind;
using Values = std::vector<float>;

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

/// One rank of a run.
class Runner {
 public:
  Runner(Rank& rank, const RandomProgram& program, std::uint64_t delays)
      : rank_(rank),
        program_(program),
        delays_(delays),
        random_(delays * 1000 + static_cast<std::uint64_t>(rank.id())) {
    for (int i = 0; i < kRegisters; ++i) registers_.push_back(support::load(rank, first_values(program, rank.id(), i)));
    groups_.push_back(rank.world());
    for (std::size_t g = 1; g < program.groups.size(); ++g) {
      const int place = place_in(g);
      groups_.push_back(rank.world().split(place < 0 ? kNobody : 0, place));
    }
  }

  /// If it is told that a rank has died, its registers are published as they are then.
  void run() {
    try {
      make_steps();
    } catch (const PeerFailed&) {
      publish_registers();
      throw;
    }
    publish_registers();
  }

 private:
  void make_steps() {
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
      const RandomStep& step = program_.steps[i];
      if (step.kind == StepKind::collective) {
        const int me = place_in(at(step.group));
        if (me >= 0) pause(), collective(static_cast<int>(i), step, me);
      } else if (step.kind == StepKind::message) {
        const int me = place_in(at(step.group));
        if (me == step.from || me == step.to) pause(), message(static_cast<int>(i), step, me == step.from);
      } else if (step.rank == rank_.id()) {
        pause(), alone(step);
      }
    }
  }

  void publish_registers() {
    for (int i = 0; i < kRegisters; ++i) support::publish(rank_, std::to_string(i), registers_[at(i)]);
  }

  int place_in(std::size_t group) const {
    const std::vector<int>& members = program_.groups[group];
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (members[i] == rank_.id()) return static_cast<int>(i);
    }
    return -1;
  }

  void pause() {
    if (delays_ == 0) return;
    const std::uint64_t dice = random_() % 16;
    if (dice == 0) std::this_thread::sleep_for(std::chrono::microseconds(random_() % 60));
    if (dice < 4) std::this_thread::yield();
  }

  View part(int index, Range range) { return registers_[at(index)].part(range); }
  View head(int index, Count count) { return part(index, {0, count}); }

  void alone(const RandomStep& step) {
    if (step.kind == StepKind::wait) {
      works_[step.step].wait();
    } else if (step.kind == StepKind::scale) {
      scale(head(step.out[0], step.count), 0.5F);
    } else if (step.kind == StepKind::add) {
      add(head(step.out[0], step.count), head(step.in[0], step.count));
    } else {
      copy(head(step.out[0], step.count), head(step.in[0], step.count));
    }
  }

  void message(int number, const RandomStep& step, bool sends) {
    Group& group = groups_[at(step.group)];
    if (sends) {
      const View data = head(step.in[0], step.count);
      if (!step.async[0]) return group.send(data, step.to);
      works_[number] = group.send_async(data, step.to);
    } else {
      const View data = head(step.out[0], step.count);
      if (!step.async[1]) return group.recv(data, step.from);
      works_[number] = group.recv_async(data, step.from);
    }
  }

  void collective(int number, const RandomStep& step, int me) {
    if (step.collective == Collective::barrier) return groups_[at(step.group)].barrier();
    Work work = start(step, me);
    if (step.async[at(me)]) {
      works_[number] = std::move(work);
    } else {
      work.wait();
    }
  }

  Work start(const RandomStep& step, int me) {
    Group& group = groups_[at(step.group)];
    const View whole_in = head(step.in[at(me)], step.count);
    const View whole_out = head(step.out[at(me)], step.count);
    const Range mine = group.mine(step.count);
    const bool root = me == step.root;
    switch (step.collective) {
      case Collective::all_reduce: return group.all_reduce_async(whole_out, step.reduce);
      case Collective::reduce: return group.reduce_async(whole_out, step.reduce, step.root);
      case Collective::broadcast: return group.broadcast_async(whole_out, step.root);
      case Collective::reduce_scatter:
        return group.reduce_scatter_async(whole_in, part(step.out[at(me)], mine), step.reduce);
      case Collective::all_gather: return group.all_gather_async(part(step.in[at(me)], mine), whole_out);
      case Collective::gather:
        return group.gather_async(part(step.in[at(me)], mine), root ? whole_out : View(), step.root);
      case Collective::scatter:
        return group.scatter_async(root ? whole_in : View(), part(step.out[at(me)], mine), step.root);
      default: return group.all_to_all_async(whole_in, whole_out);
    }
  }

  Rank& rank_;
  const RandomProgram& program_;
  std::uint64_t delays_;
  std::mt19937_64 random_;
  std::vector<Tensor> registers_;
  std::vector<Group> groups_;
  std::map<int, Work> works_;
};

/// All ranks at once, in the steps' order.
class Simulation {
 public:
  explicit Simulation(const RandomProgram& program) : program_(program) {
    for (int r = 0; r < program.ranks; ++r) {
      values_.emplace_back();
      for (int i = 0; i < kRegisters; ++i) values_.back().push_back(first_values(program, r, i));
    }
  }

  std::vector<std::vector<Values>> run() {
    for (const RandomStep& step : program_.steps) {
      if (step.kind == StepKind::collective) {
        collective(step);
      } else if (step.kind == StepKind::message) {
        const std::vector<int>& members = program_.groups[at(step.group)];
        put(of(members[at(step.to)], step.out[0]), 0, head(of(members[at(step.from)], step.in[0]), step.count));
      } else if (step.kind != StepKind::wait) {
        alone(step);
      }
    }
    return std::move(values_);
  }

 private:
  Values& of(int rank, int index) { return values_[at(rank)][at(index)]; }
  static Values part(const Values& values, Range range) {
    return {values.begin() + range.begin, values.begin() + range.end};
  }
  static Values head(const Values& values, Count count) { return part(values, {0, count}); }
  static void put(Values& values, Count first, const Values& what) {
    std::copy(what.begin(), what.end(), values.begin() + first);
  }

  void alone(const RandomStep& step) {
    Values& out = of(step.rank, step.out[0]);
    const Values in = of(step.rank, step.in[0]);
    for (std::size_t i = 0; i < static_cast<std::size_t>(step.count); ++i) {
      if (step.kind == StepKind::scale) out[i] *= 0.5F;
      if (step.kind == StepKind::add) out[i] += in[i];
      if (step.kind == StepKind::copy) out[i] = in[i];
    }
  }

  void collective(const RandomStep& step) {
    const std::vector<int>& members = program_.groups[at(step.group)];
    const int size = static_cast<int>(members.size());
    std::vector<Values> ins, outs;
    for (std::size_t m = 0; m < members.size(); ++m) {
      ins.push_back(head(of(members[m], step.in[m]), step.count));
      outs.push_back(head(of(members[m], step.out[m]), step.count));
    }
    for (int m = 0; m < size; ++m) {
      Values& out = of(members[at(m)], step.out[at(m)]);
      const Range mine = part_of(step.count, size, m);
      switch (step.collective) {
        case Collective::all_reduce: put(out, 0, combined(outs, step.reduce, DType::f32)); break;
        case Collective::reduce:
          if (m == step.root) put(out, 0, combined(outs, step.reduce, DType::f32));
          break;
        case Collective::broadcast: put(out, 0, outs[at(step.root)]); break;
        case Collective::reduce_scatter:
          put(out, mine.begin, part(combined(ins, step.reduce, DType::f32), mine));
          break;
        case Collective::scatter: put(out, mine.begin, part(ins[at(step.root)], mine)); break;
        case Collective::gather:
        case Collective::all_gather:
          for (int j = 0; j < size && (m == step.root || step.collective == Collective::all_gather); ++j) {
            const Range theirs = part_of(step.count, size, j);
            put(out, theirs.begin, part(ins[at(j)], theirs));
          }
          break;
        case Collective::all_to_all:
          for (int j = 0; j < size; ++j) put(out, j * mine.size(), part(ins[at(j)], mine));
          break;
        default: break;
      }
    }
  }

  const RandomProgram& program_;
  std::vector<std::vector<Values>> values_;
};

}  // namespace

std::vector<std::vector<Values>> simulate(const RandomProgram& program) {
  return Simulation(program).run();
}

void run_program(Rank& rank, const RandomProgram& program, std::uint64_t delays) {
  Runner(rank, program, delays).run();
}

}  // namespace shardlings::contract
