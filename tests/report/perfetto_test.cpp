// The trace for Perfetto, judged by the rules of the Trace Event Format (Duca and Sinclair 2016).
#include "report/perfetto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "report/messages.h"
#include "report/verdicts.h"

namespace shardlings::report {
namespace {

using Json = nlohmann::json;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;
namespace samples = shardlings::testing;

using Thread = std::pair<int, int>;

/// A value of an object; null if it has none of that name.
const Json& of(const Json& object, const char* key) {
  static const Json kNothing;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found == object.end() ? kNothing : *found;
}

/// Every rule that the file breaks.
class Rules {
 public:
  explicit Rules(const Json& file) {
    if (!file.is_object() || !file.contains("traceEvents") || !of(file, "traceEvents").is_array()) {
      complain("no traceEvents", file);
      return;
    }
    if (of(file, "displayTimeUnit") != "ns" && of(file, "displayTimeUnit") != "ms") complain("displayTimeUnit", file);
    for (const Json& event : of(file, "traceEvents")) check(event);
    for (const auto& [thread, slices] : slices_) {
      if (!names_.contains(thread)) complain("a thread without a name", Json(thread.second));
      check_nesting(slices);
    }
    check_flows();
  }
  const std::vector<std::string>& broken() const { return broken_; }

 private:
  struct Slice {
    double begin, end;
  };
  struct Flow {
    Thread thread;
    double time;
  };

  void complain(const std::string& rule, const Json& event) {
    broken_.push_back(rule + ": " + event.dump().substr(0, 200));
  }

  void check(const Json& event) {
    for (const char* key : {"ph", "pid", "tid", "name"}) {
      if (!event.contains(key)) return complain(std::string("no ") + key, event);
    }
    if (!of(event, "name").is_string() || !of(event, "pid").is_number_integer() ||
        !of(event, "tid").is_number_integer()) {
      return complain("types", event);
    }
    const std::string phase = of(event, "ph");
    if (phase == "M") return metadata(event);
    if (!of(event, "ts").is_number() || of(event, "ts") < 0) return complain("ts", event);
    const Thread thread{of(event, "pid"), of(event, "tid")};
    if (phase == "X") {
      slice(event, thread);
    } else if (phase == "C") {
      counter(event, thread);
    } else if (phase == "s" || phase == "f") {
      flow(event, thread, phase == "s");
    } else {
      complain("an unknown phase", event);
    }
  }

  void metadata(const Json& event) {
    static const std::map<std::string, std::string> kKnown{{"process_name", "name"},
                                                           {"thread_name", "name"},
                                                           {"process_sort_index", "sort_index"},
                                                           {"thread_sort_index", "sort_index"}};
    const auto known = kKnown.find(of(event, "name").get<std::string>());
    if (known == kKnown.end() || !of(event, "args").contains(known->second)) return complain("metadata", event);
    if (known->first == "thread_name") names_[{of(event, "pid"), of(event, "tid")}] = of(of(event, "args"), "name");
    if (known->second == "sort_index" && !of(of(event, "args"), "sort_index").is_number_integer())
      complain("index", event);
  }

  void slice(const Json& event, Thread thread) {
    if (!of(event, "dur").is_number() || of(event, "dur") < 0) return complain("dur", event);
    if (!of(event, "args").is_object() || !of(event, "cat").is_string()) return complain("args and cat", event);
    auto& slices = slices_[thread];
    const double begin = of(event, "ts"), end = begin + of(event, "dur").get<double>();
    if (!slices.empty() && begin < slices.back().begin) complain("time goes back", event);
    slices.push_back({begin, end});
  }

  void counter(const Json& event, Thread thread) {
    if (!of(event, "args").is_object() || of(event, "args").empty()) complain("a counter without series", event);
    for (const auto& value : of(event, "args")) {
      if (!value.is_number()) complain("a counter that is no number", event);
    }
    double& last = counters_[{thread.first, of(event, "name")}];
    if (of(event, "ts") < last) complain("a counter's time goes back", event);
    last = of(event, "ts");
  }

  void flow(const Json& event, Thread thread, bool begins) {
    if (!event.contains("id") || !event.contains("cat")) return complain("a flow without id or cat", event);
    if (!begins && of(event, "bp") != "e") complain("the end of a flow must bind to the slice around it", event);
    auto& side = begins ? starts_ : ends_;
    if (!side.emplace(of(event, "id").get<int>(), Flow{thread, of(event, "ts")}).second) complain("an id twice", event);
  }

