// docs/authors/checks.md: "I want to check X, so I call Y". Its second part is made of the headers, so that it cannot
// go stale; with SHARDLINGS_UPDATE_GOLDEN in the environment it is written anew.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>

#include "architecture/tree.h"

namespace shardlings::architecture {
namespace {

constexpr const char* kPage = "docs/authors/checks.md";
constexpr const char* kMark = "<!-- From here on made of the headers by architecture_test. -->\n";

/// What one sentence of a header is about, and the functions that it stands above.
struct Row {
  std::string says;
  std::vector<std::string> names;
};

/// Functions of a header that a grader calls, and what their comments say first.
class Reader {
 public:
  explicit Reader(const std::string& text) {
    for (const std::string& line : lines_of(text)) read(line);
  }
  const std::vector<Row>& rows() const { return rows_; }
  /// Of the file's own comment.
  const std::string& purpose() const { return purpose_; }

 private:
  void read(const std::string& line) {
    static const std::regex kComment(R"(^\s*///(?!<)\s?(.*)$)"), kAccess(R"(^\s*(public|private|protected):\s*$)");
    std::smatch parts;
    if (std::regex_match(line, parts, kAccess)) {
      hidden_ = parts[1] != "public";
      return;
    }
    if (line == "};") hidden_ = false;
    if (std::regex_match(line, parts, kComment)) {
      if (!in_comment_) comment_.clear();
      in_comment_ = true;
      comment_ += parts[1].str() + "\n";
      return;
    }
    if (in_comment_) end_comment();
    if (line.empty() || line == "/// @}") {
      pending_.clear();
      declaration_.clear();
      attached_ = false;
      return;
    }
    read_code(line);
  }

  void end_comment() {
    in_comment_ = false;
    pending_ = first_sentence(comment_);
    if (purpose_.empty() && comment_.find("\\file") != std::string::npos) {
      purpose_ = pending_;
      pending_.clear();
    }
  }

  void read_code(const std::string& line) {
    static const std::regex kNoFunction(
        R"(^\s*(struct|class|enum|using|namespace|template|explicit|static|friend|concept|inline constexpr|constexpr|return)\b.*|^\s*(#|\}|//).*)");
    static const std::regex kFunction(R"(^\s*[A-Za-z_][\w:<>,&*\s]*?[\s&*>](\w+)\(.*)");
    if (declaration_.empty() && std::regex_match(line, kNoFunction)) {
      if (line.find("template") == std::string::npos) pending_.clear();
      return;
    }
    std::smatch parts;
    const bool begins = declaration_.empty() && std::regex_match(line, parts, kFunction);
    if (begins && !hidden_) add(parts[1].str());
    const bool ends = line.find(';') != std::string::npos || line.find('{') != std::string::npos;
    if (begins || ends) declaration_ = ends ? "" : "goes on";
  }

  /// A function without a comment of its own belongs to the sentence above it, if no empty line stands between them.
  void add(const std::string& name) {
    static const std::regex kGoesOn(R"(^(The same|Likewise|Those |Of the same)\b.*)");
    if (pending_.starts_with("Throws ")) pending_.clear();  // that says nothing of what it is
    const bool starts = !pending_.empty() && !std::regex_match(pending_, kGoesOn);
    const bool goes_on = !pending_.empty() && !starts;
    if (starts) rows_.push_back({pending_, {}});
    pending_.clear();
    if (rows_.empty() || !(starts || goes_on || attached_)) return;
    attached_ = true;
    std::vector<std::string>& names = rows_.back().names;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }

  /// Without Doxygen's words, and in one line.
  static std::string first_sentence(std::string text) {
    text = std::regex_replace(text, std::regex(R"(\\(name)[^\n]*\n|@[{}]|\\file)"), " ");
    text = std::regex_replace(text, std::regex(R"(\\code[\s\S]*?\\endcode)"), " ");
    text = std::regex_replace(text, std::regex(R"(\s+)"), " ");
    text = std::regex_replace(text, std::regex("^ | $"), "");
    static const std::regex kEnd(R"([.:](?= [A-Z`"(|]|$))");
    std::smatch end;
    if (std::regex_search(text, end, kEnd)) text = text.substr(0, static_cast<std::size_t>(end.position()));
    return std::regex_replace(text, std::regex(R"(\|)"), "\\|");
  }

