/// \file
/// What of the repository is shown, and where on the site.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "case/manifest.h"
#include "site/api_pages.h"
#include "site/markdown.h"

namespace shardlings::site {

class Repository {
 public:
  /// Reads which texts and puzzles there are. Throws std::runtime_error for a puzzle that cannot be read.
  Repository(std::string root, ApiPages api);

  const std::string& root() const { return root_; }
  const ApiPages& api() const { return api_; }
  /// By chapter, as `list` prints them.
  const std::vector<cases::Manifest>& puzzles() const { return puzzles_; }
  /// Texts that are pages of their own, by path: all Markdown of README.md, docs/ and the folders of runtime/.
  const std::vector<std::string>& texts() const { return texts_; }

  /// The whole file of that path. Throws std::runtime_error if there is none.
  std::string text(const std::string& path) const;
  /// The words of the first heading of a text.
  std::string title(const std::string& path) const;

  /// The page that shows a file; nothing if none does.
  std::optional<std::string> address_of(const std::string& path) const;
  /// Where a link of the text `path` leads, as seen from the page `page`.
  Target target_of(const std::string& path, const std::string& page, const std::string& link) const;
  /// What a text needs to be rendered on the page `page`.
  Surroundings surroundings(const std::string& path, const std::string& page) const;

 private:
  std::string root_;
  ApiPages api_;
  std::vector<cases::Manifest> puzzles_;
  std::vector<std::string> texts_;
  std::map<std::string, std::string> addresses_;  ///< by path
};

/// "09": how puzzles are named in commands.
std::string number_of(const cases::Manifest& puzzle);
/// "3" of the chapter "3 Data parallel and sharding".
std::string chapter_number(const std::string& chapter);
/// The page of a puzzle's lesson.
std::string lesson_address(const cases::Manifest& puzzle);
/// The page of a chapter.
std::string chapter_address(const std::string& chapter);

/// What stands before the anchors of a lesson's second part.
inline constexpr const char* kAfterPrefix = "after-";

}  // namespace shardlings::site
