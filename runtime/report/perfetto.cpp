#include "report/perfetto.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/text.h"
#include "report/blocks.h"
#include "report/measured.h"
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
    case EventKind::backward_input: return "backward_input";
    case EventKind::backward_weights: return "backward_weights";
    case EventKind::loss: return "loss";
    case EventKind::update: return "update";
    case EventKind::collective: return "collective";
    case EventKind::send: return "send";
    case EventKind::recv: return "recv";
    case EventKind::wait: return "wait";
    default: return "operation";
  }
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

std::string json_at(const std::vector<std::string>& texts, std::int64_t index) {
  return json_text(index >= 0 && index < static_cast<std::int64_t>(texts.size())
                       ? texts[static_cast<std::size_t>(index)]
                       : std::string());
}

/// One rank's events on threads: those of a thread follow one another or lie inside one another.
class Threads {
 public:
  explicit Threads(const RankTrace& trace) : trace_(trace), tids_(trace.events.size()) {
    for (const Event& event : trace.events) sorted_.push_back(&event);
    std::stable_sort(sorted_.begin(), sorted_.end(), [](const Event* a, const Event* b) {
      return std::tuple(a->begin, b->end, a->depth) < std::tuple(b->begin, a->end, b->depth);
    });
    for (const Event* event : sorted_) tids_[index_of(event)] = place(*event);
  }
  /// In the order of their begins, the longer before what lies inside them.
  const std::vector<const Event*>& sorted() const { return sorted_; }
  int tid(const Event* event) const { return tids_[index_of(event)]; }
  const std::map<int, std::string>& names() const { return names_; }

 private:
  std::size_t index_of(const Event* event) const { return static_cast<std::size_t>(event - trace_.events.data()); }

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
    if (names_.contains(tid)) return tid;
    const std::string name(name_of(event.lane).name);
    names_[tid] = track == 0 ? name : fmt::format("{} ({})", name, track + 1);
    return tid;
  }

  const RankTrace& trace_;
  std::vector<const Event*> sorted_;
  std::vector<int> tids_;                   // by event
  std::map<int, std::vector<Nanos>> ends_;  // by lane and track
  std::map<int, std::string> names_;        // by thread
};

/// EventTexts of a rank's events, each made into JSON once.
class EventTexts {
 public:
  explicit EventTexts(const RankTrace& trace) : trace_(trace) {}

  const std::string& title(const Event& event) {
    std::string& title = titles_[{event.name, event.label.layer, event.kind == EventKind::wait}];
    if (!title.empty()) return title;
    std::string text = event.name < trace_.names.size() ? trace_.names[event.name] : "";
    if (event.kind == EventKind::wait) text = "wait for " + text;
    if (event.label.layer >= 0) text += fmt::format(" layer {}", event.label.layer);
    return title = json_text(text);
  }
  const std::string& place(Location at) {
    std::string& place = places_[{at.file, at.line}];
    if (place.empty()) place = json_text(to_text(at));
    return place;
  }
  const std::string& group(const Event& event) {
    std::string& group = groups_[event.group];
    if (group.empty()) group = json_at(trace_.groups, event.group);
    return group;
  }

 private:
  const RankTrace& trace_;
  std::map<std::tuple<int, int, bool>, std::string> titles_;
  std::map<std::pair<const char*, int>, std::string> places_;
  std::map<int, std::string> groups_;
};

std::string args_of(const Event& event, EventTexts& texts) {
  std::string args;
  const auto out = std::back_inserter(args);
  if (event.at.line > 0) fmt::format_to(out, R"("at":{},)", texts.place(event.at));
  if (event.label.layer >= 0) fmt::format_to(out, R"("layer":{},)", event.label.layer);
  if (event.label.micro >= 0) fmt::format_to(out, R"("micro_batch":{},)", event.label.micro);
  if (event.peer >= 0) fmt::format_to(out, R"("peer":{},)", event.peer);
  if (event.group >= 0) {
    fmt::format_to(out, R"("group":{},"posted_us":{},)", texts.group(event), micros(event.posted.value()));
  }
  fmt::format_to(out, R"("bytes":{},"flops":{},"memory_after":{})", event.bytes.value(), event.flops.value(),
                 event.live_after.value());
  return args;
}

void write_events(Writer& out, const RankTrace& trace, int rank, const Threads& threads) {
  EventTexts texts(trace);
  for (const Event* event : threads.sorted()) {
    out.event(R"({{"ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
              texts.title(*event), category(event->kind), rank, threads.tid(event), micros(event->begin.value()),
              micros((event->end - event->begin).value()), args_of(*event, texts));
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

/// A process for each rank, from number `first` on.
std::vector<Threads> write_ranks(Writer& out, const std::vector<RankTrace>& traces, int first, const char* addition) {
  std::vector<Threads> threads;
  for (const RankTrace& trace : traces) threads.emplace_back(trace);
  for (std::size_t r = 0; r < threads.size(); ++r) {
    const int process = first + static_cast<int>(r);
    out.name("process", process, 0, fmt::format("rank {}{}", r, addition));
    for (const auto& [tid, name] : threads[r].names()) out.name("thread", process, tid, name);
    write_events(out, traces[r], process, threads[r]);
    write_memory(out, traces[r], process);
  }
  return threads;
}

}  // namespace

std::string perfetto_trace(const grading::verdict::CaseVerdict& kase) {
  Writer out;
  write_messages(out, kase.traces, write_ranks(out, kase.traces, 0, ""));
  const std::vector<RankTrace> measured = measured_traces(kase.traces);
  write_ranks(out, measured, static_cast<int>(kase.traces.size()), ", measured");
  const std::string about =
      fmt::format(R"({{"puzzle":{},"case":{},"seed":{},"times":"{}"}})", json_text(kase.kase.puzzle),
                  json_text(kase.kase.name), kase.kase.seed, measured.empty() ? "virtual" : "virtual and measured");
  return fmt::format("{{\"displayTimeUnit\":\"ns\",\"otherData\":{},\"traceEvents\":[\n{}\n]}}\n", about, out.take());
}

}  // namespace shardlings::report
