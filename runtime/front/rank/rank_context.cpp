#include "front/rank/rank_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "base/text.h"

namespace shardlings::front {

namespace {

// "puzzle.cpp:31", "puzzle.cpp:31 and 32", "puzzle.cpp:31 to 40": the body of a loop calls from all of its lines alike
// often, so those that call about as often as the most frequent one belong to it.
std::string loop_text(const std::vector<CallLog::Repeated>& latest) {
  const Location most = latest.front().at;
  std::set<int> lines;
  for (const CallLog::Repeated& repeated : latest) {
    if (2 * repeated.times >= latest.front().times && base_name(repeated.at.file) == base_name(most.file)) {
      lines.insert(repeated.at.line);
    }
  }
  const std::string first = to_text({most.file, *lines.begin()});
  if (lines.size() == 1) return first;
  return fmt::format("{} {} {}", first, lines.size() == 2 ? "and" : "to", *lines.rbegin());
}

/// The lines that are known, if any, are not those of the loop.
bool is_without_lines(const CallLog& calls) {
  return calls.made() > 2 * calls.noted() || calls.latest().empty();
}

std::string endless_text(int rank, const CallLog& calls) {
  const std::vector<CallLog::Repeated> latest = calls.latest();
  if (is_without_lines(calls)) {
    return fmt::format(
        "endless loop: rank {} makes calls for ever, and gives them no place in the source.\nIt was stopped after {} "
        "calls, many times more than a run takes. What should end this loop?",
        rank, calls.made() - 1);
  }
  int all = 0;
  for (const CallLog::Repeated& repeated : latest) all += repeated.times;
  std::string text =
      fmt::format("endless loop: rank {} repeats {} for ever.\n  of its last {} calls:", rank, loop_text(latest), all);
  constexpr std::size_t kShown = 4;
  for (std::size_t i = 0; i < std::min(kShown, latest.size()); ++i) {
    text += fmt::format("{} {} {} at {}", i == 0 ? "" : ",", latest[i].times, latest[i].name, to_text(latest[i].at));
  }
  if (latest.size() > kShown) text += fmt::format(", and {} others", latest.size() - kShown);
  return text + fmt::format(
                    "\nIt was stopped after {} calls, many times more than a run takes. What should end this "
                    "loop?",
                    calls.made() - 1);
}

/// The latest calls are told of if there are too many of them, or too many records in the trace.
std::uint64_t first_call_told_of(const RankOptions& options, int rank) {
  if (options.endless == 0) return std::numeric_limits<std::uint64_t>::max();
  if (options.traces(rank)) return 0;
  return static_cast<std::uint64_t>(
      std::max<std::int64_t>(options.endless + 1 - static_cast<std::int64_t>(CallLog::kLatest), 0));
}

}  // namespace

RankContext::RankContext(const RankOptions& options, int rank, std::unique_ptr<back::Device> device,
                         std::function<bool()> aborted)
    : options_(options),
      id_(rank),
      device_(std::move(device)),
      costs_(options.cluster),
      aborted_(std::move(aborted)),
      calls_(options.black_box ? &options.black_box->entries[rank] : nullptr, first_call_told_of(options, rank)),
      trace_(options.traces(rank)),
      doom_(options.deaths, rank) {
  if (trace_.enabled()) device_->start_measuring();
}

void RankContext::advance_to(Nanos time) {
  if (time > now_) now_ = time;
}

void RankContext::stand_still_until(Nanos time) {
  standstills_.note(now_, time);
  advance_to(time);
}

void RankContext::wait_for_peers(const detail::Call& call, Nanos until) {
  if (until <= now_) return;
  counters_.waited_for_peers += until - now_;
  if (trace_.enabled()) {
    Event event;
    event.name = trace_.name(called(call));
    event.order = calls_.order();
    event.end = until;
    event.live_after = live_;
    trace_.add(waiting(event, now_, place(call)));
  }
  stand_still_until(until);
}

void RankContext::restart() {
  counters_ = {};
  now_ = Nanos(0);
  standstills_.forget_all();
  endless_ = false;
  trace_.restart();
  if (trace_.enabled()) device_->start_measuring();
}

std::optional<float> RankContext::scripted_read(Count place, Count count) {
  if (count == std::ssize(scripted_reads_)) {
    const auto at = static_cast<std::size_t>(place);
    next_scripted_ = std::max(next_scripted_, at + 1);
    return scripted_reads_[at];
  }
  if (next_scripted_ == scripted_reads_.size()) return std::nullopt;
  return scripted_reads_[next_scripted_++];
}

void RankContext::invalid(const detail::Call& call, const std::string& sentence) const {
  const Location at = place(call);
  throw InvalidArgument(fmt::format("{}: rank {}: {}", to_text(at), id_, sentence).c_str(), at);
}

void RankContext::defer(Misuse misuse, const std::string& sentence, Location at) {
  defer(std::make_exception_ptr(MisuseError(misuse, sentence.c_str(), at)));
}

void RankContext::check_endless() {
  const std::int64_t most = options_.endless;
  if (most == 0 || calls_.made() == 0) return;
  const bool leaves_much = trace_.enabled() && trace_.size() > static_cast<std::size_t>(most);
  if (calls_.made() > static_cast<std::uint64_t>(most) || leaves_much) stop_endless();
}

void RankContext::stop_endless() {
  endless_ = true;
  const Location at = is_without_lines(calls_) ? Location{} : calls_.latest().front().at;
  throw Error(endless_text(id_, calls_).c_str(), at);
}

void RankContext::throw_deferred() {
  if (deferred_) std::rethrow_exception(std::exchange(deferred_, nullptr));
}

}  // namespace shardlings::front
