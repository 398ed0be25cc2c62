#include "report/terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "base/terminal_text.h"
#include "base/text.h"
#include "report/choice.h"
#include "report/harmless.h"
#include "report/report_lines.h"
#include "report/shown_text.h"
#include "report/timeline_text.h"

namespace shardlings::report {
namespace {

using grading::verdict::CaseVerdict;
using grading::verdict::CheckSummary;
using grading::verdict::CheckVerdict;
using grading::verdict::Status;
using grading::verdict::Verdict;

/// How much is shown: given up step by step where the lines are limited.
struct Detail {
  bool every_case = false;  // all failed cases of a check
  int failures = 1000;      // checks shown with all they say
  int output = 10;          // lines of what the program printed
  int shows = 8;            // of each case whose shows are listed; 0: all
  bool passed_checks = true;
  bool count_passed = true;  // how many they are, where they are not listed
  bool other_cases = true;   // on which a check fails, by name
  bool timeline = true;
  int ranks = kMostRankRows;
  MemoryRows memory = MemoryRows::strips_and_lines;
  bool legend = true;
};

/// The goal of the same case, where the learner's run fails a check of its time; nullptr elsewhere.
const CaseVerdict* goal_of_time(const CaseVerdict& kase, const Verdict& goal, const Verdict& verdict) {
  const bool is_late = std::any_of(verdict.checks.begin(), verdict.checks.end(), [&](const CheckSummary& check) {
    return check.spec.kind == cases::CheckKind::time && failed_check(kase, check.spec.id) != nullptr;
  });
  const auto same = std::find_if(goal.cases.begin(), goal.cases.end(),
                                 [&](const CaseVerdict& other) { return other.kase.name == kase.kase.name; });
  return is_late && same != goal.cases.end() ? &*same : nullptr;
}

class Report {
 public:
  Report(const Verdict& verdict, const TerminalOptions& options, const Style& style, const Detail& detail)
      : verdict_(verdict), options_(options), style_(style), detail_(detail), page_(style, options.width) {}

  std::vector<std::string> lines() {
    headline();
    walls();
    if (verdict_.status == Status::did_not_build) {
      build_log();
    } else {
      if (verdict_.status == Status::not_implemented) not_implemented();
      if (verdict_.status == Status::no_check_ran) no_check_ran();
      if (verdict_.status == Status::not_judged) not_judged();
      for (const CheckSummary& check : verdict_.checks) summary(check);
      if (!detail_.passed_checks && detail_.count_passed) passed_in_one_line();
      printed_elsewhere();
      shown();
      picture();
    }
    return page_.take();
  }

 private:
  void headline() {
    const std::string name = options_.title.empty() ? readable(verdict_.puzzle) : options_.title;
    const std::string points =
        options_.points ? fmt::format("{} of {} points", verdict_.points, verdict_.max_points) : "";
    std::string state = options_.points ? points : "not passed";
    Role role = Role::bad;
    if (verdict_.status == Status::did_not_build) {
      state = "does not compile";
    } else if (verdict_.status == Status::not_implemented) {
      state = "not implemented yet";
      role = Role::warning;
    } else if (verdict_.status == Status::no_check_ran) {
      state = "could not be graded";
    } else if (verdict_.status == Status::not_judged) {
      state = "not judged";
      role = Role::warning;
    } else if (verdict_.passed) {
      state = options_.points ? "passed, " + points : "passed";
      role = Role::good;
    }
    const std::string title = harmless_line(name, style_.charset());
    const std::string_view shown = first_columns(title, options_.width - columns_of(state) - 2);
    page_.line(style_(Role::strong, shown) + "  " + style_(role, state));
  }

  // What the verdict is worth where the code was not trusted.
  void walls() {
    if (!verdict_.walls.own_process) return;
    page_.text(fmt::format("In jails of tier {}: {}", verdict_.walls.tier(), fmt::join(words_of(verdict_.walls), ", ")),
               0, Role::dim);
  }

  // "09_data_parallel" -> "09 data parallel".
  static std::string readable(std::string name) {
    std::replace(name.begin(), name.end(), '_', ' ');
    return name;
  }

  void build_log() {
    page_.blank();
    page_.text(verdict_.build_log, 0);
    page_.blank();
    page_.text("Nothing was run. The first error is the one to look at; later ones often follow from it.", 0,
               Role::dim);
  }