  std::vector<Row> rows_;
  std::string purpose_, comment_, pending_, declaration_;
  bool in_comment_ = false, hidden_ = false, attached_ = false;
};

/// What authors include: of the judge what a check is written with, and all formulas.
std::vector<Source> headers() {
  std::vector<Source> found;
  for (const char* name : {"grader", "formula", "compare", "diagnosis", "predictions"}) {
    const std::string path = std::string("runtime/grading/judge/") + name + ".h";
    found.push_back({path, file_text(project_folder() + "/" + path)});
  }
  for (Source& source : sources("runtime/grading/formulas", {".h"})) found.push_back(std::move(source));
  return found;
}

std::string table_of(const Source& header) {
  const Reader reader(header.text);
  if (reader.rows().empty()) return "";
  std::string text = "\n## " + header.path.substr(std::string("runtime/grading/").size()) + "\n\n" + reader.purpose() +
                     ". [Header](../../" + header.path + ")\n\n| what it is | call |\n|---|---|\n";
  for (const Row& row : reader.rows()) {
    std::string names;
    for (const std::string& name : row.names) names += (names.empty() ? "`" : ", `") + name + "`";
    text += "| " + row.says + " | " + names + " |\n";
  }
  return text;
}

std::string made_of_headers() {
  std::string text;
  for (const Source& header : headers()) text += table_of(header);
  return text;
}

TEST(CheckTable, IsWhatTheHeadersSay) {
  const std::string page = file_text(project_folder() + "/" + kPage);
  const auto mark = page.find(kMark);
  ASSERT_NE(mark, std::string::npos) << kPage << " has no mark";
  const std::string by_hand = page.substr(0, mark + std::string(kMark).size());
  if (std::getenv("SHARDLINGS_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(project_folder() + "/" + kPage, std::ios::binary) << by_hand << made_of_headers();
    return;
  }
  EXPECT_EQ(page.substr(by_hand.size()), made_of_headers())
      << "SHARDLINGS_UPDATE_GOLDEN=1 architecture_test --gtest_filter='CheckTable.*' writes " << kPage << " anew";
}

// The first part is written by hand: every call that it names is one that there is.
TEST(CheckTable, NamesNothingThatIsNotThere) {
  std::set<std::string> known;
  for (const Source& header : headers()) {
    const Reader reader(header.text);
    for (const Row& row : reader.rows()) known.insert(row.names.begin(), row.names.end());
  }
  EXPECT_GT(known.size(), 100U);
  const std::string page = file_text(project_folder() + "/" + kPage);
  const std::string by_hand = page.substr(0, page.find(kMark));
  static const std::regex kCall(R"(`(?:check\.)?([a-z]\w+)(?:<\w+>)?\()");
  int calls = 0;
  for (std::sregex_iterator at(by_hand.begin(), by_hand.end(), kCall), end; at != end; ++at, ++calls) {
    EXPECT_TRUE(known.contains((*at)[1].str())) << (*at)[1].str();
  }
  EXPECT_GT(calls, 15);
}

TEST(CheckTable, ReadsCommentsAsTheyAreWritten) {
  const Reader reader(R"(/// \file
/// What it is for. More.
#pragma once

namespace a {

struct B {
  int c() const { return 1; }
};

/// Bytes of a rank: the first sentence
/// goes on. The second does not.
std::int64_t bytes_of(const B& b);
/// The same of all.
std::vector<std::int64_t> all_bytes(const B& b,
                                    int more);
std::int64_t beside(const B& b);

int alone(int a);

class D {
 public:
  /// Fails it.
  bool fail();

 private:
  /// Nobody's.
  bool hidden();
};
}
)");
  EXPECT_EQ(reader.purpose(), "What it is for");
  ASSERT_EQ(reader.rows().size(), 2U);
  EXPECT_EQ(reader.rows()[0].says, "Bytes of a rank: the first sentence goes on");
  EXPECT_THAT(reader.rows()[0].names, testing::ElementsAre("bytes_of", "all_bytes", "beside"));
  EXPECT_EQ(reader.rows()[1].says, "Fails it");
}

}  // namespace
}  // namespace shardlings::architecture
