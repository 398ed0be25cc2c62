#include "report/perfetto.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/text.h"
#include "report/blocks.h"
#include "report/messages.h"

namespace shardlings::report {
namespace {

using front::Event;
using front::EventKind;
using front::Lane;
using front::RankTrace;

// So many threads are kept free for each lane, for operations that overlap.
constexpr int kTracksPerLane = 1000;

std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Virtual nanoseconds as microseconds, exactly.
std::string micros(std::int64_t ns) {
  return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
}

const char* category(EventKind kind) {
  switch (kind) {
    case EventKind::forward: return "forward";
    case EventKind::backward: return "backward";
    case EventKind::loss: return "loss";
    case EventKind::update: return "update";
    case EventKind::collective: return "collective";
    case EventKind::send: return "send";
    case EventKind::recv: return "recv";
    case EventKind::wait: return "wait";
    default: return "operation";
  }
}

std::string text_at(const std::vector<std::string>& texts, std::int64_t index) {
  return index >= 0 && index < static_cast<std::int64_t>(texts.size()) ? texts[static_cast<std::size_t>(index)] : "";
}

std::string title_of(const RankTrace& trace, const Event& event) {
  std::string title = text_at(trace.names, event.name);
  if (event.kind == EventKind::wait) title = "wait for " + title;
  if (event.label.layer >= 0) title += fmt::format(" layer {}", event.label.layer);
  return title;
}

/// One line for each event of the file.
class Writer {
 public:
  template <class... Args>
  void event(fmt::format_string<Args...> format, Args&&... args) {
    text_ += first_ ? "" : ",\n";
    first_ = false;
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }
  void name(const char* what, int pid, int tid, const std::string& name) {
    event(R"({{"ph":"M","name":"{}_name","pid":{},"tid":{},"args":{{"name":{}}}}})", what, pid, tid, json_text(name));
    event(R"({{"ph":"M","name":"{}_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})", what, pid, tid,
          tid == 0 ? pid : tid);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  bool first_ = true;
};

void add(std::string& args, const char* key, const std::string& value) {
  args += fmt::format("{}\"{}\":{}", args.empty() ? "" : ",", key, value);
}

std::string args_of(const RankTrace& trace, const Event& event) {
  std::string args;
  if (event.at.line > 0) add(args, "at", json_text(to_text(event.at)));
  if (event.label.layer >= 0) add(args, "layer", std::to_string(event.label.layer));
  if (event.label.micro >= 0) add(args, "micro_batch", std::to_string(event.label.micro));
  if (event.group >= 0) add(args, "group", json_text(text_at(trace.groups, event.group)));
  if (event.peer >= 0) add(args, "peer", std::to_string(event.peer));
  if (event.group >= 0) add(args, "posted_us", micros(event.posted.value()));
  add(args, "bytes", std::to_string(event.bytes.value()));
  add(args, "flops", std::to_string(event.flops.value()));
  add(args, "memory_after", std::to_string(event.live_after.value()));
  return args;
}

/// One rank's events on threads: those of a thread follow one another or lie inside one another.
class Threads {
 public:
  explicit Threads(const RankTrace& trace) {
    for (const Event& event : trace.events) sorted_.push_back(&event);
    std::stable_sort(sorted_.begin(), sorted_.end(), [](const Event* a, const Event* b) {
      return std::tuple(a->begin, b->end, a->depth) < std::tuple(b->begin, a->end, b->depth);
    });
    for (const Event* event : sorted_) tids_[event] = place(*event);
  }
  const std::vector<const Event*>& sorted() const { return sorted_; }
  int tid(const Event* event) const { return tids_.at(event); }
  const std::map<int, std::string>& names() const { return names_; }

 private:
  int place(const Event& event) {
    const int lane = static_cast<int>(event.lane);
    int track = 0;
    if (event.lane != Lane::compute) {  // the program does one thing after another
      auto& ends = ends_[lane];
      while (track < static_cast<int>(ends.size()) && ends[static_cast<std::size_t>(track)] > event.begin) ++track;
      if (track == static_cast<int>(ends.size())) ends.emplace_back();
      ends[static_cast<std::size_t>(track)] = event.end;
    }
    const int tid = 1 + lane * kTracksPerLane + track;
    const std::string name(name_of(event.lane).name);
    names_[tid] = track == 0 ? name : fmt::format("{} ({})", name, track + 1);
    return tid;
  }

  std::vector<const Event*> sorted_;
  std::map<const Event*, int> tids_;
  std::map<int, std::vector<Nanos>> ends_;  // by lane and track
  std::map<int, std::string> names_;        // by thread
};

void write_events(Writer& out, const RankTrace& trace, int rank, const Threads& threads) {
  for (const Event* event : threads.sorted()) {
    out.event(R"({{"ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
              json_text(title_of(trace, *event)), category(event->kind), rank, threads.tid(event),
              micros(event->begin.value()), micros((event->end - event->begin).value()), args_of(trace, *event));
  }
}

void write_memory(Writer& out, const RankTrace& trace, int rank) {
  for (const front::MemoryPoint& point : trace.memory) {
    std::string args;
    for (int kind = 0; kind < kNumKinds; ++kind) {
      add(args, shardlings::name_of(static_cast<Kind>(kind)),
          std::to_string(point.live[static_cast<std::size_t>(kind)].value()));
    }
    out.event(R"({{"ph":"C","name":"memory","pid":{},"tid":0,"ts":{},"args":{{{}}}}})", rank,
              micros(point.time.value()), args);
  }
}

/// Arrows bind to the slices around them, so each end lies inside its slice: just before the end of the receive.
void write_messages(Writer& out, const std::vector<RankTrace>& traces, const std::vector<Threads>& threads) {
  int id = 0;
  for (const Message& message : messages_of(traces)) {
    const std::int64_t arrives = std::max(message.recv->begin.value(), message.recv->end.value() - 1);
    out.event(R"({{"ph":"s","name":"message","cat":"message","id":{},"pid":{},"tid":{},"ts":{}}})", ++id, message.from,
              threads[static_cast<std::size_t>(message.from)].tid(message.send), micros(message.send->begin.value()));
    out.event(R"({{"ph":"f","bp":"e","name":"message","cat":"message","id":{},"pid":{},"tid":{},"ts":{}}})", id,
              message.to, threads[static_cast<std::size_t>(message.to)].tid(message.recv), micros(arrives));
  }
}

}  // namespace

std::string perfetto_trace(const grading::CaseVerdict& kase) {
  Writer out;
  std::vector<Threads> threads;
  for (const RankTrace& trace : kase.traces) threads.emplace_back(trace);
  for (std::size_t r = 0; r < threads.size(); ++r) {
    const auto rank = static_cast<int>(r);
    out.name("process", rank, 0, fmt::format("rank {}", rank));
    for (const auto& [tid, name] : threads[r].names()) out.name("thread", rank, tid, name);
    write_events(out, kase.traces[r], rank, threads[r]);
    write_memory(out, kase.traces[r], rank);
  }
  write_messages(out, kase.traces, threads);
  const std::string about = fmt::format(R"({{"puzzle":{},"case":{},"seed":{},"times":"virtual"}})",
                                        json_text(kase.kase.puzzle), json_text(kase.kase.name), kase.kase.seed);
  return fmt::format("{{\"displayTimeUnit\":\"ns\",\"otherData\":{},\"traceEvents\":[\n{}\n]}}\n", about, out.take());
}

}  // namespace shardlings::report
