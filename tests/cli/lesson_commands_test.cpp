// Commands that lessons tell their readers to type, and those of `simulate` in guides: each is run as it stands there,
// by somebody who has solved nothing.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "cli/learner.h"

namespace shardlings::cli {
namespace {

/// A command and where it stands.
struct Typed {
  std::string lesson;  ///< "09_data_parallel/after.md"
  std::string line;    ///< without "./shardlings "
};

constexpr std::string_view kCommand = "./shardlings ";

/// The end of a command that begins at `at`: that of its line, but for lines that end in a backslash, or the back-quote
/// behind a command within a sentence.
std::string command_at(const std::string& text, std::size_t at) {
  const bool in_sentence = at > 0 && text[at - 1] == '`';
  std::string command;
  for (at += kCommand.size(); at < text.size(); ++at) {
    if (in_sentence ? text[at] == '`' : text[at] == '\n') break;
    if (text.compare(at, 2, "\\\n") == 0) {
      ++at;
    } else {
      command += text[at] == '\n' ? ' ' : text[at];
    }
  }
  return trimmed(command);
}

/// A sweep of 438 layouts takes minutes. Of its axes two stand for all.
constexpr std::string_view kLongSweep = "--sweep tp=1..8,pp=1..16,v=1:4:1,batch=1..4,recompute=off,selective,full";
constexpr std::string_view kShortSweep = "--sweep tp=8..8,pp=8..8,v=1:3:2,recompute=off,full";

std::string in_short(std::string line) {
  if (const std::size_t at = line.find(kLongSweep); at != std::string::npos) {
    line.replace(at, kLongSweep.size(), kShortSweep);
  }
  return line;
}

/// The commands of a text.
std::vector<Typed> commands_in(const std::string& text, const std::string& lesson) {
  std::vector<Typed> commands;
  for (std::size_t at = text.find(kCommand); at != std::string::npos; at = text.find(kCommand, at + 1)) {
    commands.push_back({lesson, command_at(text, at)});
  }
  return commands;
}

std::vector<Typed> commands_in_lessons() {
  std::vector<Typed> commands;
  const auto append = [&](const std::vector<Typed>& more) {
    commands.insert(commands.end(), more.begin(), more.end());
  };
  for (const auto& puzzle : std::filesystem::directory_iterator(SHARDLINGS_SOURCE "/puzzles")) {
    for (const char* name : {"README.md", "after.md"}) {
      append(commands_in(read_file((puzzle.path() / name).string()).value_or(""),
                         puzzle.path().filename().string() + "/" + name));
    }
  }
  // Guides have commands of instructors and authors, too, for files that are nowhere: only simulations are run.
  for (const auto& entry : std::filesystem::recursive_directory_iterator(SHARDLINGS_SOURCE "/docs")) {
    if (entry.path().extension() != ".md") continue;
    std::vector<Typed> of_guide =
        commands_in(read_file(entry.path().string()).value_or(""), entry.path().filename().string());
    std::erase_if(of_guide, [](const Typed& typed) {
      return !typed.line.starts_with("simulate ") || typed.line.find(" --") == std::string::npos;
    });
    append(of_guide);
  }
  std::sort(commands.begin(), commands.end(),
            [](const Typed& a, const Typed& b) { return std::pair(a.lesson, a.line) < std::pair(b.lesson, b.line); });
  return commands;
}

/// As a shell cuts it, without its quotes.
std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  for (const char c : line) {
    if (quote == 0 && c == ' ') {
      if (!word.empty()) words.push_back(word);
      word.clear();
    } else if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else {
      word += c;
    }
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

void expect_that_it_runs(const Learner& shardlings, const Typed& typed) {
  SCOPED_TRACE(typed.lesson + ": ./shardlings " + typed.line);
  std::vector<std::string> words = words_of(in_short(typed.line));
  ASSERT_FALSE(words.empty());
  if (words.front() == "train") return;  // for minutes; tests/train runs it on a small model
  const bool runs_code = words.front() == "simulate" || words.front() == "sweep";
  const bool has_solution = std::find(words.begin(), words.end(), "--solution") != words.end();
  if (runs_code && !has_solution) words.emplace_back("--solution");  // the reader has one: the lesson's own file
  const Answer answer = shardlings(words);
  const bool is_guide = typed.lesson.find('/') == std::string::npos;
  if (words.front() == "run" || words.front() == "explain-back" || is_guide) {
    // Nothing is solved yet, and guides show what does not fit, too; but it is known what is meant.
    EXPECT_THAT(answer.status, testing::AnyOf(0, 1)) << answer.err;
  } else {
    EXPECT_EQ(answer.status, 0) << answer.out << answer.err;
  }
}

/// One lesson or guide, whose commands are typed in one copy, as its reader does: what is built for the first is there
/// for the next.
class CommandsOfLesson : public testing::TestWithParam<std::string> {};

TEST_P(CommandsOfLesson, Run) {
  const Learner shardlings;
  shardlings.folder().write("docs/map.md", read_file(SHARDLINGS_SOURCE "/docs/map.md").value_or(""));  // lesson 00
  for (const Typed& typed : commands_in_lessons()) {
    if (typed.lesson == GetParam()) expect_that_it_runs(shardlings, typed);
  }
}

std::vector<std::string> lessons_with_commands() {
  std::vector<std::string> lessons;
  for (const Typed& typed : commands_in_lessons()) lessons.push_back(typed.lesson);
  lessons.erase(std::unique(lessons.begin(), lessons.end()), lessons.end());
  return lessons;
}

INSTANTIATE_TEST_SUITE_P(Lessons, CommandsOfLesson, testing::ValuesIn(lessons_with_commands()));

TEST(LessonCommands, AreFound) {
  const std::vector<Typed> commands = commands_in_lessons();
  EXPECT_GT(commands.size(), 60U) << "each lesson has a command or two";
  EXPECT_GT(
      std::count_if(commands.begin(), commands.end(), [](const Typed& typed) { return typed.lesson == "simulate.md"; }),
      5);
}

TEST(LessonCommands, AreShortenedWhereTheyTakeMinutes) {
  const std::vector<Typed> commands = commands_in_lessons();
  EXPECT_EQ(std::count_if(commands.begin(), commands.end(),
                          [](const Typed& typed) { return in_short(typed.line) != typed.line; }),
            1);
}

TEST(LessonCommands, AreReadAcrossLinesAndInSentences) {
  const std::vector<Typed> commands = commands_in(
      "```\n./shardlings simulate 38 --ranks 8 \\\n    --model llama-405b\n```\nOr `./shardlings\nlist`, or "
      "`./shardlings simulate\n40 --case \"3 ranks, equal matrices\"`.\n",
      "A.md");
  ASSERT_EQ(commands.size(), 2U);
  EXPECT_EQ(commands[0].line, "simulate 38 --ranks 8     --model llama-405b");
  EXPECT_THAT(words_of(commands[1].line), testing::ElementsAre("simulate", "40", "--case", "3 ranks, equal matrices"));
}

TEST(LessonCommands, ThatCannotBeFail) {
  const Learner shardlings;
  EXPECT_NE(shardlings(words_of("simulate 38 --ranks 8 --model llama-405b --cluster dgx_h100 --solution")).status, 0)
      << "Llama's matrices are others";
  EXPECT_EQ(shardlings(words_of("simulate 38 --rnaks 8")).status, 2);
}

}  // namespace
}  // namespace shardlings::cli
