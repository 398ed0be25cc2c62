#include "report/sweep_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "report/harmless.h"
#include "report/plain_page.h"
#include "report/summary.h"
#include "report/sweep_picture.h"
#include "report/sweep_text.h"

namespace shardlings::report {
namespace {

using simulation::SweepPoint;
using simulation::SweepResult;
using simulation::SweepVariable;

/// Each shade brings its own ink, so that both colour schemes can read it (WCAG 2.1, 1.4.3).
constexpr const char* kMapStyle = R"CSS(.map td { border: 2px solid transparent; background-clip: padding-box; }
.t0 { background-color: #1d3f8a; color: #fff; } .t1 { background-color: #2f62c9; color: #fff; }
.t2 { background-color: #7ba0e8; color: #10131a; } .t3 { background-color: #a9c2f2; color: #10131a; }
.t4 { background-color: #cbdaf8; color: #10131a; } .t5 { background-color: #e9f0fd; color: #10131a; }
.full { background-color: #e4e4e7; color: #3f3f46; } .map td.best { border-color: #d97706; font-weight: 700; }
svg { width: 100%; min-width: 40rem; height: auto; }
@media (prefers-color-scheme: dark) { .full { background-color: #3f3f46; color: #d4d4d8; } }
)CSS";
constexpr int kShades = 6;

/// Of all that came to an end, whether they fit or not.
struct Extremes {
  Nanos shortest{std::numeric_limits<std::int64_t>::max()}, longest;
};

Extremes extremes_of(const std::vector<SweepResult>& results) {
  Extremes of;
  for (const SweepResult& result : results) {
    if (!result.finished) continue;
    of.shortest = std::min(of.shortest, result.end);
    of.longest = std::max(of.longest, result.end);
  }
  return of;
}

/// The faster, the darker; in equal steps of the ratio, since times differ by factors.
int shade_of(Nanos time, const Extremes& extremes) {
  const double ratio = extremes.longest / extremes.shortest;
  if (ratio <= 1) return 0;
  const double part = std::log(time / extremes.shortest) / std::log(ratio);
  return std::min(kShades - 1, static_cast<int>(part * kShades));
}

std::string excess_text(const SweepPoint& point, const SweepResult& result) {
  return fmt::format("{} on the fullest rank, {} too much", brief(result.peak),
                     brief(result.peak - point.kase.capacity));
}

/// Writes the parts of a page one behind the other.
class Page {
 public:
  explicit Page(const SweepPage& page)
      : page_(page),
        variables_(*page.variables),
        points_(*page.points),
        results_(*page.results),
        extremes_(extremes_of(results_)) {}

  std::string html() {
    add_maps();
    add_frontier();
    add_table();
    return plain_page(page_.title, page_.subtitle, kMapStyle, html_);
  }

 private:
  std::size_t rows() const { return variables_[0].values.size(); }
  std::size_t columns() const { return variables_.size() > 1 ? variables_[1].values.size() : 1; }
  std::size_t maps() const { return points_.size() / (rows() * columns()); }
  bool is_best(std::size_t i) const { return static_cast<int>(i) == page_.fastest; }

  /// The values of the variables behind the second, which a map is for.
  std::string caption_of(std::size_t map) const {
    if (maps() == 1) return "";
    const std::vector<SweepVariable> others(variables_.begin() + 2, variables_.end());
    const std::vector<double>& values = points_[map].values;
    return combination_text(others, {values.begin() + 2, values.end()});
  }

  void add_maps() {
    html_ += "<h2>Time of a step</h2>\n<p>The faster, the darker. Grey needs more memory than the device has.</p>\n";
    for (std::size_t map = 0; map < maps(); ++map) {
      html_ +=
          fmt::format("<div class=\"scroll\"><table class=\"map\"><caption>{}</caption>\n<tr><th scope=\"col\">{}</th>",
                      markup(caption_of(map)), markup(corner()));
      for (std::size_t column = 0; column < columns(); ++column) {
        html_ +=
            fmt::format("<th scope=\"col\">{}</th>",
                        variables_.size() > 1 ? markup(variables_[1].text_of(variables_[1].values[column])) : "time");
      }
      html_ += "</tr>\n";
      for (std::size_t row = 0; row < rows(); ++row) {
        html_ += fmt::format("<tr><th scope=\"row\">{}</th>", markup(variables_[0].text_of(variables_[0].values[row])));
        for (std::size_t column = 0; column < columns(); ++column) add_cell((row * columns() + column) * maps() + map);
        html_ += "</tr>\n";
      }
      html_ += "</table></div>\n";
    }
  }

  std::string corner() const {
    return variables_.size() > 1 ? variables_[0].name + " \\ " + variables_[1].name : variables_[0].name;
  }

  void add_cell(std::size_t i) {
    const SweepPoint& point = points_[i];
    const SweepResult& result = results_[i];
    if (!point.refusal.empty() || !result.finished) {
      const std::string why = point.refusal.empty() ? result.ending : point.refusal;
      html_ += fmt::format("<td title=\"{}\">{}</td>", markup(why), point.refusal.empty() ? "failed" : "–");
      return;
    }
    const std::string style = !result.fits ? "full" : fmt::format("t{}", shade_of(result.end, extremes_));
    html_ += fmt::format("<td class=\"{}{}\" title=\"{}\">{}</td>", style, is_best(i) ? " best" : "",
                         markup(result.fits ? brief(result.peak) + " on the fullest rank" : excess_text(point, result)),
                         to_text(result.end));
  }

  void add_frontier() {
    html_ +=
        "<h2>Time against memory</h2>\n<p>Each point is a combination; of those on the line none is both faster and "
        "smaller. Red ones, above the dashed line, do not fit; those at the upper edge need still more.</p>\n<div "
        "class=\"scroll\">";
    html_ += sweep_picture(page_);
    html_ += "</div>\n<ol>\n";
    for (const std::size_t i : on_the_frontier(page_)) {
      html_ += fmt::format("<li>{}: {}, {}</li>\n", markup(combination_text(variables_, points_[i].values)),
                           to_text(results_[i].end), brief(results_[i].peak));
    }
    html_ += "</ol>\n";
  }

  void add_table() {
    html_ +=
        "<h2>All of them</h2>\n<div class=\"scroll\"><table>\n<tr><th scope=\"col\">combination</th><th "
        "scope=\"col\">time</th><th scope=\"col\">peak</th><th scope=\"col\">sent</th><th "
        "scope=\"col\">note</th></tr>\n";
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const SweepPoint& point = points_[i];
      const SweepResult& result = results_[i];
      html_ += fmt::format("<tr><th scope=\"row\">{}</th>", markup(combination_text(variables_, point.values)));
      if (!point.refusal.empty() || !result.finished) {
        html_ += fmt::format("<td colspan=\"4\" class=\"note\">{}</td></tr>\n",
                             markup(point.refusal.empty() ? result.ending : point.refusal));
        continue;
      }
      const char* note = is_best(i) ? "fastest that fits" : result.on_frontier ? "on the line" : "";
      html_ += fmt::format("<td>{}</td><td>{}</td><td>{}</td><td class=\"note\">{}</td></tr>\n", to_text(result.end),
                           brief(result.peak), brief(result.sent), result.fits ? note : excess_text(point, result));
    }
    html_ += "</table></div>\n";
  }

  const SweepPage& page_;
  const std::vector<SweepVariable>& variables_;
  const std::vector<SweepPoint>& points_;
  const std::vector<SweepResult>& results_;
  Extremes extremes_;
  std::string html_;
};

}  // namespace

std::string sweep_page(const SweepPage& page) {
  return Page(page).html();
}

}  // namespace shardlings::report
