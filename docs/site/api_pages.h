/// \file
/// The pages that Doxygen has made of headers, as its tag file tells.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace shardlings::site {

/// A function, type or value with a page of the API to read about it.
struct ApiName {
  std::string name;     ///< "shardlings::Group::all_reduce"
  std::string address;  ///< from the site's folder: "api/classshardlings_1_1Group.html#a1b2c"
};

class ApiPages {
 public:
  /// No pages at all.
  ApiPages() = default;
  /// Of Doxygen's tag file as text, which has the paths of headers below the repository's folder `root`; `folder` is
  /// where its pages lie on the site: "api".
  ApiPages(const std::string& tags, const std::string& root, const std::string& folder);

  /// The page of a header, by its path from the repository's folder; nothing if it has none.
  std::optional<std::string> page_of(const std::string& path) const;
  /// Names of the namespace shardlings itself and of its types, in the order of the tag file; `detail` left out.
  const std::vector<ApiName>& names() const { return names_; }

 private:
  std::map<std::string, std::string> pages_;  ///< by the header's path from the repository's folder
  std::vector<ApiName> names_;
};

}  // namespace shardlings::site
