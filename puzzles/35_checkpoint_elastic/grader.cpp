// Judges training that ranks are lost from: its numbers, what the store holds afterwards, work that was done twice,
// bytes between ranks and to the store, what writes hide behind gradients, memory, and how often the run would save.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <cmath>
#include <set>
#include <string>

#include "elastic_cost.h"
#include "elastic_run.h"
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

ElasticCase elastic_case_of(const Case& kase) {
  ElasticCase of{kase, kase.integer("step_batch"), static_cast<int>(kase.integer("replicas"))};
  if (is_exact(kase)) of.exact_row = [&kase](Count number, Count size) { return exact_row(kase, number, size); };
  return of;
}

/// As one device trains, for so many updates.
template <class Real>
ElasticState<Real> trained(const Case& kase, Count updates, std::uint64_t shake = 0) {
  Phase all;
  all.last = updates;
  all.ranks = {0};
  const std::vector<Phase> phases = {all};
  const ElasticCase of = elastic_case_of(kase);
  return ElasticTraining<Real>(of, phases, shake).run();
}

Layers tolerances(const Case& kase, Count updates, const Layers& exact, LayersOf<float> ElasticState<float>::*which) {
  std::vector<LayersOf<float>> runs;
  for (std::uint64_t shake = 0; shake < kRuns; ++shake) runs.push_back(trained<float>(kase, updates, shake).*which);
  return tolerances_of(exact, runs);
}

bool is_adam(const Case& kase) {
  return kase.model.optimizer == model::ModelSpec::Optimizer::adam;
}

/// Outputs prefix + name + ".l" are those of one device; in exact cases bit for bit.
bool layers_hold(CheckContext& check, const std::string& name, Count updates, const Layers& right,
                 LayersOf<float> ElasticState<float>::*which) {
  const bool exact = is_exact(check.kase());
  const Layers tolerance = exact ? Layers() : tolerances(check.kase(), updates, right, which);
  for (std::size_t l = 0; l < right.size(); ++l) {
    const std::string full = name + "." + std::to_string(l);
    if (exact ? !check.identical(full, {right[l].begin(), right[l].end()})
              : !check.equal(full, right[l], tolerance[l])) {
      return false;
    }
  }
  return true;
}

bool state_holds(CheckContext& check, const std::string& prefix, Count updates) {
  const ElasticState<double> right = trained<double>(check.kase(), updates);
  if (!layers_hold(check, prefix + "model", updates, right.weights, &ElasticState<float>::weights)) return false;
  if (!is_adam(check.kase())) return true;
  return layers_hold(check, prefix + "m", updates, right.m, &ElasticState<float>::m) &&
         layers_hold(check, prefix + "v", updates, right.v, &ElasticState<float>::v);
}

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
  const Layers right = trained<double>(kase, kase.steps).weights, first = trained<double>(kase, 0).weights;
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

/// Bytes of tensors that a rank has read.
Bytes tensors_read(const CheckContext& check, int rank) {
  Bytes bytes;
  constexpr Bytes kNumber(8);
  for (const Event& event : check.events(rank, EventKind::copy)) {
    if (check.trace(rank).names.at(event.name) == "store.read" && event.bytes > kNumber) bytes += event.bytes;
  }
  return bytes;
}

