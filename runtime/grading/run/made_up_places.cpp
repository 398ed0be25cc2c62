#include "grading/run/made_up_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "base/text.h"

namespace shardlings::grading::run {
namespace {

constexpr std::string_view kHarness = "harness.cpp";

/// What is known of the learner's file.
struct JudgedFile {
  const std::string& name;
  const std::set<int>& call_lines;

  bool is_another(std::string_view file) const {
    const std::string_view base = base_name(file);
    return !base.empty() && base != name && base != kHarness;
  }
  /// Line 0 is said of what has no line.
  bool has_no_call(std::string_view file, int line) const {
    return base_name(file) == name && line != 0 && !call_lines.empty() && !call_lines.contains(line);
  }
  /// A negative line is what the broker makes of a place that it has not let in.
  bool is_made_up(std::string_view file, int line) const {
    return line < 0 || is_another(file) || has_no_call(file, line);
  }
};

void clear(std::string& file, int& line) {
  file.clear();
  line = 0;
}

/// Where the number that begins at `at` ends.
std::size_t end_of_number(const std::string& text, std::size_t at) {
  return std::min(text.find_first_not_of("0123456789", at), text.size());
}

/// Where "31", "31 and 32" or "31 to 40" ends, of which the first number begins at `at`.
std::size_t end_of_numbers(const std::string& text, std::size_t at) {
  const std::size_t first = end_of_number(text, at);
  for (const std::string_view between : {" and ", " to "}) {
    if (text.compare(first, between.size(), between) != 0) continue;
    const std::size_t second = first + between.size(), end = end_of_number(text, second);
    if (end > second) return end;
  }
  return first;
}

/// In a sentence, places in that file, all of them or those in which there is no call.
void leave_out(std::string& sentence, const std::string& file, const JudgedFile& judged) {
  const std::string mark = file + ":";
  std::string kept;
  std::size_t done = 0;
  for (std::size_t at = 0; (at = sentence.find(mark, at)) != std::string::npos;) {
    const std::size_t number = at + mark.size(), first = end_of_number(sentence, number),
                      end = end_of_numbers(sentence, number);
    const auto is_made_up = [&](std::size_t begin, std::size_t behind) {
      return judged.is_made_up(file, std::atoi(sentence.substr(begin, behind - begin).c_str()));
    };
    const std::size_t second = std::min(sentence.find_first_of("0123456789", first), end);
    const bool leaves_out = first > number && (is_made_up(number, first) || (end > first && is_made_up(second, end)));
    if (leaves_out) {
      kept.append(sentence, done, at - done).append("somewhere");
      done = end;
    }
    at = std::max(end, number);
  }
  sentence = kept.append(sentence, done);
}

/// The sentence of a failure begins with its place, and those of other ranks' calls stand in it, too.
void leave_out(front::Failure& failure, const JudgedFile& judged) {
  const std::string whole = failure.message;
  leave_out(failure.message, judged.name, judged);
  if (judged.is_another(failure.file)) leave_out(failure.message, failure.file, judged);
  const bool is_made_up = judged.is_made_up(failure.file, failure.line);
  if (!is_made_up && failure.message == whole) return;
  const std::string why = judged.is_another(failure.file)
                              ? fmt::format("{} is not the file that is judged", failure.file)
                          : failure.line < 0 ? fmt::format("that is no line of {}", judged.name)
                                             : fmt::format("in {} no call stands there", judged.name);
  failure.message +=
      fmt::format("\nThe line is not known: the code gives its calls a Location of its own, and {}.", why);
  if (is_made_up) clear(failure.file, failure.line);
}

void leave_out(front::RankReport& rank, const JudgedFile& judged) {
  if (judged.is_made_up(rank.counters.peak_file, rank.counters.peak_line))
    clear(rank.counters.peak_file, rank.counters.peak_line);
  for (front::Event& event : rank.trace.events) {
    if (judged.is_made_up(event.at.file, event.at.line)) event.at = {};
  }
  for (front::Shown& shown : rank.shows.kept) {
    if (judged.is_made_up(shown.file, shown.line)) clear(shown.file, shown.line);
  }
}

}  // namespace

void leave_out_made_up_places(const std::string& source, const std::set<int>& call_lines, wire::Result& result) {
  const JudgedFile judged{source, call_lines};
  if (result.report.failure) leave_out(*result.report.failure, judged);
  for (front::RankReport& rank : result.report.ranks) leave_out(rank, judged);
  for (wire::LastWords& words : result.last_words) {
    if (judged.is_made_up(words.file, words.line)) clear(words.file, words.line);
  }
}

}  // namespace shardlings::grading::run