  void not_implemented() {
    std::string place;
    for (const CaseVerdict& kase : verdict_.cases) {
      for (const CheckVerdict& check : kase.checks) {
        if (place.empty() && check.where.line > 0) place = place_text(check.where);
      }
    }
    const std::string hole = place.empty() ? "in puzzle.cpp" : "at " + place;
    const std::string number = verdict_.puzzle.substr(0, verdict_.puzzle.find('_'));
    page_.text(fmt::format("The marked hole {} is still to be filled. What it is about: ./shardlings explain {}. "
                           "A first hint: ./shardlings hint {}.",
                           hole, number, number),
               0);
    if (!verdict_.checks.empty()) page_.line(style_(Role::dim, "It will be asked for:"));
  }

  void no_check_ran() {
    page_.text("No check came to a result, so this is not a pass. It is no fault of the solution alone.", 0);
    for (const CaseVerdict& kase : verdict_.cases) {
      if (!kase.explanation.empty()) page_.text(kase.explanation, 2);
    }
  }

  void not_judged() {
    std::size_t without = 0;
    for (const CaseVerdict& kase : verdict_.cases) {
      without += std::any_of(kase.checks.begin(), kase.checks.end(), [](const auto& c) { return !c.reason.empty(); });
    }
    const std::string some = without > 0 && without < verdict_.cases.size()
                                 ? fmt::format("{} of {} cases could not be judged: ", without, verdict_.cases.size())
                                 : "Nothing could be judged: ";
    page_.text(some + verdict_.reason, 0);
    page_.text("That is no fault of the solution: no points are given or taken, and nothing is noted.", 0, Role::dim);
  }

  std::string place_text(const wire::Place& place) const {
    return harmless_line(to_text(Location{place.file.c_str(), place.line}), style_.charset());
  }

  void summary(const CheckSummary& check) {
    // A stub is not wrong: what it will be asked for is listed, and nothing is said to have failed.
    const bool judged = verdict_.status == Status::graded || verdict_.status == Status::not_judged;
    const bool failed = judged && check.passed.has_value() && !*check.passed;
    const bool passed = judged && check.passed.value_or(false);
    const std::string points =
        failed || passed ? fmt::format("{}/{}", check.earned, check.spec.points) : fmt::format("{}", check.spec.points);
    const auto elsewhere = options_.belongs.find(check.spec.id);
    if (failed && has_no_end(check.spec.id)) run_without_end(check);
    if (passed && elsewhere != options_.belongs.end()) {
      waiting(check, fmt::format("{}", check.spec.points), fmt::format(" (belongs to {})", elsewhere->second));
    } else if (failed && !is_judged_false(check.spec.id)) {
      waiting(check, fmt::format("{}", check.spec.points), " (waits for: the run)");
    } else if (failed) {
      const std::string mark = check.spec.bonus ? style_.pick("○", "open") : style_.pick("✗", "FAIL");
      page_.with_right(mark, title_of(check), points, check.spec.bonus ? Role::warning : Role::bad, 0);
      failures(check, [](const CaseVerdict& kase) { return kase.ending == wire::Ending::finished; });
    } else if (passed) {
      if (detail_.passed_checks) page_.with_right(style_.pick("✓", "ok"), title_of(check), points, Role::good, 0);
    } else {
      waiting(check, points, why_waiting(check));
    }
  }

  const std::string& title_of(const CheckSummary& check) const {
    const auto own = options_.titles.find(check.spec.id);
    return own == options_.titles.end() ? check.spec.title : own->second;
  }

  std::string why_waiting(const CheckSummary& check) const {
    if (verdict_.status == Status::not_implemented) return {};
    if (check.blocked_by.empty()) return " (not judged)";
    const bool by_run = has_no_end(check.blocked_by) && !is_judged_false(check.blocked_by);
    return fmt::format(" (waits for: {})", by_run ? "the run" : check.blocked_by);
  }

  /// The check has failed on a case, and that because the case's run did not come to its end.
  bool has_no_end(const std::string& check) const {
    return std::any_of(verdict_.cases.begin(), verdict_.cases.end(), [&](const CaseVerdict& kase) {
      return kase.ending != wire::Ending::finished && failed_check(kase, check) != nullptr;
    });
  }

