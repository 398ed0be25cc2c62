// The site of this repository: what is on it, what is not, and that it holds together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "site/course_pages.h"
#include "site/layout.h"
#include "site/site.h"

namespace shardlings::site {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kSource = SHARDLINGS_SOURCE;

/// Headers of the runtime, by path from the repository's folder.
std::vector<std::string> headers() {
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(kSource + "/runtime")) {
    if (entry.path().extension() == ".h") found.push_back(fs::relative(entry.path(), kSource).generic_string());
  }
  return found;
}

/// What Doxygen's tag file would say of them.
std::string tags() {
  std::string text = "<?xml version='1.0'?>\n<tagfile>\n";
  for (const std::string& header : headers()) {
    text += "  <compound kind=\"file\">\n    <name>" + fs::path(header).filename().string() + "</name>\n    <path>" +
            kSource + "/" + fs::path(header).parent_path().string() + "/</path>\n    <filename>h" +
            std::to_string(std::hash<std::string>()(header)) + ".html</filename>\n  </compound>\n";
  }
  return text +
         "  <compound kind=\"class\">\n    <name>shardlings::Group</name>\n    <filename>group.html</filename>\n"
         "    <member kind=\"function\">\n      <name>all_reduce</name>\n      <anchorfile>group.html</anchorfile>\n"
         "      <anchor>a1</anchor>\n    </member>\n  </compound>\n"
         "  <compound kind=\"class\">\n    <name>shardlings::front::Inner</name>\n    <filename>inner.html</filename>\n"
         "  </compound>\n</tagfile>\n";
}

/// The pages, made once for all tests.
class Pages : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    repository_ = new Repository(kSource, ApiPages(tags(), kSource, "api"));
    pages_ = new std::vector<Page>(pages_of(*repository_));
  }
  static void TearDownTestSuite() {
    delete pages_;
    delete repository_;
  }

  static const Page& page(const std::string& address) {
    for (const Page& page : *pages_) {
      if (page.address == address) return page;
    }
    throw std::runtime_error("there is no page " + address);
  }

  static inline Repository* repository_ = nullptr;
  static inline std::vector<Page>* pages_ = nullptr;
};

int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST_F(Pages, HaveEveryPuzzleWithItsCommandHintsAndSecondPart) {
  ASSERT_GT(repository_->puzzles().size(), 20U);
  for (const cases::Manifest& puzzle : repository_->puzzles()) {
    const Page& lesson = page("puzzles/" + puzzle.id + ".html");
    EXPECT_THAT(lesson.body, HasSubstr("./shardlings watch " + number_of(puzzle))) << puzzle.id;
    EXPECT_THAT(lesson.body, HasSubstr("<img src=\"" + puzzle.id + ".svg\"")) << puzzle.id;
    EXPECT_EQ(count_of(lesson.body, "<details class=\"hint\">"), std::ssize(puzzle.hints)) << puzzle.id;
    EXPECT_EQ(count_of(lesson.body, "<details class=\"after\""), 1) << puzzle.id;
    EXPECT_THAT(lesson.folded, Not(IsEmpty())) << puzzle.id;
  }
}

TEST_F(Pages, OpenHintsOneAfterAnother) {
  const std::string& body = page("puzzles/09_data_parallel.html").body;
  const std::size_t first = body.find("<details class=\"hint\">");
  const std::size_t second = body.find("<details class=\"hint\">", first + 1);
  EXPECT_EQ(body.substr(first, second - first).find("</details>"), std::string::npos) << "the second lies in the first";
}

TEST_F(Pages, HaveEveryChapterInTheOrderOfList) {
  std::vector<std::string> chapters;
  for (const cases::Manifest& puzzle : repository_->puzzles()) {
    if (chapters.empty() || chapters.back() != puzzle.chapter) chapters.push_back(puzzle.chapter);
  }
  const std::string& course = page("index.html").body;
  std::size_t at = 0;
  for (const std::string& chapter : chapters) {
    const std::size_t next = course.find(">" + chapter + "</a></h2>", at);
    ASSERT_NE(next, std::string::npos) << chapter;
    at = next;
    EXPECT_THAT(page(chapter_address(chapter)).body, HasSubstr("./shardlings quiz " + chapter_number(chapter)));
  }
}

