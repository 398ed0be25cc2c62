// The rules' verdict on this project. Every failure names file, line and rule.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "architecture/rules.h"
#include "base/file.h"

namespace shardlings::architecture {
namespace {

const std::vector<std::string> kCode = {".h", ".cpp", ".cu"};

std::vector<Source> all(const std::vector<std::string>& folders, const std::vector<std::string>& endings) {
  std::vector<Source> found;
  for (const std::string& folder : folders) {
    for (Source& source : sources(folder, endings)) found.push_back(std::move(source));
  }
  return found;
}

template <class Rule>
void expect_all(const std::vector<Source>& found, Rule rule) {
  ASSERT_FALSE(found.empty());
  std::vector<Violation> violations;
  for (const Source& source : found) {
    for (Violation& violation : rule(source)) violations.push_back(std::move(violation));
  }
  EXPECT_TRUE(violations.empty()) << to_text(violations);
}

/// Names of the runtime's folders; but for headers, and CMake's own.
std::vector<std::string> parts_of_runtime() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(project_folder() + "/runtime")) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory() && name != "include" && name != "cmake") names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST(Project, ArrowsPointDown) {
  expect_all(all({"runtime", "docs", "puzzles", "solutions"}, kCode), check_layers);
}

TEST(Project, NoFolderIncludesItselfThroughOthers) {
  const std::vector<Source> found = all({"runtime"}, kCode);
  std::vector<std::string> roots = {"runtime/"};
  for (const std::string& part : parts_of_runtime()) roots.push_back("runtime/" + part + "/");
  for (const std::string& root : roots) {
    const std::vector<Violation> violations = check_cycles(found, root);
    EXPECT_TRUE(violations.empty()) << root << to_text(violations);
  }
}

TEST(Project, BackendsStayBehindTheirSeams) {
  expect_all(all({"runtime", "tests", "puzzles", "solutions"}, kCode), check_backends);
}

TEST(Project, FilesAndFunctionsAreShort) {
  expect_all(all({"runtime", "docs", "tests", "puzzles", "solutions"}, kCode), check_sizes);
}

TEST(Project, HeadersSayWhatTheyAreFor) {
  expect_all(all({"runtime", "docs", "tests"}, {".h"}), check_header);
}

TEST(Project, MutexesAreThoseWhoseUseIsProved) {
  expect_all(all({"runtime"}, {".h", ".cpp", ".cu"}), check_mutexes);
}

TEST(Project, UsingDeclarationsAreUsed) {
  expect_all(all({"runtime", "docs"}, {".cpp"}), check_usings);
}

TEST(Project, NoTestIsSwitchedOff) {
  expect_all(all({"tests", "puzzles"}, {"_test.cpp", "grader.cpp", "questions.cpp"}), check_test);
}

TEST(Project, FoldersSayWhatTheyAreForInTwelveLines) {
  for (const std::string& name : parts_of_runtime()) {
    const auto text = read_file(project_folder() + "/runtime/" + name + "/README.md");
    ASSERT_TRUE(text) << name << " has no README.md";
    EXPECT_LE(lines_of(*text).size(), 12U) << name << "/README.md";
  }
}

TEST(Project, FoldersSayWhatTheyMayUse) {
  std::vector<Source> readmes;
  for (const std::string& name : parts_of_runtime()) {
    const std::string path = "runtime/" + name + "/README.md";
    readmes.push_back({path, file_text(project_folder() + "/" + path)});
  }
  expect_all(readmes, check_may_use);
}

// The page from which a newcomer learns what there is.
TEST(Project, TheRuntimesPageNamesItsFolders) {
  const std::string page = file_text(project_folder() + "/runtime/README.md");
  for (const std::string& name : parts_of_runtime()) {
    EXPECT_NE(page.find("`" + name + "`"), std::string::npos) << name;
  }
  const std::string back = file_text(project_folder() + "/runtime/back/README.md");
  for (const auto& entry : std::filesystem::directory_iterator(project_folder() + "/runtime/back")) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_directory()) continue;
    EXPECT_NE(back.find("`" + name + "`"), std::string::npos) << "back/" << name;
  }
}

TEST(Project, FormulasForGradersHaveAPageThatIsComplete) {
  const std::string path = "runtime/grading/formulas/README.md";
  const std::vector<Source> headers = sources("runtime/grading/formulas", {".h"});
  ASSERT_GT(headers.size(), 40U);
  const auto violations = check_formulas({path, file_text(project_folder() + "/" + path)}, headers);
  EXPECT_TRUE(violations.empty()) << to_text(violations);
}

TEST(Project, LinksLeadSomewhere) {
  expect_all(all({".", "docs", "puzzles", "solutions", "runtime"}, {".md"}), check_links);
}

TEST(Project, EveryTestBelongsToATarget) {
  std::vector<Violation> violations;
  for (const Source& source : sources("tests", {"_test.cpp"})) {
    const std::filesystem::path path = source.path;
    bool named = false;
    for (auto folder = path.parent_path(); !folder.empty() && !named; folder = folder.parent_path()) {
      for (const Source& list : sources(folder.string(), {"CMakeLists.txt"})) {
        named = named || list.text.find(path.filename().string()) != std::string::npos;
      }
    }
    if (!named) violations.push_back({source.path, 1, "no CMakeLists.txt names this test"});
  }
  EXPECT_TRUE(violations.empty()) << to_text(violations);
}

// The messages that docs/reference/misuse.md shows are those that the runtime writes: paragraphs of fenced blocks.
TEST(Project, MessagesInTheDocumentationAreReal) {
  std::string real;
  for (const Source& golden : sources("tests/front/misuse/golden", {".txt"})) real += golden.text;
  std::vector<Violation> violations;
  bool fenced = false;
  int number = 0;
  for (const Source& page : sources("docs/reference", {"misuse.md"})) {
    for (const std::string& line : lines_of(page.text)) {
      ++number;
      if (starts_with(line, "```")) {
        fenced = !fenced;
      } else if (fenced && real.find(line + "\n") == std::string::npos) {
        violations.push_back({page.path, number, "no golden message has this line"});
      }
    }
  }
  EXPECT_GT(number, 0);
  EXPECT_TRUE(violations.empty()) << to_text(violations);
}

/// As words are looked up: without capitals, a hyphen like a space.
std::string to_look_up(std::string word) {
  for (char& c : word) c = c == '-' ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return word;
}

TEST(Project, WordsOfTheGlossaryStandInOrder) {
  const std::vector<Source> glossary = sources("docs", {"glossary.md"});
  ASSERT_EQ(glossary.size(), 1U);
  std::vector<Violation> violations;
  std::string before;
  int number = 0, words = 0;
  for (const std::string& line : lines_of(glossary[0].text)) {
    ++number;
    if (words > 0 && line.empty()) break;  // the table of letters follows
    if (!starts_with(line, "| ") || starts_with(line, "| word |")) continue;
    const std::string word = to_look_up(line.substr(2, line.find(" |", 2) - 2));
    if (word < before) violations.push_back({glossary[0].path, number, word + " stands behind " + before});
    before = word;
    ++words;
  }
  EXPECT_GT(words, 100);
  EXPECT_TRUE(violations.empty()) << to_text(violations);
}

}  // namespace
}  // namespace shardlings::architecture
