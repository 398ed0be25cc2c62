// Judges training that ranks are lost from: its numbers, what the store holds afterwards, work that was done twice,
// bytes between ranks and to the store, what writes hide behind gradients, memory, and how often the run would save.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <cmath>
#include <set>
#include <string>

#include "elastic_causes.h"
#include "elastic_cost.h"
#include "elastic_run.h"
#include "elastic_state.h"
#include "grading/formulas/beyond_plan.h"
#include "grading/formulas/elastic_training.h"
#include "grading/formulas/sharding_checks.h"
#include "grading/judge/predictions.h"
#include "interval.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::Event;
using front::EventKind;

namespace {

// ---- Numbers ----

/// All that were healed.
std::set<int> healed_ranks(const ElasticRun& run) {
  std::set<int> healed;
  for (const Phase& phase : run.phases()) healed.insert(phase.healed.begin(), phase.healed.end());
  return healed;
}

/// Ranks that end with other weights than the first one that has trained from the beginning; none if there is no such
/// rank. (A wrong state on one rank soon makes wrong gradients for all: so nothing can be said of what is right.)
std::set<int> other_ranks(const CheckContext& check, const ElasticRun& run, const std::set<int>& healed) {
  std::set<int> others;
  Layers first;
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (!run.ends(rank)) continue;
    const Layers found = found_layers(check.result(), "own." + std::to_string(rank));
    if (first.empty() && healed.count(rank) == 0) first = found;
    if (!first.empty() && found != first) others.insert(rank);
  }
  return others;
}

struct Known {
  const char* id;
  ElasticMistake mistake;
};

bool diagnose_numbers(CheckContext& check, const ElasticRun& run) {
  static constexpr Known kMistakes[] = {
      {"not_divided", ElasticMistake::not_divided},      {"divided_twice", ElasticMistake::divided_twice},
      {"old_world_size", ElasticMistake::old_divisor},   {"mean_of_means", ElasticMistake::mean_of_means},
      {"batch_shrunk", ElasticMistake::dead_unread},     {"batch_shrunk", ElasticMistake::world_shares},
      {"batch_shrunk", ElasticMistake::replicas_shares}, {"gradients_kept", ElasticMistake::kept_gradients},
      {"half_a_step_kept", ElasticMistake::leftover},    {"step_skipped", ElasticMistake::skipped},
      {"moments_lost", ElasticMistake::moments_lost},    {"updates_lost", ElasticMistake::updates_lost},
      {"weights_lost", ElasticMistake::weights_lost},    {"data_again", ElasticMistake::data_again}};
  const Case& kase = check.kase();
  const Layers &right = trained(kase, kase.steps).weights, &first = trained(kase, 0).weights;
  const Layers found = found_layers(check.result(), "model");
  const ElasticCase of = elastic_case_of(kase);
  const auto is = [&](ElasticMistake mistake, int layer) {
    const Layers mistaken = ElasticTraining<double>(of, run.phases(), 0, mistake, layer).run().weights;
    return !alike(mistaken, right) && alike(combine(found, -1, first), combine(mistaken, -1, first));
  };
  for (const Known& known : kMistakes) {
    if (!is(known.mistake, 0)) continue;
    check.diagnose(known.id);
    return true;
  }
  for (int layer = 0; layer <= static_cast<int>(right.size()); ++layer) {
    if (!is(ElasticMistake::twice_below, layer) && !is(ElasticMistake::twice_above, layer)) continue;
    check.diagnose("applied_twice");
    return true;
  }
  return false;
}

/// Some ranks that took another one's place, and no others, have other weights than those that were there.
bool diagnose_healed(CheckContext& check, const ElasticRun& run) {
  const std::set<int> healed = healed_ranks(run), others = other_ranks(check, run, healed);
  const bool are = std::all_of(others.begin(), others.end(), [&](int rank) { return healed.count(rank) != 0; });
  if (others.empty() || !are) return false;
  const bool idle = std::all_of(others.begin(), others.end(),
                                [&](int rank) { return check.events(rank, EventKind::update).empty(); });
  check.diagnose(idle ? "spare_unused" : "place_taken_without_state");
  return true;
}

