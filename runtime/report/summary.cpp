#include "report/summary.h"

#include <fmt/format.h>

#include <array>

#include "base/terminal_text.h"
#include "base/text.h"
#include "report/harmless.h"

namespace shardlings::report {
namespace {

/// Three digits, and one more before a unit changes: "1020 B", "5.58 KiB", "3.94 MiB".
std::string shortest(Bytes size) {
  constexpr std::array<const char*, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(size.value());
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return value >= 1000 ? fmt::format("{:.0f} {}", value, kUnits[unit]) : fmt::format("{:.3g} {}", value, kUnits[unit]);
}

/// The words of a summary in full.
std::vector<std::string> words_of(const grading::verdict::CaseVerdict& kase, const Totals& totals) {
  std::vector<std::string> parts;
  const bool broken_off = kase.failure.has_value();
  if (totals.end > Nanos(0)) parts.push_back((broken_off ? "broken off at " : "virtual time ") + to_text(totals.end));
  if (totals.computes && !broken_off) parts.push_back(fmt::format("idle (bubble) {:.1f} %", 100 * totals.idle));
  if (totals.computes && totals.transfer > Nanos(0) && !broken_off) {
    parts.push_back(fmt::format("{:.0f} % of communication overlapped", 100 * (totals.overlapped / totals.transfer)));
  }
  const bool alone = kase.counters.size() == 1;
  parts.push_back("peak " + brief(totals.peak) + (alone ? "" : fmt::format(" on rank {}", totals.peak_rank)));
  if (totals.sent == Bytes(0)) return parts;
  parts.push_back(totals.sent_equal ? fmt::format("sent {} per rank", brief(totals.sent_by_most))
                                    : fmt::format("sent {} in all", brief(totals.sent)));
  return parts;
}

/// The same for narrow terminals.
std::vector<std::string> brief_words_of(const grading::verdict::CaseVerdict& kase, const Totals& totals) {
  std::vector<std::string> parts;
  const bool broken_off = kase.failure.has_value();
  if (totals.end > Nanos(0)) parts.push_back((broken_off ? "broken off at " : "") + to_text(totals.end));
  if (totals.computes && !broken_off) parts.push_back(fmt::format("bubble {:.1f}%", 100 * totals.idle));
  if (totals.computes && totals.transfer > Nanos(0) && !broken_off) {
    parts.push_back(fmt::format("overlap {:.0f}%", 100 * (totals.overlapped / totals.transfer)));
  }
  const bool alone = kase.counters.size() == 1;
  parts.push_back("peak " + shortest(totals.peak) + (alone ? "" : fmt::format(" rank {}", totals.peak_rank)));
  if (totals.sent == Bytes(0)) return parts;
  parts.push_back(totals.sent_equal ? fmt::format("sent {} each", shortest(totals.sent_by_most))
                                    : fmt::format("sent {} in all", shortest(totals.sent)));
  return parts;
}

/// The parts in lines of at most `width`, broken between parts where that is possible.
std::vector<std::string> joined(const std::vector<std::string>& parts, const Style& style, int width) {
  const std::string between = style.pick(" · ", ", ");
  std::vector<std::string> lines;
  for (const std::string& part : parts) {
    if (!lines.empty() && columns_of(lines.back()) + columns_of(between) + columns_of(part) <= width) {
      lines.back().append(between).append(part);
    } else {
      for (const std::string& line : wrap(part, width)) lines.push_back(line);
    }
  }
  return lines;
}

std::string place_text(const Totals& totals) {
  if (totals.peak_line <= 0) return "";
  return fmt::format("peak at {}", to_text(Location{totals.peak_file.c_str(), totals.peak_line}));
}

}  // namespace

std::string brief(Bytes size) {
  const std::string text = to_text(size);
  return text.substr(0, text.find(" ("));
}

std::vector<std::string> summary_lines(const grading::verdict::CaseVerdict& kase, const Totals& totals,
                                       const Style& style, int width, const std::string& note) {
  if (kase.counters.empty()) return {};
  std::vector<std::string> lines = joined(words_of(kase, totals), style, width);
  if (lines.size() > 1) lines = joined(brief_words_of(kase, totals), style, width);
  std::vector<std::string> details;
  for (const std::string& text : {harmless_line(place_text(totals), style.charset()), note}) {
    if (!text.empty()) details.push_back(text);
  }
  for (const std::string& line : joined(details, style, width)) lines.push_back(style(Role::dim, line));
  return lines;
}

}  // namespace shardlings::report
