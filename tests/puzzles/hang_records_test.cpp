// The records of puzzle 36's lesson are those of its programs as they are given: group, number, call, state and line of
// each rank's calls, and where each rank stands.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "case/manifest.h"
#include "puzzles/solutions.h"

namespace shardlings::grading {
namespace {

using front::Event;
using front::EventKind;
using front::RankTrace;

constexpr const char* kId = "36_find_the_hang";
constexpr const char* kPlaceholder = "  not_implemented();";

std::string text_of(const std::string& path) {
  return read_file(std::string(SHARDLINGS_SOURCE_FOLDER) + path).value_or("");
}

/// The findings of the solution on one line, so that all programs below keep theirs.
std::string right_findings() {
  const std::string solution = text_of("/solutions/36_find_the_hang/solution.cpp");
  const std::size_t begin = solution.find("  return {{"), end = solution.find("\n}\n", begin);
  const std::string with_comments = solution.substr(begin, end - begin);
  return std::regex_replace(std::regex_replace(with_comments, std::regex(" *// [0-9]"), ""), std::regex("\n *"), " ");
}

/// The stub, which runs its programs since it has found everything.
std::string as_given() {
  std::string text = text_of("/puzzles/36_find_the_hang/puzzle.cpp");
  const std::size_t at = text.find(kPlaceholder);
  return at == std::string::npos ? "" : text.replace(at, std::string(kPlaceholder).size(), right_findings());
}

bool is_call(const Event& event) {
  return event.kind == EventKind::collective || event.kind == EventKind::send || event.kind == EventKind::recv;
}

std::string group_of(const RankTrace& trace, const Event& event) {
  return event.group < 0 ? "" : trace.groups.at(static_cast<std::size_t>(event.group));
}

/// The wait that has not ended; nullptr for a rank that has returned.
const Event* open_wait(const RankTrace& trace) {
  const auto wait = std::find_if(trace.events.begin(), trace.events.end(), [](const Event& event) {
    return event.kind == EventKind::wait && event.begin == event.end;
  });
  return wait == trace.events.end() ? nullptr : &*wait;
}

/// "send 0->1", or the name of a collective.
std::string call_of(const RankTrace& trace, const Event& event, int rank) {
  const std::string& name = trace.names.at(event.name);
  if (event.kind == EventKind::collective) return name;
  const bool sends = event.kind == EventKind::send;
  return fmt::format("{} {}->{}", name, sends ? rank : event.peer, sends ? event.peer : rank);
}

std::vector<std::string> record_of(const RankTrace& trace, int rank) {
  const Event* wait = open_wait(trace);
  std::vector<std::string> lines = {wait == nullptr ? fmt::format("rank {} has returned", rank)
                                                    : fmt::format("rank {} at puzzle.cpp:{}", rank, wait->at.line)};
  std::vector<Event> calls;
  std::copy_if(trace.events.begin(), trace.events.end(), std::back_inserter(calls), is_call);
  std::stable_sort(calls.begin(), calls.end(), [](const Event& a, const Event& b) { return a.order < b.order; });
  std::map<std::string, int> number;
  for (const Event& event : calls) {
    const std::string group = group_of(trace, event), call = call_of(trace, event, rank);
    const int of_group = ++number[event.kind == EventKind::collective ? group : group + call];
    const bool waits = wait != nullptr && group == group_of(trace, *wait);
    const char* state = event.begin != event.end ? "completed" : waits ? "waits" : "queued";
    lines.push_back(fmt::format("{} {} {} {} {}", of_group, group, call, state, event.at.line));
  }
  return lines;
}

/// Of each program the lesson's lines: "1 world all_reduce waits 61", without sizes.
std::vector<std::vector<std::string>> records_of_lesson() {
  const std::regex call(R"(^    (\d+) +(\w+) +(\w+(?: \d->\d)?) +\d+ f32 +(\w+) +(\d+)$)");
  std::vector<std::vector<std::string>> records;
  for (const std::string& line : lines_of(text_of("/puzzles/36_find_the_hang/README.md"))) {
    std::smatch parts;
    if (line.starts_with("program ")) records.emplace_back();
    if (records.empty()) continue;
    if (line.starts_with("```")) break;  // their end: sentences of the lesson may begin as they do
    if (line.starts_with("  rank ")) records.back().push_back(line.substr(2));
    if (std::regex_match(line, parts, call)) {
      records.back().push_back(
          fmt::format("{} {} {} {} {}", parts.str(1), parts.str(2), parts.str(3), parts.str(4), parts.str(5)));
    }
  }
  return records;
}

TEST(HangRecords, AreThoseOfTheProgramsAsTheyAreGiven) {
  const build::Toolchain toolchain = build::load_toolchain(SHARDLINGS_BUILD_FOLDER);
  const auto cases =
      cases::load_manifest(std::string(SHARDLINGS_SOURCE_FOLDER "/puzzles/") + kId, toolchain.clusters).cases;
  const Solution given = Solution::of_text(toolchain, kId, "puzzle.cpp", as_given());
  const auto records = records_of_lesson();
  constexpr std::size_t kPrograms = 8;
  ASSERT_EQ(records.size(), kPrograms);
  for (std::size_t program = 0; program < kPrograms; ++program) {
    SCOPED_TRACE(cases.at(program).name);
    const wire::Result result = given.run(cases.at(program));
    EXPECT_EQ(result.ending, wire::Ending::failed);
    std::vector<std::string> record;
    for (int rank = 0; rank < cases.at(program).ranks; ++rank) {
      const auto lines = record_of(result.report.ranks.at(static_cast<std::size_t>(rank)).trace, rank);
      record.insert(record.end(), lines.begin(), lines.end());
    }
    EXPECT_EQ(records[program], record);
  }
}

}  // namespace
}  // namespace shardlings::grading
