// The verbs of the program that answers each save, and what it leaves to the program that knows all of them.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "cli/app.h"
#include "cli/verbs/verbs.h"

namespace shardlings::cli {
namespace {

using testing::HasSubstr;

struct Said {
  std::optional<int> status;
  std::string text;
};

Said everyday(const std::vector<std::string>& arguments) {
  std::ostringstream out, err;
  const auto status = try_verbs(verbs::add_everyday, SHARDLINGS_COMMAND, arguments, out, err);
  return {status, out.str() + err.str()};
}

TEST(Everyday, AnswersItsOwnVerbs) {
  const Said list = everyday({"list"});
  EXPECT_EQ(list.status, 0);
  EXPECT_THAT(list.text, HasSubstr("One training step"));
  const Said run = everyday({"run", "no_such_puzzle"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.text, HasSubstr("There is no puzzle"));
}

TEST(Everyday, SaysNothingOfWhatItLeavesToTheWholeCommand) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"grade", "work"},
                                                    {"nonsense"},
                                                    {"--help"},
                                                    {"run", "--help"},
                                                    {"--version"},
                                                    {"run", "--nonsense"},
                                                    {"list", "--json", "--json=2"}}) {
    const Said answer = everyday(arguments);
    EXPECT_FALSE(answer.status.has_value()) << arguments.front();
    EXPECT_EQ(answer.text, "") << arguments.front();
  }
}

/// All that may be written after a verb, and what kind of value it takes.
std::vector<std::string> forms_of(const grammar::Verb& verb) {
  std::vector<std::string> words;
  for (const auto* list : {&verb.options, &verb.arguments}) {
    for (const grammar::Option& option : *list) {
      words.push_back(fmt::format("{} {}{}", fmt::join(option.names, ","), option.form, option.required ? "!" : ""));
    }
  }
  return words;
}

// The same files add them to both programs, so that an option cannot be known to one alone.
TEST(Everyday, HasVerbsOfTheWholeCommand) {
  const grammar::Grammar whole = grammar_of_verbs(verbs::add_all);
  const grammar::Grammar some = grammar_of_verbs(verbs::add_everyday);
  EXPECT_LT(some.verbs.size(), whole.verbs.size());
  ASSERT_FALSE(some.verbs.empty());
  for (const grammar::Verb& verb : some.verbs) {
    const auto same = std::find_if(whole.verbs.begin(), whole.verbs.end(),
                                   [&](const grammar::Verb& other) { return other.name == verb.name; });
    ASSERT_NE(same, whole.verbs.end()) << verb.name;
    EXPECT_EQ(forms_of(*same), forms_of(verb)) << verb.name;
    EXPECT_FALSE(forms_of(verb).empty()) << verb.name;
  }
}

}  // namespace
}  // namespace shardlings::cli
