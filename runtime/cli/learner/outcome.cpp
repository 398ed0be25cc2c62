#include "cli/learner/outcome.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/text.h"
#include "report/choice.h"
#include "report/totals.h"

namespace shardlings::cli::learner {

using cases::Manifest;
using grading::verdict::Status;
using grading::verdict::Verdict;
using report::Role;

namespace {

/// The sentence of a diagnosis, from the first check that carries it.
std::string text_of(const Verdict& verdict, const std::string& id) {
  for (const auto& kase : verdict.cases) {
    for (const auto& check : kase.checks) {
      if (check.diagnosis == id && !check.diagnosis_text.empty()) return check.diagnosis_text;
    }
  }
  return {};
}

/// "Case "4 ranks": 13.69 ms; 17.95 ms if ...", where overlapping has gained something.
std::string gain_text(const Verdict& verdict) {
  const grading::verdict::CaseVerdict* kase = report::case_to_show(verdict);
  if (kase == nullptr) return {};
  const Nanos end = report::totals_of(kase->counters).end, plain = report::end_without_overlap(kase->counters);
  if (plain <= end) return {};
  return fmt::format(
      "  Case \"{}\": {}; {} if the slowest rank had waited for all transfer that went on while it computed.\n",
      kase->kase.name, to_text(end), to_text(plain));
}

/// A case that is open: how early the run ended, and a bound that no run can beat.
struct OpenCase {
  std::string name;
  Nanos end, bound;
};

std::vector<OpenCase> open_cases(const Verdict& verdict) {
  std::vector<OpenCase> open;
  for (const auto& kase : verdict.cases) {
    for (const auto& check : kase.checks) {
      for (const grading::verdict::Bound& bound : check.bounds) {
        const bool is_time = bound.unit == grading::verdict::Unit::ns;
        if (kase.kase.hidden || !is_time || bound.relation != grading::verdict::Bound::Relation::at_least) continue;
        open.push_back({kase.kase.name, Nanos(bound.found), Nanos(bound.bound)});
      }
    }
  }
  return open;
}

/// How near the runs of open cases came to what is possible, now and at best.
std::string records_text(const Verdict& verdict, const PuzzleProgress& progress) {
  std::string text;
  for (const OpenCase& open : open_cases(verdict)) {
    const auto best = progress.records.find(open.name);
    text += fmt::format("  Case \"{}\": {}; no run can take less than {}", open.name, to_text(open.end),
                        to_text(open.bound));
    const bool was_better = best != progress.records.end() && Nanos(best->second) < open.end;
    text += was_better ? fmt::format("; your best was {}.\n", to_text(Nanos(best->second))) : ".\n";
  }
  return text;
}

}  // namespace

bool passes_milestone(const Verdict& verdict, const cases::Milestone& milestone) {
  const auto is_bonus = [&](const std::string& id) {
    return std::any_of(verdict.checks.begin(), verdict.checks.end(),
                       [&](const auto& check) { return check.spec.id == id && check.spec.bonus; });
  };
  return std::all_of(milestone.cases.begin(), milestone.cases.end(), [&](const std::string& name) {
    const auto kase = std::find_if(verdict.cases.begin(), verdict.cases.end(),
                                   [&](const auto& judged) { return judged.kase.name == name; });
    return kase != verdict.cases.end() && std::all_of(kase->checks.begin(), kase->checks.end(), [&](const auto& check) {
             return check.passed == true || is_bonus(check.id);
           });
  });
}

namespace {

/// What there is to win beyond the pass.
std::string bonus_text(const Verdict& verdict) {
  std::string text;
  for (const grading::verdict::CheckSummary& check : verdict.checks) {
    if (!check.spec.bonus || check.passed == true) continue;
    text += fmt::format("  Still open, for {} points more. {}.\n", check.spec.points, check.spec.title);
  }
  return text;
}

std::string congratulation(const Context& context, const Course& course, const Manifest& puzzle, const Verdict& verdict,
                           const Progress& progress) {
  const std::string name = short_name(puzzle);
  std::string text = "\n" + context.tick() + " " +
                     context.paint(Role::good, fmt::format("{} {} is solved: {} of {} points.", name, puzzle.title,
                                                           verdict.points, verdict.max_points)) +
                     "\n" + gain_text(verdict) + records_text(verdict, progress.of(puzzle.id)) + bonus_text(verdict);
  if (std::filesystem::exists(context.project.after_file(puzzle.id))) {
    text += fmt::format("  Numbers that it leads to: ./shardlings predict {} --after\n", name);
    text += fmt::format("  Why it costs what it costs, and answers: ./shardlings explain {} --after\n", name);
  }
  const bool has_solution = std::filesystem::exists(context.project.solution_file(puzzle.id));
  text += !has_solution ? fmt::format("  Hints are worth reading now, all of them: ./shardlings hint {} --all\n", name)
                        : fmt::format("  Hints and the solution are worth reading: ./shardlings solution {}\n", name);
  if (const Manifest* next = course.next_after(puzzle.id, progress)) {
    text += fmt::format("  Next: {} {}: ./shardlings explain {}\n", short_name(*next), next->title, short_name(*next));
  } else {
    text += "  That was the last one: every puzzle is solved.\n";
  }
  return text;
}

std::string hash_of(const cases::Case& kase) {
  return content_hash(cases::to_json(kase));
}

/// What a run of a case came to. Counters are the same on every machine.
CaseRecord record_of(const grading::verdict::CaseVerdict& kase, const std::vector<OpenCase>& open,
                     const std::string& hash) {
  const report::Totals totals = report::totals_of(kase.counters);
  const auto bound =
      std::find_if(open.begin(), open.end(), [&](const OpenCase& o) { return o.name == kase.kase.name; });
  return {totals.end.value(),
          totals.peak.value(),
          totals.sent.value(),
          std::llround(totals.idle * 1e6),
          bound == open.end() ? 0 : bound->bound.value(),
          hash_of(kase.kase),
          hash};
}

/// Numbers of a case that was changed since are not mixed with those of the case as it was.
void remember_bests(PuzzleProgress& progress, const Verdict& verdict, const std::string& hash) {
  const std::vector<OpenCase> open = open_cases(verdict);
  for (const grading::verdict::CaseVerdict& kase : verdict.cases) {
    if (kase.kase.hidden || kase.kase.question || kase.counters.empty()) continue;
    const CaseRecord now = record_of(kase, open, hash);
    CaseRecord& best = progress.bests.emplace(kase.kase.name, now).first->second;
    if (best.of_case != now.of_case || best.end_ns < now.bound_ns) {
      best = now;
      progress.records.erase(kase.kase.name);
    }
    best.bound_ns = now.bound_ns;
    if (now.end_ns < best.end_ns) best.file = now.file;
    best.end_ns = std::min(best.end_ns, now.end_ns);
    best.peak_bytes = std::min(best.peak_bytes, now.peak_bytes);
    best.sent_bytes = std::min(best.sent_bytes, now.sent_bytes);
    best.idle_ppm = std::min(best.idle_ppm, now.idle_ppm);
  }
}

}  // namespace

bool still_holds(const CaseRecord& record, const Manifest& puzzle, const std::string& name) {
  const cases::Case* kase = puzzle.find_case(name);
  return kase != nullptr && hash_of(*kase) == record.of_case && record.end_ns >= record.bound_ns;
}

void remember_diagnoses(PuzzleProgress& progress, const Verdict& verdict) {
  if (verdict.status == Status::did_not_build) return;  // nothing ran: what the run before showed is still to be mended
  progress.diagnoses.clear();
  for (const std::string& id : verdict.diagnoses) progress.diagnoses.push_back({id, text_of(verdict, id)});
}

void remember_run(PuzzleProgress& progress, const Verdict& verdict, const std::string& hash) {
  remember_diagnoses(progress, verdict);
  if (hash != progress.last_hash) {
    progress.explained = {};  // that was about another program
    if (verdict.status == Status::graded) ++progress.attempts;
  }
  progress.last_hash = hash;
  progress.last_passed = verdict.passed;
  progress.last_points = verdict.points;
  progress.points = std::max(progress.points, verdict.points);
  if (!verdict.passed) return;
  progress.solved_hash = hash;
  remember_bests(progress, verdict, hash);
  for (const OpenCase& open : open_cases(verdict)) {
    std::int64_t& best = progress.records.emplace(open.name, open.end.value()).first->second;
    best = std::min(best, open.end.value());
  }
}

void remember_milestones(PuzzleProgress& progress, const Manifest& puzzle, const Verdict& verdict) {
  for (const cases::Milestone& milestone : puzzle.milestones) {
    if (!milestone.cases.empty() && passes_milestone(verdict, milestone)) progress.milestones.insert(milestone.letter);
  }
}

std::string closing_words_of_milestone(const Context& context, const Manifest& puzzle,
                                       const cases::Milestone& milestone, const Verdict& verdict) {
  const std::string name = short_name(puzzle);
  if (!verdict.passed) {
    return verdict.status == Status::graded ? fmt::format("\nStuck? ./shardlings hint {}\n", name) : std::string();
  }
  const cases::Milestone& next = *(&milestone + 1);  // the last one is the whole puzzle, and this one is not
  return fmt::format(
      "\n{} {}\n  Points are for the whole puzzle.\n  Next: {}{} {}: ./shardlings run {}{}\n", context.tick(),
      context.paint(Role::good, fmt::format("{}{} {} is done.", name, milestone.letter, milestone.title)), name,
      next.letter, next.title, name, next.letter);
}

std::string closing_words(const Context& context, const Course& course, const Manifest& puzzle, const Verdict& verdict,
                          const Progress& progress) {
  if (verdict.passed) return congratulation(context, course, puzzle, verdict, progress);
  // The report of an unfilled hole, or of a machine that is at fault, says itself what to do.
  if (verdict.status == Status::not_implemented || verdict.status == Status::not_judged) return {};
  // What the compiler says is no reason to give a hint away.
  if (verdict.status == Status::did_not_build) return {};
  return fmt::format("\nStuck? ./shardlings hint {}\n", short_name(puzzle));
}

}  // namespace shardlings::cli::learner
