#include "grading/formulas/sharding_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/text.h"
#include "grading/formulas/beyond_plan.h"
#include "grading/formulas/sharding.h"
#include "grading/formulas/standstill.h"

namespace shardlings::grading::formulas {
namespace {

using front::Collective;
using front::Event;
using front::EventKind;

/// "all-reduces".
std::string plural_of(Collective kind) {
  std::string name = back::name_of(kind);
  std::replace(name.begin(), name.end(), '_', '-');
  return name + "s";
}

/// Forward (backward) calls of a layer that a rank's own batch needs.
std::int64_t own_calls(const cases::Case& kase) {
  return kase.steps * kase.micro_batches * number_of_layers(kase);
}

/// Neither a barrier nor the making of a group.
bool moves_something(const judge::CheckContext& check, int rank, const Event& event) {
  const std::string& name = check.trace(rank).names.at(event.name);
  return name != back::name_of(Collective::split) && name != back::name_of(Collective::barrier);
}

std::string sent_by(const judge::CheckContext& check, int rank) {
  return "sent by " + check.name_of(rank);
}

bool or_list_collectives(judge::CheckContext& check, int rank, bool held) {
  if (!held) check.detail("collectives called: " + names_of_collectives(check, rank));
  return held;
}

/// Where the program stood still longest while there was something left to compute; if it never did, where the first
/// collective was started.
wire::Place place_of_waiting(const judge::CheckContext& check, int rank) {
  const auto forwards = check.events(rank, EventKind::forward), backwards = check.events(rank, EventKind::backward);
  wire::Place first = check.place_of_first(rank, EventKind::collective);
  if (forwards.empty() || backwards.empty()) return first;
  const Standstill longest = longest_standstill(check, rank, forwards.front().end, backwards.back().begin);
  return longest.time > Nanos(0) ? longest.place : first;
}

/// Where most bytes were sent.
wire::Place place_of_sending(const judge::CheckContext& check, int rank) {
  const wire::Place heaviest =
      heaviest_line(check.events(rank, EventKind::collective), [](const Event& event) { return event.bytes.value(); });
  return heaviest.line > 0 ? heaviest : check.place_of_last(rank, EventKind::collective);
}

/// The first call of a collective that is one too many; where there are too few, the line of most other collectives.
wire::Place place_of_surplus(const judge::CheckContext& check, int rank, Collective kind,
                             const judge::Formula<Count>& number) {
  const std::vector<Event> calls = collectives(check, rank, kind);
  const auto budget = static_cast<std::size_t>(std::max<Count>(0, number.value()));
  if (calls.size() > budget) return judge::place_of(calls[budget]);
  std::vector<Event> others = check.events(rank, EventKind::collective);
  const std::string name = back::name_of(kind);
  std::erase_if(others, [&](const Event& event) {
    return check.trace(rank).names.at(event.name) == name || !moves_something(check, rank, event);
  });
  const wire::Place other = heaviest_line(others, [](const Event&) { return 1; });
  return other.line > 0 ? other : check.place_of_last(rank, EventKind::collective);
}

/// The line from which most collectives were called.
wire::Place place_of_commonest(const judge::CheckContext& check, int rank) {
  return heaviest_line(check.events(rank, EventKind::collective),
                       [&](const Event& event) { return moves_something(check, rank, event) ? 1 : 0; });
}

}  // namespace

bool finishes_within(judge::CheckContext& check, const judge::Formula<Nanos>& limit, const wire::Place& where) {
  const int rank = check.slowest_rank();
  if (check.at_most("virtual time of " + check.name_of(rank), check.end_time(rank), limit,
                    where.line > 0 ? where : place_of_waiting(check, rank))) {
    return true;
  }
  const front::Counters& counters = check.counters(rank);
  check.detail(fmt::format("transfer: {} hidden behind computation, {} exposed", to_text(counters.overlapped_transfer),
                           to_text(counters.exposed_transfer)));
  return false;
}

LateCall first_late(const std::vector<Event>& transfers, const std::vector<Event>& computing) {
  for (std::size_t i = 0; i < std::min(transfers.size(), computing.size()); ++i) {
    if (transfers[i].posted > computing[i].end) return {judge::place_of(transfers[i]), true};
  }
  return {};
}

bool starts_behind_backward(const judge::CheckContext& check, int rank, const std::vector<Event>& transfers) {
  const auto backwards = check.events(rank, EventKind::backward);
  const auto layers = static_cast<std::size_t>(number_of_layers(check.kase()));
  const auto within_a_pass = [&](const Event& transfer) {
    for (std::size_t first = 0; first + layers <= backwards.size(); first += layers) {
      const Event& last = backwards[first + layers - 1];
      if (transfer.posted > backwards[first].begin && transfer.posted < last.end) return true;
    }
    return false;
  };
  return std::none_of(transfers.begin(), transfers.end(), within_a_pass);
}

bool sends_exactly(judge::CheckContext& check, int rank, const judge::Formula<Bytes>& bytes) {
  return or_list_collectives(
      check, rank,
      check.exactly(sent_by(check, rank), check.counters(rank).bytes_sent(), bytes, place_of_sending(check, rank)));
}

bool sends_at_most(judge::CheckContext& check, int rank, const judge::Formula<Bytes>& bytes) {
  return or_list_collectives(
      check, rank,
      check.at_most(sent_by(check, rank), check.counters(rank).bytes_sent(), bytes, place_of_sending(check, rank)));
}

bool calls_exactly(judge::CheckContext& check, int rank, Collective kind, const judge::Formula<Count>& number) {
  const std::string calls = plural_of(kind);
  const std::int64_t found = check.counters(rank).calls(kind);
  if (check.ranks() == 1) return sends_exactly(check, rank, Bytes(0));
  const std::string what = fmt::format("{} of {}", calls, check.name_of(rank));
  return or_list_collectives(check, rank,
                             check.exactly(what, found, number, calls, place_of_surplus(check, rank, kind, number)));
}

bool operations_at_most(judge::CheckContext& check, int rank, const judge::Formula<Count>& number) {
  std::int64_t found = 0;
  for (const Event& event : check.events(rank, EventKind::collective)) found += moves_something(check, rank, event);
  if (check.ranks() > 1) {
    const Count others = check.ranks() - 1;
    found += (static_cast<Count>(check.events(rank, EventKind::send).size()) + others - 1) / others;
  }
  return or_list_collectives(check, rank,
                             check.at_most("collectives called by " + check.name_of(rank), found, number, "collectives",
                                           place_of_commonest(check, rank)));
}

bool reduces_one_number(const judge::CheckContext& check, int rank) {
  const std::vector<Event> reduces = collectives(check, rank, Collective::all_reduce);
  // It sends 8 bytes at most.
  return std::any_of(reduces.begin(), reduces.end(), [](const Event& reduce) { return reduce.bytes <= Bytes(8); });
}

bool sums_in_two_halves(const judge::CheckContext& check, int rank) {
  const front::Counters& counters = check.counters(rank);
  return counters.calls(Collective::all_gather) > 0 && counters.calls(Collective::reduce_scatter) > 0;
}

bool cut_into_pieces(const judge::CheckContext& check, int rank, Collective kind, Count number, Bytes bytes) {
  const front::Counters& counters = check.counters(rank);
  const std::vector<Event> calls = collectives(check, rank, kind);
  const std::int64_t more =  // not counting those of a group of one rank, which send nothing
      std::count_if(calls.begin(), calls.end(), [](const Event& call) { return call.bytes > Bytes(0); }) - number;
  // Two pieces of one call may each be longer by an element than half of it, going and coming.
  const Bytes rounded = bytes + Bytes(4 * judge::kBytesOfF32 * more);
  return check.ranks() > 1 && more > 0 && counters.bytes_sent(kind) <= rounded;
}

std::optional<front::KindBytes> alive_after(const judge::CheckContext& check, int rank, const Event& event) {
  std::optional<front::KindBytes> found;
  for (const front::MemoryPoint& point : check.trace(rank).memory) {
    if (point.time > event.end) break;
    Bytes sum;
    for (const Bytes bytes : point.live) sum += bytes;
    if (sum == event.live_after) found = point.live;
  }
  return found;
}

bool keeps_inputs(const judge::CheckContext& check, int rank) {
  const std::vector<LayerBytes> layers = layer_bytes(check.kase());
  const auto backwards = check.events(rank, EventKind::backward);
  if (backwards.size() < layers.size()) return false;
  const Event& last = backwards[layers.size() - 1];
  const auto kinds = alive_after(check, rank, last);
  if (!kinds) return false;
  const auto forwards = check.events(rank, EventKind::forward);
  const bool others_began = std::any_of(forwards.begin(), forwards.end(), [&](const Event& call) {
    return call.order < last.order && call.label.micro != last.label.micro;
  });
  if (others_began) return false;  // then the inputs may be those of other micro-batches
  const auto bytes_of = [&](Kind kind) { return (*kinds)[static_cast<std::size_t>(kind)].value(); };
  const std::int64_t loss = 4;
  const std::int64_t excess = bytes_of(Kind::activation) + bytes_of(Kind::other) - batch_bytes(check.kase()) - loss -
                              layers.front().input - layers.front().input_gradient;
  std::int64_t inputs = 0;
  for (std::size_t l = 1; l < layers.size(); ++l) inputs += layers[l].input;
  return inputs > 0 && excess >= inputs;
}

bool equal_moments(judge::CheckContext& check) {
  const reference::Reference& expected = check.reference();
  return check.equal_layers("m", expected.m, expected.m_tolerance) &&
         check.equal_layers("v", expected.v, expected.v_tolerance);
}

bool equal_loss_shares(judge::CheckContext& check) {
  if (check.kase().steps > 1) return true;
  return check.equal("loss by rank", loss_shares(check.kase()), check.reference().loss_tolerance);
}

bool whole_loss_everywhere(const judge::CheckContext& check) {
  const wire::Output* output = check.output("loss by rank");
  if (output == nullptr || check.ranks() == 1) return false;
  const std::vector<double> found(output->values.begin(), output->values.end());
  return alike({found}, {std::vector<double>(found.size(), check.reference().loss)});
}

bool whole_batch_everywhere(const judge::CheckContext& check, int rank) {
  const cases::Case& kase = check.kase();
  const std::int64_t calls = kase.ranks * own_calls(kase);
  const front::Counters& counters = check.counters(rank);
  return kase.ranks > 1 && counters.layer_forwards >= calls && counters.layer_backwards >= calls;
}

bool computes_twice(const judge::CheckContext& check, int rank) {
  const std::int64_t calls = own_calls(check.kase());
  const front::Counters& counters = check.counters(rank);
  const bool too_often = counters.layer_forwards > calls || counters.layer_backwards > calls;
  return too_often && !whole_batch_everywhere(check, rank);
}

}  // namespace shardlings::grading::formulas
