#include "grading/judge/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/text.h"
#include "grading/judge/diagnosis.h"

namespace shardlings::grading::judge {
namespace {

std::map<std::string, CheckFunction>& registry() {
  static std::map<std::string, CheckFunction> checks;  // filled before main(), read afterwards
  return checks;
}

/// The check that is failed by a run that does not come to its end: nothing can be judged without its output.
const cases::CheckSpec& carrier(const cases::Manifest& manifest) {
  const auto& checks = manifest.checks;
  const auto output = std::find_if(checks.begin(), checks.end(),
                                   [](const cases::CheckSpec& c) { return c.kind == cases::CheckKind::output; });
  return output == checks.end() ? checks.front() : *output;
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
  verdict.version = SHARDLINGS_VERSION;
  return verdict;
}

verdict::Status status_of(const verdict::Verdict& verdict) {
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

Judge::Judge(const cases::Manifest& manifest, run::CaseRuns& runs, Guard guard)
    : manifest_(manifest), runs_(runs), guard_(std::move(guard)) {}

const verdict::CheckVerdict& Judge::verdict_of(const std::string& check_id, std::size_t kase) {
  const auto key = std::pair(check_id, kase);
  if (const auto found = judged_.find(key); found != judged_.end()) return found->second;
  const cases::CheckSpec* spec = manifest_.check(check_id);
  if (!spec) throw std::logic_error(fmt::format("puzzle.toml declares no check '{}'", check_id));
  return judged_[key] = evaluate(*spec, kase);
}

verdict::CheckVerdict Judge::evaluate(const cases::CheckSpec& spec, std::size_t kase) {
  verdict::CheckVerdict verdict;
  verdict.id = spec.id;
  verdict.case_name = runs_.kase(kase).name;
  if (can_be_judged(spec, kase, verdict)) call(spec, kase, verdict);
  if (!verdict.diagnosis.empty()) verdict.diagnosis_text = diagnosis_text(manifest_, verdict.diagnosis);
  return verdict;
}

bool Judge::can_be_judged(const cases::CheckSpec& spec, std::size_t kase, verdict::CheckVerdict& verdict) {
  if (runs_.result(kase).ending != wire::Ending::finished) {
    const cases::CheckSpec& first = carrier(manifest_);
    if (first.id == spec.id) {
      report_failed_run(runs_.result(kase), verdict);
    } else {
      verdict.blocked_by = first.id;
    }
    return false;
  }
  for (const std::string& id : spec.after) {
    const verdict::CheckVerdict& before = verdict_of(id, kase);
    if (before.passed == true) continue;
    verdict.blocked_by = before.passed.has_value() ? id : before.blocked_by;
    return false;
  }
  return true;
}

void Judge::call(const cases::CheckSpec& spec, std::size_t kase, verdict::CheckVerdict& verdict) {
  const auto found = registry().find(spec.id);
  if (found == registry().end()) throw std::logic_error(fmt::format("grader.cpp defines no check '{}'", spec.id));
  CheckContext context(
      runs_.kase(kase), runs_.result(kase), [&]() -> const reference::Reference& { return runs_.reference(kase); },
      verdict);
  const std::string wrong = guard_([&] { found->second(context); });
  if (!wrong.empty()) context.fail("what grader.cpp expects", wrong);
  context.finish();
}

verdict::CheckSummary Judge::summary(const cases::CheckSpec& spec) const {
  verdict::CheckSummary summary;
  summary.spec = spec;
  summary.passed = runs_.size() > 0 ? std::optional<bool>(true) : std::nullopt;
  for (std::size_t kase = 0; kase < runs_.size(); ++kase) {
    const auto found = judged_.find({spec.id, kase});
    const std::optional<bool> passed = found == judged_.end() ? std::nullopt : found->second.passed;
    if (passed == false) summary.passed = false;
    if (!passed && summary.passed == true) summary.passed = std::nullopt;
    if (!passed && found != judged_.end() && summary.blocked_by.empty()) summary.blocked_by = found->second.blocked_by;
  }
  if (summary.passed.has_value()) summary.blocked_by.clear();
  summary.earned = summary.passed == true ? spec.points : 0;
  return summary;
}

verdict::CaseVerdict Judge::case_verdict(std::size_t kase) const {
  const wire::Result& result = runs_.result(kase);
  verdict::CaseVerdict verdict;
  verdict.kase = runs_.kase(kase);
  verdict.ending = result.ending;
  verdict.explanation = result.explanation;
  verdict.stdout_text = result.stdout_text;
  if (result.stdout_truncated) verdict.stdout_text += "\n… (the rest of the output was thrown away)\n";
  if (result.ending == wire::Ending::failed && result.report.failure) verdict.failure = result.report.failure->kind;
  verdict.reproduce = reproduction(manifest_, verdict.kase, runs_.backend());
  verdict.seconds = result.seconds;
  for (const front::RankReport& rank : result.report.ranks) {
    verdict.counters.push_back(rank.counters);
    verdict.traces.push_back(rank.trace);
  }
  for (const cases::CheckSpec& spec : manifest_.checks) {
    if (const auto found = judged_.find({spec.id, kase}); found != judged_.end())
      verdict.checks.push_back(found->second);
  }
  return verdict;
}

verdict::Verdict Judge::verdict() const {
  verdict::Verdict verdict = empty_verdict(manifest_);
  verdict.backend = name_of(runs_.backend());
  for (std::size_t kase = 0; kase < runs_.size(); ++kase) verdict.cases.push_back(case_verdict(kase));
  verdict.passed = !manifest_.checks.empty();
  for (const cases::CheckSpec& spec : manifest_.checks) {
    verdict.checks.push_back(summary(spec));
    verdict.points += verdict.checks.back().earned;
    verdict.passed = verdict.passed && verdict.checks.back().passed == true;
    for (const verdict::CaseVerdict& kase : verdict.cases) {
      for (const verdict::CheckVerdict& check : kase.checks) {
        const bool known = std::count(verdict.diagnoses.begin(), verdict.diagnoses.end(), check.diagnosis) > 0;
        if (check.id == spec.id && !check.diagnosis.empty() && !known) verdict.diagnoses.push_back(check.diagnosis);
      }
    }
  }
  verdict.status = status_of(verdict);
  verdict.passed = verdict.passed && verdict.status == verdict::Status::graded;
  return verdict;
}

verdict::Verdict did_not_build(const cases::Manifest& manifest, const std::string& build_log) {
  verdict::Verdict verdict = empty_verdict(manifest);
  verdict.status = verdict::Status::did_not_build;
  verdict.build_log = build_log;
  const cases::CheckSpec& first = carrier(manifest);
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
  return fmt::format("./shardlings run {:02} --case '{}' --seed {}{}", manifest.number, kase.name, kase.seed, on);
}

}  // namespace shardlings::grading::judge
