// The main function of every grader: runs the submission on the puzzle's cases, registers a GoogleTest for each check
// and case, and writes the verdict.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <iostream>
#include <optional>
#include <sstream>

#include "case/case_numbers.h"
#include "grading/judge/grader_options.h"
#include "grading/judge/interim_verdicts.h"
#include "grading/judge/judge.h"
#include "grading/judge/predictions.h"
#include "grading/judge/secret_seeds.h"

namespace shardlings::grading::judge {
namespace {

/// One check on one case, as a test.
class CheckTest : public testing::Test {
 public:
  CheckTest(Judge& judge, std::string check, std::size_t kase) : judge_(judge), check_(std::move(check)), kase_(kase) {}

  void TestBody() override {
    const verdict::CheckVerdict& verdict = judge_.verdict_of(check_, kase_);
    if (verdict.passed == true) return;
    if (!verdict.reason.empty()) GTEST_SKIP() << "not judged: " << verdict.reason;
    if (!verdict.passed) GTEST_SKIP() << "blocked by the check '" << verdict.blocked_by << "'";
    std::string text = fmt::format("expected  {}\nfound     {}", verdict.expected, verdict.found);
    for (const std::string& line : verdict.details) text += "\n" + line;
    ADD_FAILURE_AT(verdict.where.file.empty() ? "puzzle.cpp" : verdict.where.file.c_str(), verdict.where.line) << text;
  }

 private:
  Judge& judge_;
  std::string check_;
  std::size_t kase_;
};

/// Expectations of GoogleTest that a check makes by itself fail this check and no other.
std::string guarded(const std::function<void()>& check) {
  testing::TestPartResultArray parts;
  {
    testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &parts);
    check();
  }
  for (int i = 0; i < parts.size(); ++i) {
    if (parts.GetTestPartResult(i).failed()) return parts.GetTestPartResult(i).message();
  }
  return "";
}

std::string test_name(const std::string& case_name) {
  std::string name = case_name;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
}

void register_tests(const cases::Manifest& manifest, Judge& judge, const run::CaseRuns& runs) {
  for (const cases::CheckSpec& spec : manifest.checks) {
    for (std::size_t kase = 0; kase < runs.size(); ++kase) {
      testing::RegisterTest(spec.id.c_str(), test_name(runs.kase(kase).name).c_str(), nullptr, nullptr, __FILE__,
                            __LINE__,
                            [&judge, id = spec.id, kase]() -> CheckTest* { return new CheckTest(judge, id, kase); });
    }
  }
}

/// The secret that seeds of hidden cases come from; empty: they have those of puzzle.toml.
std::string secret_of(const GraderOptions& options) {
  std::string secret;
  if (options.secret_on_input && !std::getline(std::cin, secret)) throw std::runtime_error("no secret on the input");
  return secret;
}

std::vector<cases::Case> chosen_cases(const cases::Manifest& manifest, const GraderOptions& options,
                                      const std::string& secret) {
  std::vector<cases::Case> cases;
  const std::vector<std::string>& names = options.case_names;
  for (const cases::Case& kase : manifest.cases) {
    if (!names.empty() && std::find(names.begin(), names.end(), kase.name) == names.end()) continue;
    cases.push_back(kase);
    if (options.seed) cases.back().seed = *options.seed;
    for (const std::string& text : options.set) set_number(cases.back(), cases::number_from("--set", text));
    if (!secret.empty() && kase.hidden) cases.back().seed = secret_seed(secret, manifest.id, kase.name);
  }
  if (cases.empty())
    throw std::runtime_error(fmt::format("{} has no case '{}'", manifest.id, fmt::join(names, "', '")));
  return cases;
}

/// Checks that only one of puzzle.toml and grader.cpp knows would never be judged, or never count.
void compare_checks(const cases::Manifest& manifest) {
  for (const cases::CheckSpec& spec : manifest.checks) {
    if (!registered_checks().contains(spec.id)) {
      throw std::runtime_error(
          fmt::format("{}: grader.cpp lacks SHARDLINGS_CHECK({}), which puzzle.toml declares", manifest.id, spec.id));
    }
  }
  for (const auto& [id, function] : registered_checks()) {
    if (!manifest.check(id)) {
      throw std::runtime_error(fmt::format("{}: puzzle.toml lacks the check '{}' of grader.cpp", manifest.id, id));
    }
  }
}

/// References are computed while the compiler runs; "ready" comes when the submission is there, and behind it what is
/// known of its lines.
std::optional<run::Submission> awaited_submission(const GraderOptions& options) {
  run::Submission submission(options.submission, options.jail, options.least_tier);
  submission.source = options.source;
  if (!options.wait_for_submission) return submission;
  std::string line, word;
  std::getline(std::cin, line);
  std::istringstream words(line);
  if (!(words >> word) || word != kReady) return std::nullopt;
  for (int number = 0; words >> number;) submission.call_lines.insert(number);
  return submission;
}

Judge::SecretCases secret_cases(const cases::Manifest& manifest, const std::string& secret) {
  Judge::SecretCases names;
  for (const cases::Case& kase : manifest.cases) {
    if (!secret.empty() && kase.hidden) names.insert(kase.name);
  }
  return names;
}

void run_and_judge(const GraderOptions& options, const run::Submission& submission, run::CaseRuns& runs, Judge& judge) {
  InterimVerdicts interim(options, judge, runs.size());
  runs.run(submission, [&](std::size_t index, int ended) {
    interim.judge_case(index);
    if (options.wait_for_submission) std::cout << progress_line(ended, static_cast<int>(runs.size())) << std::flush;
  });
}

int run(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const GraderOptions options = parse_grader_options(argc, argv);
  const cases::Manifest manifest = cases::load_manifest(options.manifest, options.clusters);
  if (options.predictions) {
    std::cout << to_json(predictions_of(manifest, *options.predictions)) << std::flush;
    return 0;
  }
  compare_checks(manifest);
  const std::string secret = secret_of(options);
  run::CaseRuns runs(chosen_cases(manifest, options, secret), options.backend, options.mpi);
  Judge judge(manifest, runs, guarded, secret_cases(manifest, secret));
  register_tests(manifest, judge, runs);
  if (testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
  runs.start_references(registered_ahead());
  const std::optional<run::Submission> submission = awaited_submission(options);
  if (!submission) return kNoSubmission;
  run_and_judge(options, *submission, runs, judge);
  const int status = RUN_ALL_TESTS();
  const verdict::Verdict verdict = judge.verdict();
  write_verdict(verdict, options.verdict, options.traces);
  return status == 0 && verdict.status == verdict::Status::not_judged ? kNotJudged : status;
}

}  // namespace
}  // namespace shardlings::grading::judge

int main(int argc, char** argv) try {
  return shardlings::grading::judge::run(argc, argv);
} catch (const std::bad_alloc&) {
  std::cerr << "grader: the machine has no memory left\n";
  return shardlings::grading::judge::kBroken;
} catch (const std::exception& error) {
  std::cerr << "grader: " << error.what() << '\n';
  return shardlings::grading::judge::kBroken;
}
