// What a result says beside its verdict, and that its signature is good for nothing else.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "base/file.h"
#include "base/sha256.h"
#include "base/text.h"
#include "cli/learner.h"

namespace shardlings::cli {
namespace {

using nlohmann::json;

json result_of(const Learner& shardlings, const std::vector<std::string>& words) {
  const Answer answer = shardlings(words);
  EXPECT_NE(answer.status, 2) << answer.err;
  return json::parse(answer.out);
}

TEST(Record, CountsAttemptsAndHelp) {
  const Learner shardlings;
  const std::vector<std::string> run = {"run", "01", "--json"};
  const json untouched = result_of(shardlings, run);
  EXPECT_EQ(untouched["learner"]["attempts"], 0) << "an unfilled hole is none";
  EXPECT_EQ(untouched["learner"]["hints"], 0);
  EXPECT_EQ(untouched["learner"]["solution_shown"], false);

  shardlings.blunder(kFirst, "padding_counted");
  ASSERT_EQ(shardlings({"hint", "01"}).status, 0);
  EXPECT_EQ(result_of(shardlings, run)["learner"]["attempts"], 1);
  EXPECT_EQ(result_of(shardlings, run)["learner"]["attempts"], 1) << "the same file again";
  ASSERT_EQ(shardlings({"solution", "01", "--spoil"}).status, 0);
  shardlings.solve(kFirst);
  const json solved = result_of(shardlings, run);
  EXPECT_EQ(solved["learner"]["attempts"], 2);
  EXPECT_EQ(solved["learner"]["hints"], 1);
  EXPECT_EQ(solved["learner"]["solution_shown"], true);
}

TEST(Record, SeeingTheSolutionAfterThePassIsNoSpoiling) {
  const Learner shardlings;
  shardlings.solve(kFirst);
  ASSERT_EQ(shardlings({"run", "01"}).status, 0);
  ASSERT_EQ(shardlings({"solution", "01"}).status, 0);
  EXPECT_EQ(result_of(shardlings, {"run", "01", "--json"})["learner"]["solution_shown"], false);
}

TEST(Record, NamesFileAndGraderByTheirContent) {
  const Learner shardlings;
  shardlings.solve(kFirst);
  const std::string file = shardlings.folder() / Learner::file_of(kFirst);
  const json own = result_of(shardlings, {"run", "01", "--json"});
  EXPECT_EQ(own["file_sha256"], sha256(read_file(file).value_or("")));

  const std::string theirs = shardlings.folder() / "theirs.cpp";
  std::ofstream(theirs) << read_file(file).value_or("") << "// of somebody else\n";
  const json other = result_of(shardlings, {"run", "01", "--file", theirs, "--json"});
  EXPECT_EQ(other["file_sha256"], sha256(read_file(theirs).value_or("")));
  EXPECT_EQ(other["puzzle_sha256"], own["puzzle_sha256"]);
  EXPECT_FALSE(other.contains("learner")) << "nothing is known of that person";

  std::ofstream(shardlings.folder() / ("puzzles/" + std::string(kFirst) + "/puzzle.toml"), std::ios::app) << "\n";
  EXPECT_NE(result_of(shardlings, {"run", "01", "--json"})["puzzle_sha256"], own["puzzle_sha256"]);
}

// The commands of docs/instructors.md.
TEST(Record, ASignedResultCannotBeChanged) {
  if (std::system("openssl version > /dev/null 2>&1") != 0) GTEST_SKIP() << "openssl is not installed here";
  const Learner shardlings;
  shardlings.blunder(kFirst, "padding_counted");
  const std::string text = shardlings({"run", "01", "--json"}).out;
  std::ofstream(shardlings.folder() / "result.json") << text;
  const auto openssl = [&](const std::string& words) {
    const std::string folder = quoted_for_shell(shardlings.folder().path());
    return std::system(("cd " + folder + " && openssl " + words + " > openssl.txt 2>&1").c_str());
  };
  ASSERT_EQ(openssl("genpkey -algorithm ed25519 -out course.pem"), 0);
  ASSERT_EQ(openssl("pkey -in course.pem -pubout -out course.pub"), 0);
  ASSERT_EQ(openssl("pkeyutl -sign -rawin -inkey course.pem -in result.json -out result.json.sig"), 0);
  const std::string check = "pkeyutl -verify -rawin -pubin -inkey course.pub -in result.json -sigfile result.json.sig";
  EXPECT_EQ(openssl(check), 0) << read_file(shardlings.folder() / "openssl.txt").value_or("");
  const std::size_t at = text.find("\"passed\": false");
  ASSERT_NE(at, std::string::npos);
  std::ofstream(shardlings.folder() / "result.json") << std::string(text).replace(at, 15, "\"passed\": true ");
  EXPECT_NE(openssl(check), 0);
}

/// Its own folder, in which openssl runs.
class SignedResults : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("openssl version > /dev/null 2>&1") != 0) GTEST_SKIP() << "openssl is not installed here";
    ASSERT_EQ(openssl("genpkey -algorithm ed25519 -out course.pem"), 0);
    ASSERT_EQ(openssl("pkey -in course.pem -pubout -out course.pub"), 0);
  }
  int openssl(const std::string& words) const {
    const std::string folder = quoted_for_shell(shardlings_.folder().path());
    return std::system(("cd " + folder + " && openssl " + words + " > openssl.txt 2>&1").c_str());
  }
  /// Graded and signed by the course: NAME.json and NAME.json.sig.
  json signed_result(const std::string& name, const std::string& file, const std::string& graded_for) const {
    const std::string text =
        shardlings_({"grade", "01", shardlings_.folder() / file, "--for", graded_for, "--json", "--trust"}).out;
    std::ofstream(shardlings_.folder() / (name + ".json")) << text;
    EXPECT_EQ(openssl("pkeyutl -sign -rawin -inkey course.pem -in " + name + ".json -out " + name + ".json.sig"), 0);
    return json::parse(text);
  }
  bool is_signed(const std::string& result, const std::string& signature) const {
    return openssl("pkeyutl -verify -rawin -pubin -inkey course.pub -in " + result + " -sigfile " + signature) == 0;
  }

  Learner shardlings_;
};