/// In the whole run some ranks had the state at any time; and yet this one has read a checkpoint.
bool reads_needlessly(const CheckContext& check, const ElasticRun& run, int rank) {
  const bool needed = std::any_of(run.phases().begin(), run.phases().end(), [&](const Phase& phase) {
    return phase.loaded && std::find(phase.ranks.begin(), phase.ranks.end(), rank) != phase.ranks.end();
  });
  return !needed && tensors_read(check, rank) > Bytes(0);
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

double first_of(const CheckContext& check, const std::string& name) {
  const Output* output = check.output(name);
  return output == nullptr || output->values.empty() ? std::nan("") : static_cast<double>(output->values.front());
}

/// What groups of several sizes have loaded is the state after so many updates; where the run has ended with that
/// state, bit for bit.
bool loaded_holds(CheckContext& check, const std::string& prefix, Count updates) {
  if (!check.equal_scalar(prefix + "loaded", static_cast<double>(updates), 0)) {
    if (first_of(check, prefix + "loaded") == 0) {
      check.diagnose("nothing_saved");
    } else if (first_of(check, prefix + "loaded") < static_cast<double>(updates)) {
      check.diagnose("last_save_missing");
    }
    return false;
  }
  if (updates == 0) return true;
  const bool last = updates == check.kase().steps;
  for (const char* name : {"model.", "m.", "v."}) {
    if (std::string(name) != "model." && !is_adam(check.kase())) continue;
    for (Count l = 0; l < number_of_layers(check.kase()) && last; ++l) {
      const std::string number = name + std::to_string(l);
      const Output* found = check.output(number);
      if (found == nullptr || check.identical(prefix + number, found->values)) continue;
      if (std::string(name) != "model.") check.diagnose("moments_lost");
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
  for (const Phase& phase : run.phases()) {
    for (const int rank : phase.healed) {
      std::set<std::int32_t> peers;
      for (const Event& event : check.events(rank, EventKind::recv)) peers.insert(event.peer);
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

void diagnose_written(CheckContext& check, const ElasticRun& run, const ElasticCost& cost, int rank) {
  const Phase& first = run.phases().front();
  const Bytes others = written(check, first.ranks.back()).bytes;
  const Bytes whole(cost.saves(first) * cost.state_bytes());
  if (first.size() > 1 && others == Bytes(0) && rank == first.ranks.front())
    return check.diagnose("one_rank_saves_all");
  if (first.size() > 1 && others >= whole && whole > Bytes(0)) return check.diagnose("every_rank_saves_all");
  if (first.size() > 0) check.diagnose("saved_too_often");
}

/// Something computes while a write is under way.
bool hides_writes(const CheckContext& check, int rank) {
  std::vector<Event> computing = check.events(rank, EventKind::forward);
  const std::vector<Event> backwards = check.events(rank, EventKind::backward);
  computing.insert(computing.end(), backwards.begin(), backwards.end());
  std::vector<Event> writes;
  for (const Event& event : check.events(rank, EventKind::copy)) {
    if (check.trace(rank).names.at(event.name) == "store.write") writes.push_back(event);
  }
  return overlaps(writes, computing);
}

bool nobody_dies(const Case& kase) {
  return kase.deaths.empty();
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const ElasticRun run(check);
  if (!updates_hold(check, run)) return;
  if (state_holds(check, "", check.kase().steps)) return;
  if (!diagnose_healed(check, run)) diagnose_numbers(check, run);
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
      return diagnose_written(check, run, cost, rank);
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
    if (!finishes_within(check, cost.end(n)) && !hides_writes(check, 0)) check.diagnose("waits_for_writes");
    return;
  }
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (check.at_most(check.name_of(rank) + " stands still for the store", check.counters(rank).waited_for_store,
                      cost.standing_still(run.phases(), rank))) {
      continue;
    }
    if (!hides_writes(check, rank)) check.diagnose("waits_for_writes");
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
    const std::vector<double> times = times_between(of, check.kase().seed);
    constexpr double kHundred = 100;
    const double least = kHundred * least_lost_share(of, times), lost = kHundred * lost_share(of, times, steps);
    if (check.within(fmt::format("{}, saved after {:.0f} steps: time that is lost", what, steps), lost, least, kPercent,
                     "%", "the least of a run with 20,000 deaths")) {
      continue;
    }
    const auto is = [&](double seconds) { return std::abs(steps - seconds / of.step) <= 1; };
    if (is(std::sqrt(of.save * of.mean))) return check.diagnose("factor_two");
    if (std::abs(steps - std::sqrt(2 * of.save * of.mean)) <= 1) return check.diagnose("seconds_for_steps");
    return;
  }
}
