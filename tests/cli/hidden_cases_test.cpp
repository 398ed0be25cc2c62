// What the grading side keeps to itself: seeds of hidden cases, its paths, and as much of hidden cases as it likes.
#include "cli/learner/hidden_cases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/error.h"
#include "cli/learner.h"
#include "grading/judge/secret_seeds.h"

namespace shardlings::cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Everything that a run with these options says, exports included, for the wrong solution of puzzle 01.
class HiddenCases : public testing::Test {
 protected:
  HiddenCases() {
    shardlings_.blunder(kFirst, "never_updated");
    shardlings_.folder().write("grading side/secret", "correct horse battery staple\n");
    std::filesystem::copy_file(shardlings_.folder() / Learner::file_of(kFirst),
                               shardlings_.folder() / "grading side/puzzle.cpp");
  }
  std::string all_of(std::vector<std::string> options) {
    options.insert(options.begin(), {"run", "01", "--file", shardlings_.folder() / "grading side/puzzle.cpp"});
    const std::string text = shardlings_(options).out;
    options.insert(options.end(), {"--export", "junit=" + (shardlings_.folder() / "r.xml"), "--export",
                                   "gradescope=" + (shardlings_.folder() / "r.json"), "--json"});
    const Answer answer = shardlings_(options);
    EXPECT_EQ(answer.status, 1) << answer.err;
    json_ = answer.out;
    exported_ = shardlings_.folder().read("r.xml") + shardlings_.folder().read("r.json");
    return text + json_ + exported_;
  }

  json cases() const { return json::parse(json_)["cases"]; }

  Learner shardlings_;
  std::string json_, exported_;
};

TEST_F(HiddenCases, SeedsAreNeverTold) {
  const std::string secret = learner::secret_of(shardlings_.folder() / "grading side/secret");
  const std::string all = all_of({"--seed-file", shardlings_.folder() / "grading side/secret", "-v"});
  int hidden = 0;
  for (const json& kase : cases()) {
    const std::string name = kase["name"];
    EXPECT_THAT(all, Not(HasSubstr(std::to_string(grading::judge::secret_seed(secret, kFirst, name)))));
    EXPECT_EQ(kase["seed"].is_null(), kase["case"]["hidden"].get<bool>());
    EXPECT_EQ(kase["reproduce"] == "", kase["case"]["hidden"].get<bool>());
    hidden += kase["seed"].is_null() ? 1 : 0;
  }
  EXPECT_GT(hidden, 0);
  EXPECT_THAT(all, AllOf(Not(HasSubstr("staple")), Not(HasSubstr(secret)), Not(HasSubstr("--seed-file"))));
}

TEST_F(HiddenCases, ExportsNameNoFileOfTheGradingSide) {
  all_of({"--seed-file", shardlings_.folder() / "grading side/secret"});
  EXPECT_THAT(exported_, Not(HasSubstr("grading side")));
  EXPECT_THAT(exported_, Not(HasSubstr(shardlings_.folder().path())));
  EXPECT_THAT(exported_, HasSubstr("./shardlings run 01 --case")) << "announced cases can be repeated";
  shardlings_.folder().write("grading side/puzzle.cpp",
                             "#include <shardlings/puzzle.h>\nint wrong = shardlings::Rank();\n");
  all_of({});
  EXPECT_THAT(exported_, HasSubstr("puzzle.cpp:2"));
  EXPECT_THAT(exported_, Not(HasSubstr(shardlings_.folder().path())));
}

TEST_F(HiddenCases, FeedbackIsTheInstructorsChoice) {
  all_of({});
  std::vector<std::string> hidden;
  for (const json& kase : cases()) {
    if (kase["case"]["hidden"].get<bool>()) hidden.push_back(kase["name"]);
  }
  ASSERT_FALSE(hidden.empty());
  EXPECT_THAT(all_of({}), HasSubstr(hidden[0]));
  const std::string law = all_of({"--feedback", "law"});
  EXPECT_THAT(law, HasSubstr(hidden[0]));
  for (const json& kase : cases()) {
    if (!kase["case"]["hidden"].get<bool>()) continue;
    EXPECT_EQ(kase["counters"], json::array());
  }
  const std::string none = all_of({"--feedback", "none"});
  for (const std::string& name : hidden) EXPECT_THAT(none, Not(HasSubstr("\"" + name + "\"")));
  EXPECT_EQ(json::parse(json_)["hidden_cases_not_shown"], hidden.size());
  EXPECT_THAT(all_of({"--feedback", "none", "--feedback", hidden[0] + "=full"}), HasSubstr(hidden[0]));
}

TEST_F(HiddenCases, WrongWishesAreRefused) {
  for (const auto& [arguments, why] :
       {std::pair{std::vector<std::string>{"--feedback", "some"}, "write full, law or none"},
        {{"--feedback", "nope=law"}, "has no hidden case \"nope\". It has:"},
        {{"--seed-file", "nowhere"}, "--seed-file: nowhere is no file that can be read"},
        {{"--seed-file", "empty"}, "--seed-file: empty holds nothing"},
        {{"--seed-file", "empty", "--seed", "3"}, "--seed"}}) {
    shardlings_.folder().write("empty", " \n");
    std::vector<std::string> all{"run", "01"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Answer answer = shardlings_(all);
    EXPECT_EQ(answer.status, 2) << answer.out;
    EXPECT_THAT(answer.err, HasSubstr(why));
  }
}

}  // namespace
}  // namespace shardlings::cli