// What is signed can be handed in again, by anybody: it says itself whose it is, of two files that are alike, too.
TEST_F(SignedResults, OneOfSomebodyElseSaysSo) {
  shardlings_.solve(kFirst);
  const std::string file = Learner::file_of(kFirst);
  const json ada = signed_result("ada", file, "ada, winter 2026");
  const json ben = signed_result("ben", file, "ben, winter 2026");
  EXPECT_EQ(ada["file_sha256"], ben["file_sha256"]);
  EXPECT_EQ(ada["graded_for"], "ada, winter 2026");
  EXPECT_EQ(ben["graded_for"], "ben, winter 2026");
  EXPECT_TRUE(is_signed("ada.json", "ada.json.sig"));
  EXPECT_FALSE(is_signed("ben.json", "ada.json.sig")) << "a signature goes with one result";
  const std::string text = read_file(shardlings_.folder() / "ada.json").value_or("");
  shardlings_.folder().write("forged.json", std::regex_replace(text, std::regex("ada, winter"), "ben, winter"));
  EXPECT_FALSE(is_signed("forged.json", "ada.json.sig"));
}

TEST_F(SignedResults, OneOfAnotherFileSaysSo) {
  shardlings_.solve(kFirst);
  const json right = signed_result("right", Learner::file_of(kFirst), "ada");
  shardlings_.blunder(kFirst, "padding_counted");
  const std::string wrong = read_file(shardlings_.folder() / Learner::file_of(kFirst)).value_or("");
  EXPECT_TRUE(is_signed("right.json", "right.json.sig"));
  EXPECT_NE(right["file_sha256"], sha256(wrong));
}

TEST(GradedFor, IsSaidInTheResultAlone) {
  const Learner shardlings;
  shardlings.solve(kFirst);
  const std::string file = shardlings.folder() / Learner::file_of(kFirst);
  EXPECT_FALSE(result_of(shardlings, {"grade", "01", file, "--json", "--trust"}).contains("graded_for"));
  const Answer unsaid = shardlings({"grade", "01", file, "--for", "ada", "--trust"});
  EXPECT_EQ(unsaid.status, 2);
  EXPECT_THAT(unsaid.err, testing::HasSubstr("--json"));
  const Answer of_class = shardlings({"grade", shardlings.folder().path(), "--for", "ada", "--trust"});
  EXPECT_EQ(of_class.status, 2);
  EXPECT_THAT(of_class.err, testing::HasSubstr("--for is for one file"));
}

TEST(Records, AreTheBestOfRunsThatPassed) {
  const Learner shardlings;
  EXPECT_THAT(shardlings({"records"}).out, testing::HasSubstr("none yet"));
  shardlings.blunder(kFirst, "padding_counted");
  shardlings({"run", "01"});
  EXPECT_TRUE(nlohmann::json::parse(shardlings({"records", "--json"}).out)["records"].empty()) << "it has not passed";
  shardlings.solve(kFirst);
  ASSERT_EQ(shardlings({"run", "01"}).status, 0);
  const nlohmann::json all = nlohmann::json::parse(shardlings({"records", "--json"}).out);
  ASSERT_EQ(all["records"].size(), 1U);
  const nlohmann::json& first = all["records"][0]["cases"][1];
  EXPECT_EQ(first["case"], "perceptron, 4 layers");
  EXPECT_EQ(first["open"], false);
  EXPECT_EQ(first["peak_bytes"], 13908) << "as the lesson's budget is";
  EXPECT_EQ(first["end_ns"], 12'000'000);
  EXPECT_EQ(first["sent_bytes"], 0);
  EXPECT_THAT(shardlings({"records"}).out, testing::HasSubstr("none yet")) << "none of its cases is open";
  EXPECT_THAT(shardlings({"records", "01"}).out, testing::HasSubstr("12 ms"));
}

}  // namespace
}  // namespace shardlings::cli
