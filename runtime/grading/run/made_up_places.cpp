#include "grading/run/made_up_places.h"

#include <fmt/format.h>

#include <string_view>

#include "base/text.h"

namespace shardlings::grading::run {
namespace {

constexpr std::string_view kHarness = "harness.cpp";

bool is_made_up(std::string_view file, const std::string& source) {
  const std::string_view name = base_name(file);
  return !name.empty() && name != source && name != kHarness;
}

void clear(std::string& file, int& line) {
  file.clear();
  line = 0;
}

/// The sentence of a failure begins with its place.
void leave_out(front::Failure& failure, const std::string& source) {
  if (!is_made_up(failure.file, source)) return;
  const std::string place = fmt::format("{}:{}", failure.file, failure.line);
  for (std::size_t at = 0; (at = failure.message.find(place, at)) != std::string::npos;) {
    failure.message.replace(at, place.size(), "somewhere");
  }
  failure.message += fmt::format(
      "\nThe line is not known: the code gives its calls a Location of its own, and {} is not the file that is judged.",
      failure.file);
  clear(failure.file, failure.line);
}

void leave_out(front::RankReport& rank, const std::string& source) {
  if (is_made_up(rank.counters.peak_file, source)) clear(rank.counters.peak_file, rank.counters.peak_line);
  for (front::Event& event : rank.trace.events) {
    if (is_made_up(event.at.file, source)) event.at = {};
  }
  for (front::Shown& shown : rank.shows.kept) {
    if (is_made_up(shown.file, source)) clear(shown.file, shown.line);
  }
}

}  // namespace

void leave_out_made_up_places(const std::string& source, wire::Result& result) {
  if (result.report.failure) leave_out(*result.report.failure, source);
  for (front::RankReport& rank : result.report.ranks) leave_out(rank, source);
  for (wire::LastWords& words : result.last_words) {
    if (is_made_up(words.file, source)) clear(words.file, words.line);
  }
}

}  // namespace shardlings::grading::run