TEST_F(Pages, HaveEveryPublicHeader) {
  const std::string& api = page("api.html").body;
  int count = 0;
  for (const std::string& header : headers()) {
    const std::string folder = "runtime/include/";
    if (!header.starts_with(folder)) continue;
    EXPECT_THAT(api, HasSubstr("<code>" + header.substr(folder.size()) + "</code>"));
    ++count;
  }
  EXPECT_GT(count, 5);
}

TEST_F(Pages, MakeMathMlOfEveryBlockOfFormulas) {
  int blocks = 0;
  for (const cases::Manifest& puzzle : repository_->puzzles()) {
    int wanted = 0;
    for (const char* name : {"/README.md", "/after.md"}) {
      for (const std::string& line : lines_of(repository_->text("puzzles/" + puzzle.id + name)))
        wanted += line == "```formula" ? 1 : 0;
    }
    EXPECT_EQ(count_of(page(lesson_address(puzzle)).body, "<math displaystyle=\"true\""), wanted) << puzzle.id;
    blocks += wanted;
  }
  EXPECT_GT(blocks, 40);
}

// What would give the answer away: the lines of a solution's hole, names of hidden cases, names of mutants.
TEST_F(Pages, ShowNothingOfTheAnswer) {
  std::set<std::string> secrets;
  for (const cases::Manifest& puzzle : repository_->puzzles()) {
    for (const cases::Case& kase : puzzle.cases) {
      if (kase.hidden) secrets.insert("\"" + kase.name + "\"");
    }
    for (const cases::Diagnosis& diagnosis : puzzle.diagnoses) {
      if (diagnosis.id.find('_') != std::string::npos) secrets.insert(diagnosis.id);
    }
    bool inside = false;
    const auto solution = read_file(kSource + "/solutions/" + puzzle.id + "/solution.cpp");
    for (const std::string& line : lines_of(solution ? *solution : "")) {
      if (line.find("<<<") != std::string::npos) inside = false;
      if (inside && trimmed(line).size() > 60) secrets.insert(trimmed(line));
      if (line.find(">>> your code") != std::string::npos) inside = true;
    }
  }
  ASSERT_GT(secrets.size(), 100U);
  for (const cases::Manifest& puzzle : repository_->puzzles()) {
    const std::string& body = page(lesson_address(puzzle)).body;
    for (const std::string& secret : secrets)
      EXPECT_EQ(body.find(secret), std::string::npos) << puzzle.id << ": " << secret;
  }
}

TEST_F(Pages, LinkToPagesThatExist) {
  const fs::path folder = fs::path(testing::TempDir()) / "shardlings_site";
  fs::create_directories(folder / "api");
  for (const std::string& header : headers()) {
    const auto address = repository_->api().page_of(header);
    std::ofstream(folder / *address) << "<html></html>";
  }
  EXPECT_NO_THROW(write_site(*repository_, folder.string()));
  EXPECT_GT(fs::file_size(folder / "search-index.js"), 100'000U);
  const std::string lesson = *read_file((folder / "puzzles/09_data_parallel.html").string());
  EXPECT_THAT(lesson, HasSubstr("href=\"../docs/reference/"));
  EXPECT_THAT(lesson, HasSubstr("<a rel=\"next\" href=\"10_overlap_buckets.html\">"));
  EXPECT_THAT(lesson, HasSubstr("aria-current=\"page\""));
  fs::remove_all(folder);
}

TEST(ApiPages, KnowHeadersAndPublicNames) {
  const ApiPages api(tags(), kSource, "api");
  EXPECT_TRUE(api.page_of("runtime/include/shardlings/group.h"));
  EXPECT_TRUE(api.page_of("runtime/front/rank_front.h"));
  EXPECT_FALSE(api.page_of("runtime/front/rank_front.cpp"));
  ASSERT_EQ(api.names().size(), 2U) << "nothing of inner namespaces";
  EXPECT_EQ(api.names()[0].name, "shardlings::Group::all_reduce");
  EXPECT_EQ(api.names()[0].address, "api/group.html#a1");
}

}  // namespace
}  // namespace shardlings::site
