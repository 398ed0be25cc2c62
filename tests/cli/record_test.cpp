// What a result says beside its verdict, and that its signature is good for nothing else.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

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
