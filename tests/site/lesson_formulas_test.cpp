// Which words of the lessons' prose are read as formulas: the lists are in golden/formulas, one for each puzzle, so
// that a sentence that is misread is seen when it is written. SHARDLINGS_REGENERATE_GOLDEN=1 writes them anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/file.h"
#include "site/markdown.h"

namespace shardlings::site {
namespace {

namespace fs = std::filesystem;

/// The sources of all formulas in the prose of a page, each once, in the order in which they come.
std::string formulas_of_prose(const std::string& html) {
  const std::string begin = "<math alttext=\"";  // a block's has an attribute before that
  std::string lines;
  std::set<std::string> seen;
  for (std::size_t at = html.find(begin); at != std::string::npos; at = html.find(begin, at + 1)) {
    const std::size_t from = at + begin.size();
    const std::string source = html.substr(from, html.find('"', from) - from);
    if (seen.insert(source).second) lines += source + "\n";
  }
  return lines;
}

std::string formulas_of_lesson(const std::string& folder) {
  std::string html;
  for (const char* name : {"/README.md", "/after.md"}) {
    Surroundings around;
    around.path = folder + name;
    around.link = [](const std::string& address) { return Target{address, ""}; };
    around.picture = [](const std::string& address) { return address; };
    html += rendered_markdown(read_whole_file(folder + name), around).html;
  }
  return formulas_of_prose(html);
}

TEST(LessonFormulas, AreThoseOfTheGoldenLists) {
  const bool regenerates = std::getenv("SHARDLINGS_REGENERATE_GOLDEN") != nullptr;
  const fs::path lists = SHARDLINGS_SOURCE "/tests/site/golden/formulas";
  std::set<std::string> lessons;
  for (const auto& entry : fs::directory_iterator(SHARDLINGS_SOURCE "/puzzles")) {
    if (!fs::exists(entry.path() / "after.md")) continue;
    const std::string name = entry.path().filename().string() + ".txt",
                      found = formulas_of_lesson(entry.path().string());
    lessons.insert(name);
    if (regenerates) {
      fs::create_directories(lists);
      std::ofstream(lists / name) << found;
    }
    EXPECT_EQ(found, read_file((lists / name).string()).value_or("no list yet\n"))
        << entry.path()
        << ": if these are the formulas of its prose, run this test with SHARDLINGS_REGENERATE_GOLDEN=1";
  }
  EXPECT_GT(lessons.size(), 20U);
  for (const auto& entry : fs::directory_iterator(lists)) {
    EXPECT_TRUE(lessons.contains(entry.path().filename().string())) << entry.path() << " belongs to no lesson";
  }
}

TEST(LessonFormulas, OfBlocksAreNotInTheLists) {
  const std::string html = rendered_markdown("With t_F and S/BW, S/BW:\n\n```formula\na = b_1\n```\n", {}).html;
  EXPECT_EQ(formulas_of_prose(html), "t_F\nS/BW\n") << html;
}

}  // namespace
}  // namespace shardlings::site