/// Bytes of tensors that a rank has moved by calls of this name: "store.read" or "store.write".
Bytes tensors_moved(const CheckContext& check, int rank, const char* name) {
  Bytes bytes;
  constexpr Bytes kNumber(8);
  for (const Event& event : check.events(rank, EventKind::copy)) {
    if (check.trace(rank).names.at(event.name) == name && event.bytes > kNumber) bytes += event.bytes;
  }
  return bytes;
}

/// In the whole run some ranks had the state at any time; and yet this one has read a checkpoint.
bool reads_needlessly(const CheckContext& check, const ElasticRun& run, int rank) {
  const bool needed = std::any_of(run.phases().begin(), run.phases().end(), [&](const Phase& phase) {
    return phase.loaded && std::find(phase.ranks.begin(), phase.ranks.end(), rank) != phase.ranks.end();
  });
  return !needed && tensors_moved(check, rank, "store.read") > Bytes(0);
}

/// No rank makes more updates than the run has: who goes back has had the state.
bool updates_hold(CheckContext& check, const ElasticRun& run) {
  const Count layers = number_of_layers(check.kase());
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const auto calls = static_cast<Count>(check.events(rank, EventKind::update).size());
    if (check.at_most("updates made by " + check.name_of(rank), calls / layers, named("T", Count(check.kase().steps)),
                      "updates", check.place_of_last(rank, EventKind::update))) {
      continue;
    }
    if (const std::string cause = ElasticCauses(check, run).arrival(); !cause.empty()) check.diagnose(cause);
    if (reads_needlessly(check, run, rank)) check.diagnose("state_thrown_away");
    return false;
  }
  return true;
}

// ---- What the store has ----

int living(const CheckContext& check) {
  int ranks = 0;
  for (int rank = 0; rank < check.ranks(); ++rank) ranks += check.counters(rank).died ? 0 : 1;
  return ranks;
}

/// load() has returned another number than that of the newest checkpoint that was due.
void diagnose_loaded(CheckContext& check, const std::string& prefix, Count updates) {
  if (ElasticCauses(check, ElasticRun(check)).save_was_given_up()) return check.diagnose("save_given_up");
  const double returned = first_of(check, prefix + "loaded");
  if (returned == 0 && is_untouched(check, prefix + "model.0")) return check.diagnose("nothing_saved");
  if (returned > 0 && returned < static_cast<double>(updates) &&
      are_weights_after(check, prefix, static_cast<Count>(returned))) {
    check.diagnose("last_save_missing");
  }
}

/// Where there was nothing to load, nothing has changed.
bool nothing_loaded(CheckContext& check, const std::string& prefix) {
  for (const char* name : {"model.", "m.", "v."}) {
    for (Count l = 0; l < number_of_layers(check.kase()); ++l) {
      const Output* found = check.output(prefix + name + std::to_string(l));
      if (found == nullptr) continue;  // moments of plain SGD
      const bool holds = std::all_of(found->values.begin(), found->values.end(), [](float x) { return std::isnan(x); });
      if (!holds) return check.fail("a state that load() has not changed, as there is no checkpoint", "another one");
    }
  }
  return check.equal(prefix + "updates", std::vector<double>(static_cast<std::size_t>(number_of_layers(check.kase()))),
                     0);
}

/// What groups of several sizes have loaded is the state after so many updates; where the run has ended with that
/// state, bit for bit.
bool loaded_holds(CheckContext& check, const std::string& prefix, Count updates) {
  if (!check.equal_scalar(prefix + "loaded", static_cast<double>(updates), 0)) {
    diagnose_loaded(check, prefix, updates);
    return false;
  }
  if (updates == 0) return nothing_loaded(check, prefix);
  const bool last = updates == check.kase().steps;
  for (const char* name : {"model.", "m.", "v."}) {
    if (std::string(name) != "model." && !is_adam(check.kase())) continue;
    for (Count l = 0; l < number_of_layers(check.kase()) && last; ++l) {
      const std::string number = name + std::to_string(l);
      const Output* found = check.output(number);
      if (found == nullptr || check.identical(prefix + number, found->values)) continue;
      if (std::string(name) != "model." && is_untouched(check, prefix + number)) check.diagnose("moments_lost");
      return false;
    }
  }
  if (!last && !state_holds(check, prefix, updates)) return false;
  const std::vector<double> right(static_cast<std::size_t>(number_of_layers(check.kase())),
                                  static_cast<double>(updates));
  if (check.equal(prefix + "updates", right, 0)) return true;
  check.diagnose("updates_lost");
  return false;
}

