#include "report/terminal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <sstream>

#include "base/terminal_text.h"
#include "report/golden.h"
#include "report/verdicts.h"

namespace shardlings::report {
namespace {

using shardlings::testing::expect_golden;
using ::testing::HasSubstr;
using ::testing::Not;
namespace samples = shardlings::testing;

std::vector<std::pair<std::string, grading::verdict::Verdict>> terminal_samples() {
  return {{"failed", samples::verdict_with_failure(samples::pipeline_case(4, 6, true))},
          {"passed", samples::passed_verdict(samples::layers_case(3))},
          {"overlapped", samples::passed_verdict(samples::overlap_case(2, 4))},
          {"nine_ranks", samples::passed_verdict(samples::pipeline_case(9, 4, false))},
          {"eight_equal_ranks", samples::passed_verdict(samples::overlap_case(8, 4))},
          {"ring", samples::passed_verdict(samples::ring_case(3))},
          {"many_ranks", samples::passed_verdict(samples::pipeline_case(40, 12, true))},
          {"unbuilt", samples::unbuilt_verdict()},
          {"unimplemented", samples::unimplemented_verdict()},
          {"not_judged", samples::not_judged_verdict()},
          {"shown", samples::passed_verdict(samples::with_shows(samples::layers_case(3)))},
          {"deadlock", samples::deadlock_verdict()},
          {"hostile", samples::hostile_verdict()}};
}

TEST(TerminalReport, DrawsNothingOfAQuestion) {
  grading::verdict::Verdict verdict = samples::passed_verdict(samples::layers_case(3));
  const TerminalOptions options;
  EXPECT_THAT(terminal_report(verdict, options), HasSubstr("Where the time went"));
  for (auto& kase : verdict.cases) kase.kase.question = true;
  const std::string report = terminal_report(verdict, options);
  EXPECT_THAT(report, HasSubstr("passed"));
  EXPECT_THAT(report, Not(HasSubstr("Where the time went")));
  EXPECT_THAT(report, Not(HasSubstr("peak")));
}

std::string without_escapes(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      i = text.find('m', i);
      if (i == std::string::npos) break;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(TerminalReport, ReadsAsInTheGoldenFiles) {
  for (const auto& [name, verdict] : terminal_samples()) {
    TerminalOptions options;
    expect_golden(name + ".txt", terminal_report(verdict, options));
  }
}

TEST(TerminalReport, ACaseThatWasNotRunIsNoCaseThatFailed) {
  auto verdict = samples::verdict_with_failure(samples::pipeline_case(4, 6, true));
  const auto failed = std::find_if(verdict.cases.begin(), verdict.cases.end(), [](const auto& kase) {
    return std::any_of(kase.checks.begin(), kase.checks.end(), [](const auto& c) { return c.passed == false; });
  });
  ASSERT_NE(failed, verdict.cases.end());
  failed->ending = wire::Ending::failed;
  auto later = *failed;
  later.kase.name = "later";
  later.ending = wire::Ending::not_run;
  verdict.cases.push_back(later);
  const std::string text = terminal_report(verdict, {});
  EXPECT_THAT(text, HasSubstr("not run   later: two cases before had no end\n"));
  EXPECT_THAT(text, Not(HasSubstr("also in   later")));
}

TEST(TerminalReport, ReadsAsInTheGoldenFilesAtOtherWidths) {
  const auto verdict = samples::verdict_with_failure(samples::pipeline_case(4, 6, true));
  for (const int width : {60, 120}) {
    TerminalOptions options;
    options.width = width;
    expect_golden("failed_" + std::to_string(width) + ".txt", terminal_report(verdict, options));
    options.charset = Charset::ascii;
    expect_golden("failed_" + std::to_string(width) + "_ascii.txt", terminal_report(verdict, options));
  }
  TerminalOptions options;
  options.colour = Colour::sixteen;
  expect_golden("failed_colour.txt", terminal_report(verdict, options));
}

TEST(TerminalReport, IsNeverWiderThanTheTerminal) {
  for (const auto& [name, verdict] : terminal_samples()) {
    for (const int width : {40, 59, 60, 80, 81, 120, 200}) {
      for (const Charset charset : {Charset::unicode, Charset::ascii}) {
        TerminalOptions options;
        options.width = width;
        options.charset = charset;
        for (const std::string& line : lines_of(terminal_report(verdict, options))) {
          EXPECT_LE(columns_of(line), width) << name << ": " << line;
        }
      }
    }
  }
}

TEST(TerminalReport, SaysTheSameWithoutColours) {
  for (const auto& [name, verdict] : terminal_samples()) {
    TerminalOptions options;
    const std::string plain = terminal_report(verdict, options);
    options.colour = Colour::sixteen;
    const std::string coloured = terminal_report(verdict, options);
    // But for what the colours mean.
    EXPECT_EQ(std::regex_replace(without_escapes(coloured), std::regex("\\s*colours: [a-z]+"), ""), plain) << name;
    EXPECT_NE(coloured, plain) << name;
  }
}

TEST(TerminalReport, LetsNoControlCharacterThrough) {
  for (const auto& [name, verdict] : terminal_samples()) {
    for (const Charset charset : {Charset::unicode, Charset::ascii}) {
      TerminalOptions options;
      options.charset = charset;
      options.verbose = true;
      for (const char c : terminal_report(verdict, options)) {
        const auto code = static_cast<unsigned char>(c);
        EXPECT_TRUE(c == '\n' || (code >= 0x20 && code != 0x7F)) << name << ": " << int{code};
        EXPECT_TRUE(charset == Charset::unicode || code < 0x80) << name;
      }
    }
  }
}

TEST(TerminalReport, LeavesOutWhatIsLeastImportantOnASmallScreen) {
  for (const auto& [name, verdict] : terminal_samples()) {
    std::size_t before = 0;
    for (const int most : {1, 10, 16, 20, 24, 40, 1000}) {
      TerminalOptions options;
      options.max_lines = most;
      const std::size_t lines = lines_of(terminal_report(verdict, options)).size();
      EXPECT_GE(lines, before) << name << " in " << most << " lines";
      before = lines;
    }
    EXPECT_EQ(before, lines_of(terminal_report(verdict, {})).size()) << name;
  }
}

TEST(TerminalReport, FitsAScreenWhereItsFailuresDo) {
  TerminalOptions options;
  options.max_lines = 20;
  for (const auto& verdict : {samples::verdict_with_failure(samples::pipeline_case(4, 6, true)),
                              samples::verdict_with_failure(samples::pipeline_case(8, 6, true))}) {
    EXPECT_LE(lines_of(terminal_report(verdict, options)).size(), 20u);
  }
}

TEST(TerminalReport, KeepsTheCauseOnTheSmallestScreen) {
  TerminalOptions options;
  options.max_lines = 1;
  const auto text = terminal_report(samples::verdict_with_failure(samples::pipeline_case(4, 6, true)), options);
  EXPECT_THAT(text, HasSubstr("found     24576 bytes"));
  EXPECT_THAT(text, HasSubstr("likely"));
  EXPECT_THAT(text, HasSubstr("./shardlings run 20_pipeline --case"));
  std::string all = terminal_report(samples::deadlock_verdict(), {});
  all = all.substr(0, all.find("\nWhere the time went"));
  EXPECT_THAT(terminal_report(samples::deadlock_verdict(), options), HasSubstr(all.substr(all.find("deadlock"))))
      << "the whole cycle";
}

TEST(TerminalReport, PrintsAnExplanationOnce) {
  const auto text = terminal_report(samples::deadlock_verdict(), {});
  EXPECT_THAT(text, HasSubstr("deadlock: every rank waits"));
  EXPECT_EQ(text.find("deadlock: every rank waits"), text.rfind("deadlock: every rank waits"));
  EXPECT_THAT(text, HasSubstr("(waits for: the run)"));
}

TEST(TerminalReport, BooksARunWithoutAnEndOnNoCheck) {
  auto verdict = samples::deadlock_verdict();
  const auto text = terminal_report(verdict, {});
  EXPECT_THAT(text, HasSubstr("✗ The run did not come to its end"));
  EXPECT_THAT(text, HasSubstr("· Weights and loss are those of one device (waits for: the run)"));
  const auto wrong = samples::verdict_with_failure(samples::pipeline_case(2, 2, false));
  verdict.cases.push_back(wrong.cases[0]);
  verdict.cases[1].kase.name = "another";
  verdict.cases[1].checks[0].passed = false;
  verdict.cases[1].checks[0].expected = "other numbers";
  const auto both = terminal_report(verdict, {});
  EXPECT_THAT(both, HasSubstr("✗ The run did not come to its end"));
  EXPECT_THAT(both, HasSubstr("✗ Weights and loss are those of one device"));
  EXPECT_THAT(both, HasSubstr("expected  other numbers"));
}

TEST(TerminalReport, SaysOfAMilestoneWhatWasAsked) {
  const auto verdict = samples::passed_verdict(samples::layers_case(2));
  TerminalOptions options;
  options.points = false;
  options.titles["output"] = "The weights alone";
  options.belongs[verdict.checks[1].spec.id] = "20b";
  const auto text = terminal_report(verdict, options);
  EXPECT_THAT(text, HasSubstr("✓ The weights alone"));
  EXPECT_THAT(text, HasSubstr("· " + verdict.checks[1].spec.title + " (belongs to 20b)"));
  EXPECT_THAT(text, Not(HasSubstr("✓ " + verdict.checks[1].spec.title)));
}

TEST(TerminalReport, IsPoliteAboutAStub) {
  const auto text = terminal_report(samples::unimplemented_verdict(), {});
  EXPECT_THAT(text, HasSubstr("not implemented yet"));
  EXPECT_THAT(text, HasSubstr("puzzle.cpp:17"));
  EXPECT_THAT(text, Not(HasSubstr("✗")));
  EXPECT_THAT(text, Not(HasSubstr("waits for")));
}

TEST(TerminalReport, ShowsWhatWasPrinted) {
  auto stub = samples::unimplemented_verdict();
  stub.cases[0].stdout_text = "layers = 4\n";
  EXPECT_THAT(terminal_report(stub, {}), HasSubstr("layers = 4"));
  auto passed = samples::passed_verdict(samples::layers_case(2));
  passed.cases[0].stdout_text = "layers = 4\n";
  EXPECT_THAT(terminal_report(passed, {}), Not(HasSubstr("layers = 4")));
  TerminalOptions options;
  options.verbose = true;
  EXPECT_THAT(terminal_report(passed, options), HasSubstr("layers = 4"));
}

TEST(TerminalReport, HasNoHeadingWithoutAPicture) {
  auto verdict = samples::passed_verdict(samples::layers_case(2));
  for (auto& trace : verdict.cases[0].traces) trace.events.clear();
  const auto text = terminal_report(verdict, {});
  EXPECT_THAT(text, Not(HasSubstr("Where the time went")));
  EXPECT_THAT(text, HasSubstr("peak 12 KiB"));
}

TEST(TerminalReport, ShowsEveryFailedCaseOnlyIfAsked) {
  auto verdict = samples::verdict_with_failure(samples::pipeline_case(2, 2, false));
  verdict.cases.push_back(verdict.cases[0]);
  verdict.cases[1].kase.name = "another";
  verdict.cases[1].kase.hidden = true;
  TerminalOptions options;
  EXPECT_THAT(terminal_report(verdict, options), HasSubstr("also in   another"));
  options.verbose = true;
  EXPECT_THAT(terminal_report(verdict, options), HasSubstr("case      another (not announced in the lesson)"));
}

TEST(TerminalReport, ShowsTheCaseThatNamesACause) {
  auto verdict = samples::verdict_with_failure(samples::overlap_case(2, 3));
  grading::verdict::CaseVerdict unnamed = verdict.cases[0];
  unnamed.kase.name = "the first to fail";
  for (auto& check : unnamed.checks) check.diagnosis = check.diagnosis_text = "";
  verdict.cases.insert(verdict.cases.begin(), unnamed);
  const std::string text = terminal_report(verdict, {});
  EXPECT_THAT(text, HasSubstr("likely"));
  EXPECT_THAT(text, HasSubstr("also in   the first to fail"));
  verdict.cases.pop_back();
  const std::string alone = terminal_report(verdict, {});
  EXPECT_THAT(alone, HasSubstr("case      the first to fail"));
  EXPECT_THAT(alone, Not(HasSubstr("likely")));
}

TEST(TerminalReport, ShowsOfOneCaseUnlessMoreIsAskedFor) {
  auto verdict = samples::verdict_with_failure(samples::with_shows(samples::pipeline_case(2, 2, false)));
  verdict.cases.push_back(verdict.cases[0]);
  verdict.cases[1].kase.name = "another";
  TerminalOptions options;
  const std::string some = terminal_report(verdict, options);
  EXPECT_THAT(some, HasSubstr("2 more with -v"));
  EXPECT_THAT(some, HasSubstr("also shown in: another (-v)"));
  EXPECT_THAT(some, Not(HasSubstr("the ninth")));
  options.verbose = true;
  const std::string all = terminal_report(verdict, options);
  EXPECT_THAT(all, HasSubstr("What was shown: another"));
  EXPECT_THAT(all, HasSubstr("the tenth"));
  EXPECT_THAT(all, Not(HasSubstr("with -v")));
}

TEST(TerminalReport, ShowsOfAnotherCaseIfTheOneThatItIsAboutHasNone) {
  auto verdict = samples::verdict_with_failure(samples::pipeline_case(2, 2, false));
  verdict.cases.push_back(samples::with_shows(verdict.cases[0]));
  verdict.cases[1].kase.name = "another";
  EXPECT_THAT(terminal_report(verdict, {}), HasSubstr("What was shown: another"));
}

TEST(TerminalReport, NarrowTerminalsShowFewerColumns) {
  TerminalOptions options;
  options.width = 40;
  const auto text = terminal_report(samples::passed_verdict(samples::with_shows(samples::layers_case(3))), options);
  EXPECT_THAT(text, HasSubstr("    row 0      -6.25     -1.625   …\n"));
}

TEST(TerminalReport, NeverCallsAVerdictWithoutChecksAPass) {
  grading::verdict::Verdict verdict;
  verdict.puzzle = "09_data_parallel";
  verdict.status = grading::verdict::Status::no_check_ran;
  EXPECT_THAT(terminal_report(verdict, {}), HasSubstr("could not be graded"));
}

TEST(TerminalReport, LeavesThePictureOutOnRequest) {
  TerminalOptions options;
  options.timeline = false;
  EXPECT_THAT(terminal_report(samples::passed_verdict(samples::layers_case(3)), options), Not(HasSubstr("rank 0")));
}

}  // namespace
}  // namespace shardlings::report
