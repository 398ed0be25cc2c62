#include "front/rank_front.h"

#include <fmt/format.h>

#include <utility>

#include "base/text.h"
#include "front/group/control.h"
#include "front/handlers.h"
#include "front/model/layer_call.h"

namespace shardlings::front {

using detail::Call;
using detail::Reply;

RankFront::RankFront(const RankOptions& options, int rank, std::unique_ptr<back::Device> device, Control& control,
                     ItemStore& store, Recipes* recipes)
    : doors_(*this),
      rank_(options, rank, std::move(device), [&control] { return control.aborted(); }),
      meter_(rank_),
      memory_(rank_),
      pending_(rank_, memory_),
      groups_(rank_, memory_, pending_, control),
      host_(rank_, memory_, pending_),
      store_(rank_, memory_, host_, store,
             [&control, rank](Nanos time, Location at) { control.wait_to_look(rank, time, at); }),
      ops_{rank_, meter_, memory_, pending_, host_},
      models_{rank_, meter_, memory_, groups_, doors_.learner(), nullptr, {}, {}} {
  // A software stack has recipes alone, so that its ranks use them even where they leave a trace.
  if (rank_.device().computes() || (rank_.trace().enabled() && options.execution.stack == nullptr)) return;
  if (!options.deaths.empty()) return;  // a call of the model that breaks off leaves no recipe
  models_.recipes = recipes;
  memory_.list_with([this] { models_.saved.for_each([this](SavedEntry& entry) { make_tensors(models_, entry); }); });
}

RankFront::~RankFront() {
  models_.saved = {};  // its tensors drop themselves, which must not happen after their memory is gone
}

// Of the calls after another rank's failure; a program that ends makes one or a few.
constexpr int kRefusedNoted = 1000;

Reply RankFront::handle(const Call& call) {
  const detail::VerbSpec& spec = detail::spec_of(call.verb);
  if (spec.released) return handle_released(call);
  if (rank_.doom().is_near()) [[unlikely]]
    return handle_mortally(call);
  return handle_living(call);
}

// A call that others are made of is one: a rank dies before it, or when it has come to its end.
Reply RankFront::handle_mortally(const Call& call) {
  if (rank_.calls().depth() > 0) return handle_living(call);
  if (rank_.doom().strikes(rank_.now(), !detail::spec_of(call.verb).uncounted)) die();
  try {
    const Reply reply = handle_living(call);
    if (rank_.doom().has_come(rank_.now())) die();
    return reply;
  } catch (const PeerFailed&) {
    if (rank_.doom().has_come(rank_.now())) die();
    throw;
  }
}

Reply RankFront::handle_living(const Call& call) {
  const detail::VerbSpec& spec = detail::spec_of(call.verb);
  // What catches every error and calls again makes no progress: whoever watches the count of calls sees that.
  if (rank_.endless()) rank_.check_endless();
  const bool aborted = rank_.aborted();
  if (aborted && ++refused_ > kRefusedNoted) {
    throw Aborted("the run has already failed on another rank", rank_.place(call));
  }
  if (!spec.uncounted) rank_.calls().count();
  rank_.calls().note(rank_.called(call), rank_.place(call), rank_.now());
  if (aborted) throw Aborted("the run has already failed on another rank", rank_.place(call));
  rank_.throw_deferred();
  // The harness's own calls have no line, and are few while it measures: none of them has to be told apart there.
  if (call.at.line == 0 && measuring_) rank_.calls().count_unplaced();
  if (call.at.line != 0 || measuring_) rank_.check_endless();
  try {
    return handler_of(call.verb)(*this, call);
  } catch (const Revoked& revoked) {
    be_told(call, revoked.revocation);
  }
}

void RankFront::die() {
  const Nanos died = *rank_.doom().died();
  if (!std::exchange(is_buried_, true)) {
    store_.bury(died);
    groups_.die(died);
  }
  throw Died{};
}

void RankFront::be_told(const Call& call, const Revocation& revocation) {
  const Location at = rank_.place(call);
  rank_.wait_for_peers(call, revocation.death.known);
  groups_.give_up(revocation, at);
  throw PeerFailed(
      fmt::format(
          "peer failed: rank {} died at {}. In {} at {}, rank {} would wait for ever.\nCatch PeerFailed, and go on "
          "with the group of rank.survivors(): all groups that were made before are revoked.",
          revocation.death.rank, to_text(revocation.death.died), rank_.called(call), to_text(at), rank_.id())
          .c_str(),
      at);
}

// Nobody hears an answer: what went wrong has to wait for the next call.
Reply RankFront::handle_released(const Call& call) {
  if (rank_.doom().died()) return {};  // what a dead rank had stays as it was
  try {
    return handler_of(call.verb)(*this, call);
  } catch (const std::exception&) {
    rank_.defer(std::current_exception());
    return {};
  }
}

void RankFront::check_end() {
  if (rank_.endless()) rank_.check_endless();  // somebody has caught it
  rank_.throw_deferred();
  pending_.check_end();
}

void RankFront::begin_measuring(Location at) {
  rank_.restart();
  meter_.restart();
  models_.saved.reset_peak();
  groups_.restart_clock();
  host_.restart_clock();
  store_.begin();
  rank_.doom().begin();
  memory_.restart(at);
  kept_.reset();
  rank_.calls().begin_run();
  measuring_ = true;
}

void RankFront::end_measuring() {
  measuring_ = false;
  rank_.doom().end();
  RankReport report;
  report.counters = counted();
  rank_.trace().resolve(rank_.device());
  report.trace = rank_.trace().take();
  report.trace.files = rank_.texts().all();
  kept_ = std::move(report);
}

Counters RankFront::counted() {
  Counters counters = rank_.counters();
  memory_.write(counters);
  counters.saved_peak = models_.saved.peak();
  counters.died = rank_.doom().died();
  counters.end = counters.died.value_or(rank_.now());
  return counters;
}

RankReport RankFront::take_report() {
  if (!kept_) end_measuring();
  kept_->published = std::move(published_);
  kept_->shows = std::move(rank_.shows());
  return std::move(*kept_);
}

void RankFront::rest() {
  if (is_buried_) groups_.rest();
}

void RankFront::add_in_flight(RankTrace& trace) {
  rank_.trace().put_back(std::move(trace));
  pending_.trace_in_flight();
  trace = rank_.trace().take();
}

}  // namespace shardlings::front
