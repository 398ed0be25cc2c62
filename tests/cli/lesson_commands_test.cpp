// Commands that lessons tell their readers to type: each is run as it stands there, by somebody who has solved nothing.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
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

  friend std::ostream& operator<<(std::ostream& out, const Typed& typed) {
    return out << typed.lesson << ": ./shardlings " << typed.line;
  }
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

std::vector<Typed> commands_in_lessons() {
  std::vector<Typed> commands;
  for (const auto& puzzle : std::filesystem::directory_iterator(SHARDLINGS_SOURCE "/puzzles")) {
    for (const char* name : {"README.md", "after.md"}) {
      const std::string text = read_file((puzzle.path() / name).string()).value_or("");
      const std::string lesson = puzzle.path().filename().string() + "/" + name;
      for (std::size_t at = text.find(kCommand); at != std::string::npos; at = text.find(kCommand, at + 1)) {
        commands.push_back({lesson, command_at(text, at)});
      }
    }
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

class LessonCommand : public testing::TestWithParam<Typed> {};

TEST_P(LessonCommand, Runs) {
  std::vector<std::string> words = words_of(GetParam().line);
  ASSERT_FALSE(words.empty());
  if (words.front() == "train") GTEST_SKIP() << "trains for minutes; tests/train runs it on a small model";
  const bool runs_code = words.front() == "simulate" || words.front() == "sweep";
  const bool has_solution = std::find(words.begin(), words.end(), "--solution") != words.end();
  if (runs_code && !has_solution) words.emplace_back("--solution");  // the reader has one: the lesson's own file
  const Learner shardlings;
  shardlings.folder().write("docs/map.md", read_file(SHARDLINGS_SOURCE "/docs/map.md").value_or(""));  // lesson 00
  const Answer answer = shardlings(words);
  if (words.front() == "run" || words.front() == "explain-back") {
    EXPECT_NE(answer.status, 2) << answer.err;  // nothing is solved yet, but it is known what is meant
  } else {
    EXPECT_EQ(answer.status, 0) << answer.out << answer.err;
  }
}

INSTANTIATE_TEST_SUITE_P(Lessons, LessonCommand, testing::ValuesIn(commands_in_lessons()));

TEST(LessonCommands, AreFound) {
  EXPECT_GT(commands_in_lessons().size(), 60U) << "each lesson has a command or two";
}

}  // namespace
}  // namespace shardlings::cli