  /// It has failed by what it looks for, too, maybe on a case that is hidden.
  bool is_judged_false(const std::string& check) const {
    return !has_no_end(check) || std::any_of(verdict_.cases.begin(), verdict_.cases.end(), [&](const auto& kase) {
      return kase.ending == wire::Ending::finished && failed_check(kase, check) != nullptr;
    });
  }

  /// A crash, a deadlock and the like are booked on one check, and have nothing to do with what it looks for.
  void run_without_end(const CheckSummary& check) {
    page_.with_right(style_.pick("✗", "FAIL"), "The run did not come to its end", "", Role::bad, 0);
    failures(check, [](const CaseVerdict& kase) { return kase.ending != wire::Ending::finished; });
  }

  // One line for a check that was not judged, whatever its title's length.
  void waiting(const CheckSummary& check, const std::string& points, const std::string& reason) {
    const std::string title = harmless_line(title_of(check), style_.charset());
    const int room = options_.width - 4 - columns_of(reason) - columns_of(points);
    const std::string cut = columns_of(title) <= room ? title : std::string(first_columns(title, room - 3)) + "...";
    page_.with_right(style_.pick("·", "-"), cut + reason, points, Role::dim, 0);
  }

  void passed_in_one_line() {
    const auto passed = std::count_if(verdict_.checks.begin(), verdict_.checks.end(),
                                      [](const CheckSummary& check) { return check.passed.value_or(false); });
    if (passed == 0) return;
    page_.with_right(style_.pick("✓", "ok"), fmt::format("{} {} passed", passed, passed == 1 ? "check" : "checks"), "",
                     Role::good, 0);
  }

  /// The first case that names a cause, or else the first: two numbers say less than two numbers and a sentence.
  static const CaseVerdict* most_telling(const std::vector<const CaseVerdict*>& failed, const std::string& check) {
    if (failed.empty()) return nullptr;
    const auto named = std::find_if(failed.begin(), failed.end(), [&](const CaseVerdict* kase) {
      return !failed_check(*kase, check)->diagnosis_text.empty();
    });
    const bool is_explained = !failed_check(*failed.front(), check)->diagnosis.empty();
    return is_explained || named == failed.end() ? failed.front() : *named;
  }

  /// On those of the cases that are meant. How many checks show theirs is limited.
  template <class Meant>
  void failures(const CheckSummary& check, const Meant& is_meant) {
    if (shown_failures_++ >= detail_.failures) return;
    std::vector<const CaseVerdict*> failed;
    for (const CaseVerdict& kase : verdict_.cases) {
      if (failed_check(kase, check.spec.id) != nullptr && is_meant(kase)) failed.push_back(&kase);
    }
    const CaseVerdict* shown = most_telling(failed, check.spec.id);
    std::vector<std::string> others, not_run;
    for (const CaseVerdict* kase : failed) {
      if (kase == shown || detail_.every_case) {
        failure(*kase, *failed_check(*kase, check.spec.id));
      } else {
        (kase->ending == wire::Ending::not_run ? not_run : others).push_back(kase->kase.name);
      }
    }
    if (failed.empty()) page_.field("case", "a hidden one, of which nothing more is shown");
    if (!others.empty()) page_.field("also in", cases_text(others), Role::dim);
    if (!not_run.empty()) {
      page_.field("not run", fmt::format("{}: two cases before had no end", fmt::join(not_run, "; ")), Role::dim);
    }
  }

  std::string cases_text(const std::vector<std::string>& names) const {
    if (detail_.other_cases) return fmt::format("{}", fmt::join(names, "; "));
    return fmt::format("{} other case{}", names.size(), names.size() == 1 ? "" : "s");
  }

  void failure(const CaseVerdict& kase, const CheckVerdict& check) {
    page_.field("case", harmless_line(kase.kase.name, style_.charset()) +
                            (kase.kase.hidden ? " (not announced in the lesson)" : ""));
    if (!kase.explanation.empty() && explained_.insert(kase.explanation).second) {
      page_.text(kase.explanation, 4);
    }
    if (!repeats_explanation(kase, check)) {
      page_.field("expected", check.expected);
      page_.field("found", check.found);
      for (const std::string& line : check.details) page_.field("", line);
    }
    if (check.where.line > 0) page_.field("where", place_text(check.where), Role::place);
    page_.field("likely", check.diagnosis_text, Role::warning);
    page_.command_field("repeat", kase.reproduce);
    printed_output(kase);
  }

