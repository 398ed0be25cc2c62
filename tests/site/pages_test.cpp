// The site of this repository: what is on it, what is not, and that it holds together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "site/course_pages.h"
#include "site/layout.h"
#include "site/markdown.h"
#include "site/site.h"

namespace shardlings::site {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

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
         "  </compound>\n"
         "  <compound kind=\"namespace\">\n    <name>shardlings::front</name>\n    <filename>front.html</filename>\n"
         "    <member kind=\"function\">\n      <name>weight</name>\n      <anchorfile>front.html</anchorfile>\n"
         "      <anchor>a2</anchor>\n    </member>\n  </compound>\n"
         "  <compound kind=\"namespace\">\n    <name>shardlings</name>\n    <filename>all.html</filename>\n"
         "    <member kind=\"function\">\n      <name>matmul</name>\n      <anchorfile>all.html</anchorfile>\n"
         "      <anchor>a3</anchor>\n    </member>\n  </compound>\n</tagfile>\n";
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

TEST_F(Pages, TheGoalsPictureLiesInAFoldBehindWhatItAnswers) {
  std::size_t lessons = 0;
  for (const Page& page : *pages_) {
    const std::size_t picture = page.body.find("<img src=\"" + fs::path(page.address).stem().string() + ".svg\"");
    if (picture == std::string::npos) continue;
    ++lessons;
    const std::size_t fold = page.body.rfind("<details", picture);
    EXPECT_LT(page.body.find("id=\"predict\""), picture) << page.address;
    ASSERT_NE(fold, std::string::npos) << page.address;
    EXPECT_EQ(page.body.compare(fold, 23, "<details class=\"goal\">\n", 0, 23), 0) << page.address;
    EXPECT_GT(page.body.find("</details>", fold), picture) << page.address;
  }
  const auto questions = std::ranges::count_if(repository_->puzzles(), &cases::Manifest::question);
  EXPECT_EQ(lessons + static_cast<std::size_t>(questions), repository_->puzzles().size())
      << "of which nothing is drawn";
}

TEST_F(Pages, HaveEveryPuzzleWithItsCommandHintsAndSecondPart) {
  ASSERT_GT(repository_->puzzles().size(), 20U);
  for (const cases::Manifest& puzzle : repository_->puzzles()) {
    const Page& lesson = page("puzzles/" + puzzle.id + ".html");
    EXPECT_THAT(lesson.body, HasSubstr("./shardlings watch " + number_of(puzzle))) << puzzle.id;
    EXPECT_EQ(count_of(lesson.body, "<img src=\"" + puzzle.id + ".svg\""), puzzle.question ? 0 : 1) << puzzle.id;
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

/// In quotes: another puzzle may have a case of the same name that is not hidden.
std::set<std::string> hidden_cases_of(const cases::Manifest& puzzle) {
  std::set<std::string> names;
  for (const cases::Case& kase : puzzle.cases) {
    if (kase.hidden) names.insert("\"" + kase.name + "\"");
  }
  return names;
}

/// What would give an answer away on any page: the lines of the solution's hole, and the ids of diagnoses.
std::set<std::string> secrets_of(const cases::Manifest& puzzle, const std::string& solution) {
  std::set<std::string> secrets;
  for (const cases::Diagnosis& diagnosis : puzzle.diagnoses) {
    if (diagnosis.id.find('_') != std::string::npos) secrets.insert(diagnosis.id);
  }
  bool inside = false;
  for (const std::string& line : lines_of(solution)) {
    if (line.find("<<<") != std::string::npos) inside = false;
    if (inside && trimmed(line).size() > 60) secrets.insert(trimmed(line));
    if (line.find(">>> your code") != std::string::npos) inside = true;
  }
  return secrets;
}

/// A page's HTML as a reader has it: without elements, if `elements` is false, and with signs in place of entities.
std::string read_out(const std::string& html, bool elements) {
  std::string text;
  bool in_element = false;
  for (const char c : html) {
    if (c == '<') in_element = true;
    if (elements || !in_element) text += c;
    if (c == '>') in_element = false;
  }
  const std::pair<std::string, std::string> signs[] = {
      {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&amp;", "&"}};
  for (const auto& [entity, sign] : signs) {
    for (std::size_t at = text.find(entity); at != std::string::npos; at = text.find(entity, at + 1)) {
      text.replace(at, entity.size(), sign);
    }
  }
  return text;
}

/// Those of them that a page shows: in its text, or in what only a screen reader says.
std::vector<std::string> shown_in(const std::string& html, const std::set<std::string>& secrets) {
  const std::string text = read_out(html, false), all = read_out(html, true);
  std::vector<std::string> shown;
  for (const std::string& secret : secrets) {
    if (text.find(secret) != std::string::npos || all.find(secret) != std::string::npos) shown.push_back(secret);
  }
  return shown;
}

TEST_F(Pages, ShowNothingOfTheAnswer) {
  std::set<std::string> secrets;
  for (const cases::Manifest& puzzle : repository_->puzzles()) {
    secrets.merge(secrets_of(puzzle, read_whole_file(kSource + "/solutions/" + puzzle.id + "/solution.cpp")));
  }
  ASSERT_GT(secrets.size(), 100U);
  for (const cases::Manifest& puzzle : repository_->puzzles()) {
    const std::string& body = page(lesson_address(puzzle)).body;
    EXPECT_THAT(shown_in(body, secrets), IsEmpty()) << puzzle.id;
    EXPECT_THAT(shown_in(body, hidden_cases_of(puzzle)), IsEmpty()) << puzzle.id;
  }
}

// A text with a secret in its prose, and one in a block of code: both are found in its page.
TEST(PagesOfALesson, WouldShowASecretThatItHas) {
  const std::string code = "if (a < b && c > d) { answer(\"x\", 'y'); }", name = "\"5 ranks, a & b\"";
  const std::string lesson = "# A lesson\n\nThe case " + name + ".\n\n```cpp\n  " + code + "\n```\n";
  const std::string html = rendered_markdown(lesson, {}).html;
  EXPECT_THAT(shown_in(html, {code, name, "not there"}), UnorderedElementsAre(code, name)) << html;
}

TEST_F(Pages, LinkToPagesThatExist) {
  const fs::path folder = fs::path(testing::TempDir()) / ("shardlings_site_" + std::to_string(getpid()));
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
  ASSERT_EQ(api.names().size(), 3U) << "nothing of inner namespaces";
  EXPECT_EQ(api.names()[0].name, "shardlings::Group::all_reduce");
  EXPECT_EQ(api.names()[0].address, "api/group.html#a1");
  EXPECT_EQ(api.names()[1].name, "shardlings::Group");
  EXPECT_EQ(api.names()[2].name, "shardlings::matmul");
}

}  // namespace
}  // namespace shardlings::site
