#include "grading/judge/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/text.h"
#include "base/version.h"
#include "grading/judge/diagnosis.h"
#include "grading/judge/needless_calls.h"
#include "grading/verdict/one_cause.h"

namespace shardlings::grading::judge {
namespace {

std::map<std::string, CheckFunction>& registry() {
  static std::map<std::string, CheckFunction> checks;  // filled before main(), read afterwards
  return checks;
}

AheadFunction& ahead() {
  static AheadFunction function = nullptr;
  return function;
}

/// What is about the output: nothing can be judged without it.
const cases::CheckSpec& output_check(const cases::Manifest& manifest) {
  const auto& checks = manifest.checks;
  const auto output = std::find_if(checks.begin(), checks.end(),
                                   [](const cases::CheckSpec& c) { return c.kind == cases::CheckKind::output; });
  return output == checks.end() ? checks.front() : *output;
}

bool is_asked_in(const cases::CheckSpec& check, front::RunPart part) {
  return (check.asked == cases::Asked::before && part == front::RunPart::before) ||
         (check.asked == cases::Asked::behind && part == front::RunPart::behind);
}

/// The check that is failed by a run that does not come to its end: the one that was asked for where it has ended.
const cases::CheckSpec& carrier(const cases::Manifest& manifest, const wire::Result& result) {
  const auto& checks = manifest.checks;
  const auto asked = std::find_if(checks.begin(), checks.end(),
                                  [&](const cases::CheckSpec& c) { return is_asked_in(c, result.ended_in); });
  return asked == checks.end() ? output_check(manifest) : *asked;
}

std::string diagnosis_of(const wire::Result& result) {
  if (result.ending == wire::Ending::failed && result.report.failure)
    return front::name_of(result.report.failure->kind);
  return name_of(result.ending);
}

/// Where a process that did not end by itself was; if its own line is not known, what the first rank that still ran had
/// called.
wire::Place last_place(const wire::Result& result) {
  if (result.stopped_at.line > 0) return result.stopped_at;
  for (const wire::LastWords& words : result.last_words) {
    if (words.state == "running" && words.line > 0) return {words.file, words.line};
  }
  return {};
}

void report_failed_run(const wire::Result& result, verdict::CheckVerdict& verdict) {
  verdict.passed = false;
  verdict.expected = "a run that comes to its end";
  verdict.diagnosis = diagnosis_of(result);
  std::vector<std::string> lines = lines_of(result.explanation);
  if (!lines.empty()) {
    verdict.found = lines.front();
    verdict.details.assign(lines.begin() + 1, lines.end());
  }
  const auto& failure = result.report.failure;
  verdict.where = failure ? wire::Place{failure->file, failure->line} : last_place(result);
}

verdict::Verdict empty_verdict(const cases::Manifest& manifest) {
  verdict::Verdict verdict;
  verdict.puzzle = manifest.id;
  verdict.max_points = manifest.max_points();
  verdict.version = version();
  return verdict;
}

/// The first reason why something could not be judged by a fault of the machine or of the tool; empty if there is none.
std::string reason_of(const verdict::Verdict& verdict) {
  for (const verdict::CaseVerdict& kase : verdict.cases) {
    for (const verdict::CheckVerdict& check : kase.checks) {
      if (!check.reason.empty()) return check.reason;
    }
  }
  return "";
}

verdict::Status status_of(const verdict::Verdict& verdict) {
  if (!verdict.reason.empty()) return verdict::Status::not_judged;
  bool any = false, untouched = !verdict.cases.empty();
  for (const verdict::CaseVerdict& kase : verdict.cases) {
    for (const verdict::CheckVerdict& check : kase.checks) any = any || check.passed.has_value();
    untouched = untouched && kase.failure == front::FailureKind::not_implemented;
  }
  if (!any) return verdict::Status::no_check_ran;
  return untouched ? verdict::Status::not_implemented : verdict::Status::graded;
}

}  // namespace

bool register_check(const char* id, CheckFunction function) {
  registry()[id] = function;
  return true;
}

const std::map<std::string, CheckFunction>& registered_checks() {
  return registry();
}

bool register_ahead(AheadFunction function) {
  ahead() = function;
  return true;
}

AheadFunction registered_ahead() {
  return ahead();
}

Judge::Judge(const cases::Manifest& manifest, run::CaseRuns& runs, Guard guard, SecretCases secret)
    : manifest_(manifest), runs_(runs), guard_(std::move(guard)), secret_(std::move(secret)) {}

void Judge::judge_case(std::size_t index) {
  for (const cases::CheckSpec& spec : manifest_.checks) verdict_of(spec.id, index);
}

const verdict::CheckVerdict& Judge::verdict_of(const std::string& check_id, std::size_t index) {
  const auto key = std::pair(check_id, index);
  if (const auto found = judged_.find(key); found != judged_.end()) return found->second;
  const cases::CheckSpec* spec = manifest_.check(check_id);
  if (!spec) throw std::logic_error(fmt::format("puzzle.toml declares no check '{}'", check_id));
  return judged_[key] = evaluate(*spec, index);
}

verdict::CheckVerdict Judge::evaluate(const cases::CheckSpec& spec, std::size_t index) {
  verdict::CheckVerdict verdict;
  verdict.id = spec.id;
  verdict.case_name = runs_.kase(index).name;
  if (can_be_judged(spec, index, verdict)) call(spec, index, verdict);
  if (!verdict.diagnosis.empty()) verdict.diagnosis_text = cause_text(manifest_, verdict.diagnosis);
  return verdict;
}

bool Judge::can_be_judged(const cases::CheckSpec& spec, std::size_t index, verdict::CheckVerdict& verdict) {
  const wire::Result& result = runs_.result(index);
  if (!wire::can_be_judged(result.ending)) {
    verdict.reason = result.explanation;
    return false;
  }
  if (result.ending != wire::Ending::finished) {
    const cases::CheckSpec& first = carrier(manifest_, result);
    if (first.id == spec.id) {
      report_failed_run(result, verdict);
    } else if (spec.asked == cases::Asked::before && result.ended_in != front::RunPart::before) {
      verdict.passed = true;
    } else {
      verdict.blocked_by = first.id;
    }
    return false;
  }
  for (const std::string& id : spec.after) {
    const verdict::CheckVerdict& before = verdict_of(id, index);
    if (before.passed == true) continue;
    verdict.blocked_by = before.passed.has_value() ? id : before.blocked_by;
    verdict.reason = before.reason;
    return false;
  }
  return true;
}

void Judge::call(const cases::CheckSpec& spec, std::size_t index, verdict::CheckVerdict& verdict) {
  const auto found = registry().find(spec.id);
  if (found == registry().end()) throw std::logic_error(fmt::format("grader.cpp defines no check '{}'", spec.id));
  CheckContext context(
      runs_.kase(index), runs_.result(index), [&]() -> const reference::Reference& { return runs_.reference(index); },
      verdict);
  std::string broke;
  const std::string wrong = guard_([&] {
    try {
      found->second(context);
    } catch (const std::bad_alloc&) {
      broke = "the machine had no memory for the grader. End other programs, or raise the limit (ulimit -v).";
    } catch (const std::exception& error) {
      broke = fmt::format(
          "the check '{}' of the grader broke ({}). That is a fault of the puzzle: tell its author, with the file that "
          "was graded.",
          spec.id, error.what());
    }
  });
  if (!broke.empty()) {  // whatever it has found before
    verdict::CheckVerdict none;
    none.id = verdict.id;
    none.case_name = verdict.case_name;
    none.reason = broke;
    verdict = none;
    return;
  }
  if (!wrong.empty()) context.fail("what grader.cpp expects", wrong);
  if (spec.id == output_check(manifest_).id) {
    if (!manifest_.host_reads) refuse_host_reads(context);
    if (!manifest_.store) refuse_store(context);
    if (!manifest_.survivors) refuse_survivors(context);
    refuse_products(context, manifest_.products);
    bound_products(context, manifest_.products);
    bound_sums(context, manifest_.products);
    require_products(context);
    bound_updates(context);
  }
  if (spec.kind == cases::CheckKind::communication && !manifest_.barriers) refuse_barriers(context);
  context.finish();
  if (context.failed() && context.suspects()) suspects_[{spec.id, index}] = *context.suspects();
}

void Judge::name_common_suspects(std::vector<verdict::CaseVerdict>& cases) const {
  for (const cases::CheckSpec& spec : manifest_.checks) {
    std::vector<std::vector<Suspect>> by_case;
    std::vector<verdict::CheckVerdict*> failed;
    for (std::size_t index = 0; index < cases.size(); ++index) {
      const auto found = suspects_.find({spec.id, index});
      for (verdict::CheckVerdict& check : cases[index].checks) {
        if (found == suspects_.end() || check.id != spec.id || check.passed != false) continue;
        by_case.push_back(found->second);
        failed.push_back(&check);
      }
    }
    const std::string cause = common_suspect(by_case);
    if (cause.empty()) continue;  // what a case has named by itself stays
    for (verdict::CheckVerdict* check : failed) {
      check->diagnosis = cause;
      check->diagnosis_text = cause_text(manifest_, cause);
    }
  }
}

verdict::CheckSummary Judge::summary(const cases::CheckSpec& spec, const std::vector<verdict::CaseVerdict>& cases) {
  verdict::CheckSummary summary;
  summary.spec = spec;
  summary.passed = cases.empty() ? std::nullopt : std::optional<bool>(true);
  for (const verdict::CaseVerdict& kase : cases) {
    const auto found = std::find_if(kase.checks.begin(), kase.checks.end(),
                                    [&](const verdict::CheckVerdict& check) { return check.id == spec.id; });
    const std::optional<bool> passed = found == kase.checks.end() ? std::nullopt : found->passed;
    if (passed == false) summary.passed = false;
    if (!passed && summary.passed == true) summary.passed = std::nullopt;
    if (passed || found == kase.checks.end()) continue;
    if (summary.blocked_by.empty()) summary.blocked_by = found->blocked_by;
    if (summary.reason.empty()) summary.reason = found->reason;
  }
  if (summary.passed == false) summary.reason.clear();
  if (summary.passed.has_value() || !summary.reason.empty()) summary.blocked_by.clear();
  summary.earned = summary.passed == true ? spec.points : 0;
  return summary;
}

/// A case of which nothing is known yet.
verdict::CaseVerdict Judge::case_not_reached(std::size_t index) const {
  verdict::CaseVerdict verdict = case_alone(index);
  verdict.explanation = "the grader has ended before this case had.";
  for (const cases::CheckSpec& spec : manifest_.checks) {
    verdict::CheckVerdict& check = verdict.checks.emplace_back();
    check.id = spec.id;
    check.case_name = verdict.kase.name;
    check.reason = verdict.explanation;
  }
  return verdict;
}

/// What is known of a case without its run.
verdict::CaseVerdict Judge::case_alone(std::size_t index) const {
  verdict::CaseVerdict verdict;
  verdict.kase = runs_.kase(index);
  verdict.secret_seed = secret_.contains(verdict.kase.name);
  if (verdict.secret_seed) {
    verdict.kase.seed = 0;
  } else {
    verdict.reproduce = reproduction(manifest_, verdict.kase, runs_.backend());
  }
  return verdict;
}

verdict::CaseVerdict Judge::case_verdict(std::size_t index, Numbers numbers) const {
  const wire::Result& result = runs_.result(index);
  verdict::CaseVerdict verdict = case_alone(index);
  verdict.ending = result.ending;
  verdict.explanation = result.explanation;
  verdict.stdout_text = result.stdout_text;
  if (result.stdout_truncated) verdict.stdout_text += "\n… (the rest of the output was thrown away)\n";
  verdict.shown = verdict::by_ranks(result.report.ranks);
  for (const front::RankReport& rank : result.report.ranks) verdict.shows_left_out += rank.shows.left_out;
  if (result.ending == wire::Ending::failed && result.report.failure) verdict.failure = result.report.failure->kind;
  verdict.seconds = result.seconds;
  if (numbers == Numbers::all) {
    for (const front::RankReport& rank : result.report.ranks) {
      verdict.counters.push_back(rank.counters);
      verdict.traces.push_back(rank.trace);
    }
  }
  for (const cases::CheckSpec& spec : manifest_.checks) {
    if (const auto found = judged_.find({spec.id, index}); found != judged_.end())
      verdict.checks.push_back(found->second);
  }
  return verdict;
}

/// Those that stood in all cases that have come to their end. One that was not run had none, and needed none.
boundary::Walls Judge::walls_when(const std::function<bool(std::size_t index)>& has_ended) const {
  std::optional<boundary::Walls> walls;
  for (std::size_t index = 0; index < runs_.size(); ++index) {
    const wire::Result& result = runs_.result(index);
    if (!has_ended(index) || result.ending == wire::Ending::not_run) continue;
    walls = common(walls.value_or(result.walls), result.walls);
  }
  return walls.value_or(boundary::Walls());
}

verdict::Verdict Judge::verdict() const {
  return verdict_when([](std::size_t) { return true; }, Numbers::all);
}

verdict::Verdict Judge::interim_verdict(const std::function<bool(std::size_t index)>& has_ended) const {
  return verdict_when(has_ended, Numbers::left_out);
}

verdict::Verdict Judge::verdict_when(const std::function<bool(std::size_t index)>& has_ended, Numbers numbers) const {
  verdict::Verdict verdict = empty_verdict(manifest_);
  verdict.backend = name_of(runs_.backend());
  for (std::size_t index = 0; index < runs_.size(); ++index) {
    verdict.cases.push_back(has_ended(index) ? case_verdict(index, numbers) : case_not_reached(index));
  }
  name_common_suspects(verdict.cases);
  verdict::keep_one_cause(verdict.cases);
  verdict.walls = walls_when(has_ended);
  verdict.passed = !manifest_.checks.empty();
  for (const cases::CheckSpec& spec : manifest_.checks) {
    verdict.checks.push_back(summary(spec, verdict.cases));
    verdict.points += verdict.checks.back().earned;
    verdict.passed = verdict.passed && (spec.bonus || verdict.checks.back().passed == true);
    for (const verdict::CaseVerdict& kase : verdict.cases) {
      for (const verdict::CheckVerdict& check : kase.checks) {
        const bool known = std::count(verdict.diagnoses.begin(), verdict.diagnoses.end(), check.diagnosis) > 0;
        if (check.id == spec.id && !check.diagnosis.empty() && !known) verdict.diagnoses.push_back(check.diagnosis);
      }
    }
  }
  verdict.reason = reason_of(verdict);
  verdict.status = status_of(verdict);
  verdict.passed = verdict.passed && verdict.status == verdict::Status::graded;
  if (verdict.status == verdict::Status::not_judged) verdict.points = 0;
  return verdict;
}

verdict::Verdict not_judged(const cases::Manifest& manifest, const std::string& reason) {
  verdict::Verdict verdict = empty_verdict(manifest);
  verdict.status = verdict::Status::not_judged;
  verdict.reason = reason;
  for (const cases::CheckSpec& spec : manifest.checks) {
    verdict::CheckSummary& summary = verdict.checks.emplace_back();
    summary.spec = spec;
    summary.reason = reason;
  }
  return verdict;
}

verdict::Verdict did_not_build(const cases::Manifest& manifest, const std::string& build_log) {
  verdict::Verdict verdict = empty_verdict(manifest);
  verdict.status = verdict::Status::did_not_build;
  verdict.build_log = build_log;
  const cases::CheckSpec& first = output_check(manifest);
  for (const cases::CheckSpec& spec : manifest.checks) {
    verdict::CheckSummary summary;
    summary.spec = spec;
    if (spec.id == first.id) {
      summary.passed = false;
    } else {
      summary.blocked_by = first.id;
    }
    verdict.checks.push_back(summary);
  }
  return verdict;
}

std::string reproduction(const cases::Manifest& manifest, const cases::Case& kase, world::Backend backend) {
  const std::string on = backend == world::Backend::cpu ? "" : fmt::format(" --backend {}", name_of(backend));
  return fmt::format("./shardlings run {:02} --case {} --seed {}{}", manifest.number, quoted_for_shell(kase.name),
                     kase.seed, on);
}

}  // namespace shardlings::grading::judge