  /// Slices of a thread follow one another, or lie inside one another.
  void check_nesting(const std::vector<Slice>& slices) {
    constexpr double kRounding = 1e-6;
    std::vector<Slice> open;
    for (const Slice& slice : slices) {
      while (!open.empty() && open.back().end <= slice.begin + kRounding) open.pop_back();
      if (!open.empty() && slice.end > open.back().end + kRounding) complain("slices overlap", Json(slice.begin));
      open.push_back(slice);
    }
  }

  bool inside_a_slice(const Flow& flow) {
    for (const Slice& slice : slices_[flow.thread]) {
      if (slice.begin <= flow.time && flow.time <= slice.end) return true;
    }
    return false;
  }

  void check_flows() {
    for (const auto& [id, start] : starts_) {
      const auto end = ends_.find(id);
      if (end == ends_.end()) {
        complain("a flow without an end", Json(id));
      } else if (end->second.time < start.time) {
        complain("a flow back in time", Json(id));
      } else if (!inside_a_slice(start) || !inside_a_slice(end->second)) {
        complain("a flow that binds to nothing", Json(id));
      }
    }
    if (starts_.size() != ends_.size()) complain("a flow without a begin", Json(ends_.size()));
  }

  std::vector<std::string> broken_;
  std::map<Thread, std::string> names_;
  std::map<Thread, std::vector<Slice>> slices_;
  std::map<std::pair<int, std::string>, double> counters_;
  std::map<int, Flow> starts_, ends_;
};

Json parsed(const grading::verdict::CaseVerdict& kase) {
  return Json::parse(perfetto_trace(kase));
}

std::vector<Json> of_phase(const Json& file, const std::string& phase) {
  std::vector<Json> found;
  for (const Json& event : file["traceEvents"]) {
    if (event["ph"] == phase) found.push_back(event);
  }
  return found;
}

/// A message of rank 0 to rank 1 and one back, both in flight at once, with a receive that is posted late.
grading::verdict::CaseVerdict exchange() {
  grading::verdict::CaseVerdict kase = samples::overlap_case(2, 1);
  for (int rank = 0; rank < 2; ++rank) {
    auto& trace = kase.traces[static_cast<std::size_t>(rank)];
    trace.groups = {"world"};
    for (const front::EventKind kind : {front::EventKind::send, front::EventKind::recv}) {
      trace.events.push_back(samples::event(kind, 4 * samples::kMs, 6 * samples::kMs, 2, 0));
      trace.events.back().peer = 1 - rank;
      trace.events.back().group = 0;
      trace.events.back().order = kind == front::EventKind::send ? 10 : 11;
      trace.events.back().bytes = Bytes(kind == front::EventKind::send ? 96 : 0);
      trace.events.back().at = {"/home/learner/puzzle.cpp", 31};
    }
  }
  return kase;
}

TEST(Perfetto, KeepsTheRulesOfTheFormat) {
  const std::vector<grading::verdict::CaseVerdict> kases{samples::pipeline_case(1, 3, false),
                                                         samples::pipeline_case(4, 6, true),
                                                         samples::overlap_case(3, 4),
                                                         samples::layers_case(3),
                                                         samples::ring_case(5),
                                                         exchange(),
                                                         samples::hostile_verdict().cases[0],
                                                         grading::verdict::CaseVerdict{}};
  for (const auto& kase : kases) EXPECT_THAT(Rules(parsed(kase)).broken(), ElementsAre()) << kase.kase.name;
}

TEST(Perfetto, RulesCanBeBroken) {
  const Json good = parsed(exchange());
  const auto broken_by = [&](const auto& change) {
    Json file = good;
    change(file["traceEvents"]);
    return !Rules(file).broken().empty();
  };
  const auto each = [](Json& events, const char* phase, const auto& change) {
    for (Json& event : events) {
      if (event["ph"] == phase) change(event);
    }
  };
  EXPECT_TRUE(broken_by([&](Json& e) { each(e, "X", [](Json& event) { event.erase("dur"); }); }));
  EXPECT_TRUE(broken_by([&](Json& e) { each(e, "X", [](Json& event) { event["ts"] = -1; }); }));
  EXPECT_TRUE(broken_by([&](Json& e) { each(e, "X", [](Json& event) { event["tid"] = 1; }); })) << "they overlap";
  EXPECT_TRUE(broken_by([&](Json& e) { each(e, "f", [](Json& event) { event["ts"] = 0; }); }));
  EXPECT_TRUE(broken_by([&](Json& e) { each(e, "s", [](Json& event) { event["id"] = 7; }); }));
  EXPECT_TRUE(broken_by([&](Json& e) { each(e, "C", [](Json& event) { event["args"] = Json::object(); }); }));
  EXPECT_TRUE(broken_by([&](Json& e) { each(e, "M", [](Json& event) { event["args"] = Json::object(); }); }));
}

TEST(Perfetto, HasAProcessForEachRankAndAThreadForEachLane) {
  const Json file = parsed(exchange());
  std::map<int, std::string> processes;
  std::set<std::string> threads;
  for (const Json& event : of_phase(file, "M")) {
    if (event["name"] == "process_name") processes[event["pid"]] = event["args"]["name"];
    if (event["name"] == "thread_name") threads.insert(event["args"]["name"]);
  }
  EXPECT_EQ(processes, (std::map<int, std::string>{{0, "rank 0"}, {1, "rank 1"}}));
  EXPECT_THAT(threads, ElementsAre("links inside a node", "links inside a node (2)", "program"));
}

TEST(Perfetto, ShowsMeasuredTimesBesideVirtualOnes) {
  grading::verdict::CaseVerdict kase = exchange();
  EXPECT_EQ(parsed(kase)["otherData"]["times"], "virtual");
  front::Event& event = kase.traces[1].events[0];
  event.measured_begin = Nanos(1500);
  event.measured_end = Nanos(4000);
  const Json file = parsed(kase);
  EXPECT_THAT(Rules(file).broken(), ElementsAre());
  EXPECT_EQ(file["otherData"]["times"], "virtual and measured");
  int measured = 0;
  for (const Json& slice : of_phase(file, "X")) {
    if (slice["pid"] < 2) continue;
    ++measured;
    EXPECT_EQ(slice["pid"], 3) << "rank 1 of two, measured";
    EXPECT_EQ(slice["ts"], 1.5);
    EXPECT_EQ(slice["dur"], 2.5);
  }
  EXPECT_EQ(measured, 1) << "what was not measured is left out";
}

TEST(Perfetto, TellsWhatAnEventWas) {
  const Json file = parsed(exchange());
  for (const Json& event : of_phase(file, "X")) {
    if (event["cat"] != "send") continue;
    EXPECT_EQ(event["ts"], 4000.0) << "microseconds";
    EXPECT_EQ(event["dur"], 2000.0);
    EXPECT_EQ(event["args"]["at"], "puzzle.cpp:31");
    EXPECT_EQ(event["args"]["bytes"], 96);
    EXPECT_EQ(event["args"]["layer"], 0);
    EXPECT_EQ(event["args"]["micro_batch"], 2);
    EXPECT_EQ(event["args"]["group"], "world");
    EXPECT_TRUE(event["args"].contains("flops")) << event;
    return;
  }
  FAIL() << "no send";
}

TEST(Perfetto, CountsMemoryByKind) {
  const auto counters = of_phase(parsed(samples::layers_case(2)), "C");
  ASSERT_FALSE(counters.empty());
  EXPECT_EQ(counters[0]["name"], "memory");
  EXPECT_EQ(counters[0]["args"].size(), static_cast<std::size_t>(kNumKinds));
  EXPECT_EQ(counters[0]["args"]["parameter"], 4096);
}

TEST(Perfetto, DrawsAnArrowForEachMessage) {
  const auto kase = exchange();
  EXPECT_EQ(of_phase(parsed(kase), "s").size(), 2U);
  EXPECT_EQ(messages_of(kase.traces).size(), 2U);
}

TEST(Messages, AreMatchedInTheOrderOfTheCalls) {
  std::vector<front::RankTrace> traces(2);
  for (auto& trace : traces) trace.groups = {"other", "world"};
  for (int i = 0; i < 3; ++i) {
    for (const int rank : {0, 1}) {
      front::Event event;
      event.kind = rank == 0 ? front::EventKind::send : front::EventKind::recv;
      event.peer = 1 - rank;
      event.group = i == 1 ? 0 : 1;
      event.order = static_cast<std::uint64_t>(rank == 0 ? i : 9 - i);  // received in the opposite order
      event.bytes = Bytes(i);
      traces[static_cast<std::size_t>(rank)].events.push_back(event);
    }
  }
  traces[0].events.push_back(traces[0].events[0]);  // nobody takes this one
  traces[0].events.back().order = 99;
  std::map<std::int64_t, std::uint64_t> taken;
  for (const Message& message : messages_of(traces)) taken[message.send->bytes.value()] = message.recv->order;
  EXPECT_THAT(taken, UnorderedElementsAre(std::pair(0, 7), std::pair(1, 8), std::pair(2, 9)));
}

}  // namespace
}  // namespace shardlings::report
