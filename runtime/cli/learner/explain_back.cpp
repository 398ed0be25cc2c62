#include "cli/learner/explain_back.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/text.h"

namespace shardlings::cli::learner {

using front::Event;
using front::EventKind;
using grading::verdict::CaseVerdict;
using grading::verdict::Question;
using grading::verdict::Unit;

namespace {

Question question_of(std::string id, std::string text, Unit unit, std::int64_t value, std::string reason) {
  Question question;
  question.id = std::move(id);
  question.text = std::move(text);
  question.unit = unit;
  question.value = value;
  question.formula = std::move(reason);
  return question;
}

/// A call that the puzzle's harness makes, and not the learner's file.
bool is_of_harness(const Event& event) {
  return std::string_view(event.at.file).ends_with("harness.cpp");
}

/// The rank for which this is most, if it is so for no other.
std::optional<int> only_largest(const CaseVerdict& kase, const std::function<std::int64_t(std::size_t)>& of) {
  const std::size_t ranks = kase.counters.size();
  if (ranks < 2) return std::nullopt;
  std::size_t best = 0;
  for (std::size_t rank = 1; rank < ranks; ++rank) best = of(rank) > of(best) ? rank : best;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (rank != best && of(rank) == of(best)) return std::nullopt;
  }
  return static_cast<int>(best);
}

/// What a rank computes in the middle of its work: which micro-batch, or, where there is one alone, which layer.
std::optional<Question> about_work(const CaseVerdict& kase) {
  const std::size_t rank = kase.traces.size() / 2;
  if (rank >= kase.traces.size()) return std::nullopt;
  std::vector<const Event*> calls;
  for (const Event& event : kase.traces[rank].events) {
    const bool is_call = event.kind == EventKind::forward || event.kind == EventKind::backward;
    if (is_call && event.depth == 0 && event.end > event.begin) calls.push_back(&event);
  }
  if (calls.empty()) return std::nullopt;
  const Event& call = *calls[calls.size() / 2];
  const bool has_micros = kase.kase.micro_batches > 1 && call.label.micro >= 0;
  const std::string when = to_text(Nanos((call.begin.value() + call.end.value()) / 2));
  const char* way = call.kind == EventKind::forward ? "forward" : "backward";
  const std::int64_t value = has_micros ? call.label.micro : call.label.layer;
  if (value < 0) return std::nullopt;
  return question_of(has_micros ? "micro_batch" : "layer",
                     fmt::format("Which {}, counted from 0, is at work on rank {} at {}?",
                                 has_micros ? "micro-batch" : "layer", rank, when),
                     Unit::count, value,
                     fmt::format("its {} runs there from {} to {}", way, to_text(call.begin), to_text(call.end)));
}

/// With whom a rank exchanges the message for which it waits longest. A send_recv has a partner on each side: of it the
/// trace has the one that it sends to.
std::optional<Question> about_waiting(const CaseVerdict& kase) {
  const Event* longest = nullptr;
  std::size_t of = 0;
  for (std::size_t rank = 0; rank < kase.traces.size(); ++rank) {
    const front::RankTrace& trace = kase.traces[rank];
    for (const Event& event : trace.events) {
      if (event.kind != EventKind::wait || event.peer < 0 || event.name >= trace.names.size()) continue;
      if (is_of_harness(event)) continue;
      const std::string& name = trace.names[event.name];
      const bool is_message = name.starts_with("send") || name.starts_with("recv");
      if (!is_message || event.end <= event.begin) continue;
      if (longest != nullptr && event.end - event.begin <= longest->end - longest->begin) continue;
      longest = &event;
      of = rank;
    }
  }
  if (longest == nullptr) return std::nullopt;
  const std::string& call = kase.traces[of].names[longest->name];
  const bool sends = call.starts_with("send");
  return question_of("waits_for",
                     fmt::format("Rank {} stands still from {} to {}, in {}. {}", of, to_text(longest->begin),
                                 to_text(longest->end), to_text(longest->at),
                                 sends ? "To which rank of the world does it send there?"
                                       : "From which rank of the world does it receive there?"),
                     Unit::count, longest->peer,
                     fmt::format("that is {} {} rank {}", call, sends ? "to" : "from", longest->peer));
}

std::optional<Question> about_last(const CaseVerdict& kase) {
  const auto last = only_largest(kase, [&](std::size_t rank) { return kase.counters[rank].end.value(); });
  if (!last) return std::nullopt;
  const Nanos end = kase.counters[static_cast<std::size_t>(*last)].end;
  return question_of("last", "Which rank ends last?", Unit::count, *last, "it ends at " + to_text(end));
}

std::optional<Question> about_peak(const CaseVerdict& kase) {
  const auto peak = only_largest(kase, [&](std::size_t rank) { return kase.counters[rank].peak.value(); });
  if (!peak) return std::nullopt;
  const Bytes bytes = kase.counters[static_cast<std::size_t>(*peak)].peak;
  return question_of("fullest", "Which rank has the highest peak of device memory?", Unit::count, *peak,
                     "its peak is " + to_text(bytes));
}

/// What rank 0 sends in the collective that takes longest. Of one number alone a ring makes no parts, and what is sent
/// is not what a lesson's formula says.
std::optional<Question> about_collective(const CaseVerdict& kase) {
  const front::RankTrace& trace = kase.traces.front();
  constexpr Bytes kOneNumber(2 * 4);  // of f32: an all-reduce sends it there and back
  const Event* longest = nullptr;
  for (const Event& event : trace.events) {
    if (event.kind != EventKind::collective || event.name >= trace.names.size()) continue;
    if (event.bytes <= kOneNumber || is_of_harness(event)) continue;
    if (longest == nullptr || event.end - event.begin > longest->end - longest->begin) longest = &event;
  }
  if (longest == nullptr) return std::nullopt;
  const std::string& call = trace.names[longest->name];
  const bool takes_time = longest->end > longest->begin;
  const std::string when =
      takes_time ? fmt::format(", and it runs from {} to {}", to_text(longest->begin), to_text(longest->end)) : "";
  const std::string at = to_text(longest->at);
  // Inside a call of the model the line has no such call: a layer adds up over its group by itself.
  const std::string who = longest->depth > 0
                              ? fmt::format("In the model's call in {} a layer calls {} by itself on rank 0", at, call)
                              : fmt::format("Rank 0 calls {} in {}", call, at);
  return question_of("sends", fmt::format("{}{}. How many bytes does the rank send for it?", who, when), Unit::bytes,
                     longest->bytes.value(), "what the rank sends in this " + call);
}

std::optional<Question> about_calls(const CaseVerdict& kase) {
  const auto& events = kase.traces.front().events;
  const auto calls =
      std::count_if(events.begin(), events.end(), [](const Event& e) { return e.kind == EventKind::collective; });
  if (calls == 0) return std::nullopt;
  return question_of("collectives", "In how many collectives does rank 0 take part?", Unit::count, calls,
                     "the calls in its trace");
}

Question about_end(const CaseVerdict& kase) {
  Nanos end;
  for (const front::Counters& rank : kase.counters) end = std::max(end, rank.end);
  return question_of("end", "At what time does the last rank end?", Unit::ns, end.value(), "");
}

}  // namespace

std::vector<Question> questions_about(const CaseVerdict& kase) {
  constexpr std::size_t kMost = 3;
  std::vector<Question> questions;
  if (kase.counters.empty() || kase.traces.empty()) return questions;
  for (const auto& about : {about_work, about_waiting, about_last, about_peak, about_collective, about_calls}) {
    if (questions.size() == kMost) break;
    if (auto question = about(kase)) questions.push_back(std::move(*question));
  }
  if (questions.size() < kMost && about_end(kase).value > 0) questions.push_back(about_end(kase));
  return questions;
}

}  // namespace shardlings::cli::learner
