#include "site/links.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>

#include <fmt/format.h>

#include "base/file.h"

namespace shardlings::site {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> attributes_of(const std::string& html, const std::regex& pattern) {
  std::vector<std::string> values;
  for (std::sregex_iterator match(html.begin(), html.end(), pattern), end; match != end; ++match) {
    values.push_back((*match)[1].str());
  }
  return values;
}

/// The pages of a folder, each read once.
class WrittenPages {
 public:
  explicit WrittenPages(std::string folder) : folder_(std::move(folder)) {}

  bool has(const std::string& address, const std::string& anchor) {
    if (!fs::is_regular_file(folder_ + "/" + address)) return false;
    return anchor.empty() || anchors_of(address).count(anchor) > 0;
  }

 private:
  const std::set<std::string>& anchors_of(const std::string& address) {
    static const std::regex kAnchor(R"re(\s(?:id|name)="([^"]+)")re");
    const auto [found, fresh] = anchors_.try_emplace(address);
    if (fresh) {
      for (const std::string& anchor : attributes_of(read_whole_file(folder_ + "/" + address), kAnchor))
        found->second.insert(anchor);
    }
    return found->second;
  }

  std::string folder_;
  std::map<std::string, std::set<std::string>> anchors_;
};

}  // namespace

std::vector<std::string> dead_links(const std::string& folder) {
  static const std::regex kLink(R"re(\s(?:href|src)="([^"]*)")re");
  static const std::regex kOther("^[a-z]+:");
  std::vector<std::string> dead;
  WrittenPages pages(folder);
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string address = fs::relative(entry.path(), folder).generic_string();
    if (entry.path().extension() != ".html" || address.starts_with("api/")) continue;
    for (const std::string& link : attributes_of(read_whole_file(entry.path().string()), kLink)) {
      if (std::regex_search(link, kOther)) continue;
      const std::size_t hash = std::min(link.find('#'), link.size());
      const std::string file = link.substr(0, std::min(hash, link.find('?')));
      const std::string there =
          file.empty() ? address : (fs::path(address).parent_path() / file).lexically_normal().generic_string();
      if (hash + 1 == link.size() && file.empty()) continue;  // "#": the top of the page
      if (pages.has(there, hash < link.size() ? link.substr(hash + 1) : "")) continue;
      dead.push_back(fmt::format("{}: the link to {} leads nowhere", address, link));
    }
  }
  std::sort(dead.begin(), dead.end());
  dead.erase(std::unique(dead.begin(), dead.end()), dead.end());
  return dead;
}

}  // namespace shardlings::site