// ---- Bytes, times, memory ----

bool one_peer_each(CheckContext& check, const ElasticRun& run) {
  for (std::size_t p = 0; p < run.phases().size(); ++p) {
    for (const int rank : run.phases()[p].healed) {
      std::set<std::int32_t> peers;
      for (const Event& event : check.events(rank, EventKind::recv)) {
        if (run.window(p).has(event.begin)) peers.insert(event.peer);
      }
      if (check.at_most("ranks that " + check.name_of(rank) + " has messages from", static_cast<Count>(peers.size()),
                        named("one", Count(1)), "ranks", check.place_of_first(rank, EventKind::recv))) {
        continue;
      }
      check.diagnose("several_peers");
      return false;
    }
  }
  return true;
}

Bytes all_sent(const CheckContext& check) {
  Bytes all;
  for (int rank = 0; rank < check.ranks(); ++rank) all += check.counters(rank).bytes_sent();
  return all;
}

const front::Copies& written(const CheckContext& check, int rank) {
  return check.counters(rank).store[static_cast<std::size_t>(front::StoreAccess::write)];
}
const front::Copies& read(const CheckContext& check, int rank) {
  return check.counters(rank).store[static_cast<std::size_t>(front::StoreAccess::read)];
}

/// Of those that have trained from the beginning, and live.
void diagnose_written(CheckContext& check, const ElasticRun& run, const ElasticCost& cost) {
  int ranks = 0, write_all = 0, write_nothing = 0;
  for (const int rank : run.phases().front().ranks) {
    const Bytes whole = cost.whole(run.phases(), rank), tensors = tensors_moved(check, rank, "store.write");
    if (check.counters(rank).died || whole == Bytes(0)) continue;
    ++ranks;
    write_all += tensors >= whole ? 1 : 0;
    write_nothing += tensors == Bytes(0) ? 1 : 0;
  }
  if (ranks > 1 && write_all == 1 && write_nothing == ranks - 1) return check.diagnose("one_rank_saves_all");
  if (ranks > 1 && write_all == ranks) return check.diagnose("every_rank_saves_all");
  check.diagnose("saved_too_often");
}

/// Gradients are computed behind a write, and none while one is under way. Those of exact cases are no calls of the
/// model, so nothing can be said of them.
bool waits_for_writes(const CheckContext& check, int rank) {
  std::vector<Event> computing = check.events(rank, EventKind::forward);
  const std::vector<Event> backwards = check.events(rank, EventKind::backward);
  computing.insert(computing.end(), backwards.begin(), backwards.end());
  std::vector<Event> writes;
  for (const Event& event : check.events(rank, EventKind::copy)) {
    if (check.trace(rank).names.at(event.name) == "store.write") writes.push_back(event);
  }
  const bool behind = !writes.empty() && std::any_of(computing.begin(), computing.end(), [&](const Event& event) {
    return event.begin >= writes.front().begin;
  });
  return behind && !overlaps(writes, computing);
}

bool nobody_dies(const Case& kase) {
  return kase.deaths.empty();
}

}  // namespace

SHARDLINGS_AHEAD() {
  one_device(kase);
}

SHARDLINGS_CHECK(output) {
  const ElasticRun run(check);
  if (!updates_hold(check, run)) return;
  if (state_holds(check, "", check.kase().steps)) return;
  const ElasticCauses causes(check, run);
  if (const std::string cause = causes.arrival(); !cause.empty()) return check.diagnose(cause);
  if (!diagnose_healed(check, run) && !diagnose_numbers(check, run) && causes.is_cut_short())
    check.diagnose("cut_short");
}