  void printed_output(const CaseVerdict& kase) {
    if (kase.stdout_text.empty() || detail_.output == 0 || !printed_.insert(&kase).second) return;
    page_.field("printed", "by the program itself:", Role::dim);
    page_.text(kase.stdout_text, 14, Role::plain, options_.verbose ? 0 : detail_.output);
  }

  // What the program printed where nothing has failed: for learners who are only just trying things out, or ask for it.
  void printed_elsewhere() {
    if (verdict_.status != Status::not_implemented && !options_.verbose) return;
    for (const CaseVerdict& kase : verdict_.cases) {
      if (!kase.stdout_text.empty()) return printed_output(kase);
    }
  }

  // Who calls show() wants to see it, whether anything has failed or not: of the case that the report is about, and of
  // all of them if asked for.
  void shown() {
    const CaseVerdict* chosen = case_with_shows(verdict_);
    std::vector<std::string> others;
    for (const CaseVerdict& kase : verdict_.cases) {
      if (kase.shown.empty()) continue;
      if (&kase != chosen && !options_.verbose) {
        others.push_back(harmless_line(kase.kase.name, style_.charset()));
        continue;
      }
      page_.blank();
      const ShownText how{options_.width, detail_.shows};
      for (std::string& line : shown_lines(kase, style_, how)) page_.line(std::move(line));
    }
    if (!others.empty()) page_.text(fmt::format("also shown in: {} (-v)", fmt::join(others, "; ")), 2, Role::dim);
  }

  void picture() {
    const CaseVerdict* kase = case_to_show(verdict_);
    if (kase == nullptr || !detail_.timeline || verdict_.status != Status::graded) return;
    TimelineText how{options_.width, "Where the time went: " + kase->kase.name, detail_.ranks, detail_.memory,
                     detail_.legend};
    how.goal = options_.goal == nullptr ? nullptr : goal_of_time(*kase, *options_.goal, verdict_);
    const auto lines = timeline_lines(*kase, style_, how);
    if (!lines.empty()) page_.blank();
    for (const std::string& line : lines) page_.line(line);
  }

  const Verdict& verdict_;
  const TerminalOptions& options_;
  const Style& style_;
  const Detail& detail_;
  ReportLines page_;
  int shown_failures_ = 0;
  std::set<std::string> explained_;
  std::set<const CaseVerdict*> printed_;
};

/// From all there is to the least that still says what is wrong: of that nothing is ever left out.
std::vector<Detail> levels(const TerminalOptions& options) {
  Detail full;
  full.every_case = options.verbose;
  if (options.verbose) full.shows = 0;
  full.timeline = options.timeline;
  std::vector<Detail> all{full};
  const auto next = [&](auto change) {
    all.push_back(all.back());
    change(all.back());
  };
  next([](Detail& d) { d.every_case = false, d.output = 4, d.memory = MemoryRows::strips; });
  next([](Detail& d) { d.legend = false, d.passed_checks = false; });
  next([](Detail& d) { d.ranks = 4, d.shows = 4; });
  next([](Detail& d) { d.memory = MemoryRows::worst; });
  next([](Detail& d) { d.other_cases = false, d.count_passed = false; });
  next([](Detail& d) { d.memory = MemoryRows::none, d.ranks = 1, d.failures = 1, d.output = 2, d.shows = 1; });
  next([](Detail& d) { d.timeline = false; });
  next([](Detail& d) { d.output = 0; });
  return all;
}

}  // namespace

std::string terminal_report(const Verdict& verdict, const TerminalOptions& given) {
  TerminalOptions options = given;
  options.width = std::clamp(given.width, 40, 200);
  const Style style(options.colour, options.charset);
  const auto most = static_cast<std::size_t>(std::max(0, options.max_lines));
  std::vector<std::string> lines;
  for (const Detail& detail : levels(options)) {
    lines = Report(verdict, options, style, detail).lines();
    if (most == 0 || lines.size() <= most) break;
  }
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

}  // namespace shardlings::report
