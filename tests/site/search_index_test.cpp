// The index has the words that the script in the browser asks for.
#include "site/search_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace shardlings::site {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(SearchWords, AreLettersAndDigitsInLowerCase) {
  EXPECT_THAT(words_of("ZeRO-3's all_reduce: Ψ/N, µs, 2·h² “x”"),
              ElementsAre("zero", "3", "s", "all", "reduce", "ψ", "n", "s", "2", "h", "x"));
}

nlohmann::json index_of(const std::vector<Page>& pages, const std::vector<ApiName>& names) {
  const std::string script = search_script(pages, names);
  const std::string begin = "const searchIndex = ";
  return nlohmann::json::parse(script.substr(begin.size(), script.size() - begin.size() - 2));
}

TEST(SearchIndex, CountsWordsOfEachSection) {
  Page page;
  page.address = "a.html";
  page.title = "A lesson";
  page.sections = {{1, "", "A lesson", "The bubble, and a bubble"}, {2, "b", "B", ""}};
  page.folded = {{2, "after-c", "Costs", "secret"}};
  const auto index = index_of({page}, {{"shardlings::Group::all_reduce", "api/x.html#y"}});
  EXPECT_EQ(index.at("documentCount"), 4);
  nlohmann::json bubble;
  for (const auto& term : index.at("index")) {
    if (term[0] == "bubble") bubble = term[1];
  }
  EXPECT_EQ(bubble, nlohmann::json::parse(R"({"1": {"0": 2}})")) << "twice in the text of the first section";
  EXPECT_EQ(index.at("fieldLength").at("0"), nlohmann::json({2, 4}));
  EXPECT_EQ(index.at("storedFields").at("1").at("address"), "a.html#b");
  EXPECT_EQ(index.at("storedFields").at("3").at("title"), "shardlings::Group::all_reduce");
}

TEST(SearchIndex, QuotesNothingOfWhatIsFolded) {
  Page page;
  page.address = "a.html";
  page.title = "A";
  page.folded = {{2, "after-c", "Costs", "the peak is 42 bytes"}};
  const auto stored = index_of({page}, {}).at("storedFields").at("0");
  EXPECT_TRUE(stored.at("folded"));
  EXPECT_THAT(stored.dump(), Not(HasSubstr("42")));
}

}  // namespace
}  // namespace shardlings::site