SHARDLINGS_CHECK(checkpoint) {
  const Count every = check.kase().integer("every"), last = check.kase().steps / every * every;
  for (const int ranks : loading_ranks(living(check))) {
    if (!loaded_holds(check, "by " + std::to_string(ranks) + ".", last)) return;
  }
}

SHARDLINGS_CHECK(work) {
  const ElasticRun run(check);
  const ElasticCost cost(check.kase());
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (check.counters(rank).died) continue;
    const auto asked = static_cast<Count>(std::llround(first_of(check, "asked." + std::to_string(rank))));
    if (check.at_most("gradients of micro-batches computed by " + check.name_of(rank), asked,
                      cost.gradients(run.phases(), rank), "gradients")) {
      continue;
    }
    if (ElasticCauses(check, run).save_was_given_up()) return check.diagnose("save_given_up");
    if (reads_needlessly(check, run, rank)) return check.diagnose("state_thrown_away");
    return check.diagnose("gradients_computed_again");
  }
}

SHARDLINGS_CHECK(communication) {
  const ElasticRun run(check);
  const ElasticCost cost(check.kase());
  if (!check.at_most("sent by all ranks together", all_sent(check), cost.sent(run.phases()))) {
    return check.diagnose("sent_more");
  }
  one_peer_each(check, run);
}

SHARDLINGS_CHECK(store) {
  const ElasticRun run(check);
  const ElasticCost cost(check.kase());
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (!check.at_most("written to the store by " + check.name_of(rank), written(check, rank).bytes,
                       cost.written(run.phases(), rank))) {
      return diagnose_written(check, run, cost);
    }
    if (check.at_most("read from the store by " + check.name_of(rank), read(check, rank).bytes,
                      cost.read(run.phases(), rank))) {
      continue;
    }
    if (reads_needlessly(check, run, rank)) return check.diagnose("read_where_peers_have_it");
    return check.diagnose("read_more_than_a_part");
  }
}

SHARDLINGS_CHECK(time) {
  const ElasticCost cost(check.kase());
  const ElasticRun run(check);
  if (nobody_dies(check.kase()) && !is_exact(check.kase())) {
    const int n = static_cast<int>(check.kase().integer("replicas"));
    if (!finishes_within(check, cost.end(n) + cost.granted()) && waits_for_writes(check, 0)) {
      check.diagnose("waits_for_writes");
    }
    return;
  }
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (check.at_most(check.name_of(rank) + " stands still for the store", check.counters(rank).waited_for_store,
                      cost.standing_still(run.phases(), rank))) {
      continue;
    }
    if (waits_for_writes(check, rank)) check.diagnose("waits_for_writes");
    return;
  }
}

SHARDLINGS_CHECK(memory) {
  const ElasticCost cost(check.kase());
  if (!check.peaks_at_most(cost.peak())) return check.diagnose("state_copied");
  nothing_on_host(check);
}

SHARDLINGS_CHECK(interval) {
  const std::vector<IntervalQuestion> questions = interval_questions(check.kase());
  const Output* answers = check.output("intervals");
  constexpr double kPercent = 3;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const IntervalQuestion& of = questions[i];
    const double steps = answers == nullptr || answers->values.size() <= i ? std::nan("") : answers->values[i];
    const std::string what =
        fmt::format("a save of {:.1f} s, steps of {:.2f} s, a death in {:.0f} s", of.save, of.step, of.mean);
    if (!(steps >= 1)) {
      check.fail(what + ": at least 1 step between two saves", fmt::format("{:.0f}", steps));
      return check.diagnose("no_interval");
    }
    constexpr double kHundred = 100;
    const double least = kHundred * least_lost_share(of), lost = kHundred * lost_share(of, steps);
    if (check.within(fmt::format("{}, saved after {:.0f} steps: time that is lost", what, steps), lost, least, kPercent,
                     "%", "the least, on average")) {
      continue;
    }
    const auto is = [&](double seconds) { return std::abs(steps - seconds / of.step) <= 1; };
    if (is(std::sqrt(of.save * of.mean))) return check.diagnose("factor_two");
    if (std::abs(steps - std::sqrt(2 * of.save * of.mean)) <= 1) return check.diagnose("seconds_for_steps");
    return;
  }
}
