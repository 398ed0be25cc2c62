#include "grading/formulas/sharding_checks.h"

#include <fmt/format.h>

#include "base/text.h"
#include "grading/formulas/sharding.h"
#include "grading/formulas/standstill.h"

namespace shardlings::grading::formulas {
namespace {

using front::EventKind;

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
  const wire::Place heaviest = heaviest_line(check.events(rank, EventKind::collective),
                                             [](const front::Event& event) { return event.bytes.value(); });
  return heaviest.line > 0 ? heaviest : check.place_of_last(rank, EventKind::collective);
}

}  // namespace

bool finishes_within(judge::CheckContext& check, const judge::Formula<Nanos>& limit) {
  const int rank = check.slowest_rank();
  if (check.at_most("virtual time of " + check.name_of(rank), check.end_time(rank), limit,
                    place_of_waiting(check, rank))) {
    return true;
  }
  const front::Counters& counters = check.counters(rank);
  check.detail(fmt::format("transfer: {} hidden behind computation, {} exposed", to_text(counters.overlapped_transfer),
                           to_text(counters.exposed_transfer)));
  return false;
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

bool equal_moments(judge::CheckContext& check) {
  const reference::Reference& expected = check.reference();
  return check.equal_layers("m", expected.m, expected.m_tolerance) &&
         check.equal_layers("v", expected.v, expected.v_tolerance);
}

bool equal_loss_shares(judge::CheckContext& check) {
  if (check.kase().steps > 1) return true;
  return check.equal("loss by rank", loss_shares(check.kase()), check.reference().loss_tolerance);
}

bool whole_batch_everywhere(const judge::CheckContext& check, int rank) {
  const cases::Case& kase = check.kase();
  const std::int64_t calls = kase.steps * kase.micro_batches * number_of_layers(kase);
  return kase.ranks > 1 && check.counters(rank).layer_forwards >= kase.ranks * calls;
}

}  // namespace shardlings::grading::formulas
