#include "report/shown_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/dtype.h"
#include "base/terminal_text.h"
#include "base/text.h"
#include "report/harmless.h"
#include "report/report_lines.h"

namespace shardlings::report {
namespace {

using front::Shown;
using front::ShownRow;
using grading::verdict::ShownByRanks;

constexpr int kIndent = 4;

/// As wide as the longest one, so that columns stand one below another.
std::string number_text(double x, DType dtype) {
  if (dtype == DType::i32) return fmt::format("{:>11.0f}", x);
  return fmt::format("{:>10.4g}", x);
}

std::string heading(const ShownByRanks& one, const Style& style) {
  const Shown& what = one.what;
  const std::string label = what.label.empty() ? "" : ": " + harmless_line(what.label, style.charset());
  return fmt::format("{}, {}{}", ranks_text(one.ranks), to_text(Location{what.file.c_str(), what.line}), label);
}

/// "(2, 3, 8) f32 activation on the host, layer 1, micro-batch 0".
std::string type_text(const Shown& what) {
  std::string text = fmt::format("{} {} {}", to_text(what.shape), name_of(what.dtype), name_of(what.kind));
  if (what.memory == front::Memory::host) text += " on the host";
  if (what.layer >= 0) text += fmt::format(", layer {}", what.layer);
  if (what.micro >= 0) text += fmt::format(", micro-batch {}", what.micro);
  return text;
}

/// "min -1.5  max 2  mean 0.25  norm 3  2 NaN", of which the first four are those of the finite elements.
std::string statistics_text(const Shown& what) {
  std::string text = what.finite() == 0 ? "no finite element"
                                        : fmt::format("min {:.4g}  max {:.4g}  mean {:.4g}  norm {:.4g}", what.min,
                                                      what.max, what.mean, what.norm);
  if (what.nan > 0) text += fmt::format("  {} NaN", what.nan);
  if (what.infinite > 0) text += fmt::format("  {} infinite", what.infinite);
  return text;
}

/// As many columns as there is room for, the first and the last ones.
std::string row_text(const ShownRow& row, const Shown& what, int room, const Style& style) {
  const std::string gap = fmt::format(" {:>3}", style.pick("…", "..."));
  const int width = 1 + columns_of(number_text(0, what.dtype));
  const auto all = static_cast<int>(row.values.size());
  int fitting = room / width;
  const bool cut = what.shape.cols() > std::min(all, fitting);
  if (cut) fitting = std::min(all, (room - columns_of(gap)) / width);
  const int last = cut ? std::min(fitting / 3, Shown::kLastColumns) : 0;
  const int first = cut ? std::min(fitting - last, all) : all;
  std::string text;
  for (int i = 0; i < all; ++i) {
    if (cut && i == first) text += gap, i = std::max(i, all - last);
    if (i < all) text += " " + number_text(row.values[static_cast<std::size_t>(i)], what.dtype);
  }
  if (cut && first == all) text += gap;
  return text;
}

void rows_of(const Shown& what, ReportLines& page) {
  const Style& style = page.style();
  const bool named = what.shape.rows() > 1;
  const int label = named && !what.rows.empty() ? columns_of(fmt::format("row {}", what.rows.back().row)) : 0;
  Count next = 0;
  for (const ShownRow& row : what.rows) {
    if (row.row != next) page.line(spaces(kIndent) + style(Role::dim, style.pick("…", "...")));
    next = row.row + 1;
    const std::string name = named ? padded(fmt::format("row {}", row.row), label) : "";
    page.line(spaces(kIndent) + style(Role::dim, name) + row_text(row, what, page.width() - kIndent - label, style));
  }
}

void add(const ShownByRanks& one, ReportLines& page) {
  const Shown& what = one.what;
  page.text(heading(one, page.style()), 2, Role::place);
  if (!what.there) return page.text("empty: moved from, used up, or never allocated", kIndent);
  if (what.shape.size() == 0) return page.text(type_text(what) + ": no element", kIndent);
  if (what.shape.size() == 1 && what.rows.size() == 1) {
    const std::string value = number_text(what.rows[0].values.at(0), what.dtype);
    return page.text(fmt::format("{}: {}", type_text(what), trimmed(value)), kIndent);
  }
  page.text(type_text(what), kIndent);
  page.text(statistics_text(what), kIndent);
  rows_of(what, page);
}

}  // namespace

std::vector<std::string> shown_lines(const grading::verdict::CaseVerdict& kase, const Style& style,
                                     const ShownText& how) {
  ReportLines page(style, how.width);
  if (kase.shown.empty()) return {};
  page.text("What was shown: " + harmless_line(kase.kase.name, style.charset()), 0);
  const std::size_t all = kase.shown.size();
  const std::size_t shown = how.most > 0 ? std::min(all, static_cast<std::size_t>(how.most)) : all;
  for (std::size_t i = 0; i < shown; ++i) add(kase.shown[i], page);
  if (shown < all) page.text(fmt::format("{} more with -v", all - shown), 2, Role::dim);
  if (kase.shows_left_out > 0) {
    page.text(fmt::format("{} more were not kept: of each rank there are the first {}", kase.shows_left_out,
                          front::Shows::kMost),
              2, Role::dim);
  }
  return page.take();
}

}  // namespace shardlings::report
