#include "site/repository.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "site/page.h"

namespace shardlings::site {

namespace fs = std::filesystem;

namespace {

/// The Markdown below a folder, by path; READMEs only where `all` is not set.
std::vector<std::string> texts_below(const std::string& root, const std::string& folder, bool all) {
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(root + "/" + folder)) {
    const bool wanted = all ? entry.path().extension() == ".md" : entry.path().filename() == "README.md";
    if (entry.is_regular_file() && wanted) found.push_back(fs::relative(entry.path(), root).generic_string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string page_of_text(const std::string& path) {
  if (path == "README.md") return "start.html";
  return path.substr(0, path.size() - 3) + ".html";
}

bool is_of_the_web(const std::string& link) {
  const std::size_t colon = link.find(':');
  return colon != std::string::npos && link.find('/') > colon;
}

}  // namespace

std::string address_from(const std::string& from, const std::string& to) {
  return fs::path(to).lexically_relative(fs::path(from).parent_path()).generic_string();
}

std::string number_of(const cases::Manifest& puzzle) {
  return fmt::format("{:02}", puzzle.number);
}

std::string chapter_number(const std::string& chapter) {
  return chapter.substr(0, chapter.find(' '));
}

std::string lesson_address(const cases::Manifest& puzzle) {
  return "puzzles/" + puzzle.id + ".html";
}

std::string chapter_address(const std::string& chapter) {
  return "chapters/" + chapter_number(chapter) + ".html";
}

Repository::Repository(std::string root, ApiPages api) : root_(std::move(root)), api_(std::move(api)) {
  cases::Puzzles puzzles = cases::load_puzzles(root_ + "/puzzles", root_ + "/runtime/front/clock/clusters");
  if (!puzzles.faulty.empty()) throw std::runtime_error(puzzles.faulty.front().reason);
  puzzles_ = std::move(puzzles.whole);
  texts_ = {"README.md"};
  for (const std::string& path : texts_below(root_, "docs", true)) texts_.push_back(path);
  for (const std::string& path : texts_below(root_, "runtime", false)) texts_.push_back(path);
  for (const std::string& path : texts_) addresses_[path] = page_of_text(path);
  for (const cases::Manifest& puzzle : puzzles_) {
    addresses_["puzzles/" + puzzle.id + "/README.md"] = lesson_address(puzzle);
    addresses_["puzzles/" + puzzle.id + "/after.md"] = lesson_address(puzzle);
    if (puzzle.question) continue;  // without a picture
    addresses_["puzzles/" + puzzle.id + "/goal.svg"] = "puzzles/" + puzzle.id + ".svg";
  }
}

std::string Repository::text(const std::string& path) const {
  return read_whole_file(root_ + "/" + path);
}

std::string Repository::title(const std::string& path) const {
  for (const std::string& line : lines_of(text(path))) {
    if (line.starts_with("# ")) return trimmed(line.substr(2));
  }
  throw std::runtime_error(path + ": the text has no heading of the first level");
}

std::optional<std::string> Repository::address_of(const std::string& path) const {
  const auto found = addresses_.find(path);
  if (found != addresses_.end()) return found->second;
  return api_.page_of(path);
}

Target Repository::target_of(const std::string& path, const std::string& page, const std::string& link) const {
  if (is_of_the_web(link)) return {link, ""};
  const std::size_t hash = std::min(link.find('#'), link.size());
  const std::string file = link.substr(0, hash);
  const fs::path there = file.empty() ? fs::path(path) : fs::path(path).parent_path() / file;
  const std::string place = there.lexically_normal().generic_string();
  const auto address = address_of(place);
  if (!address) {
    if (place.ends_with(".md")) throw std::runtime_error(path + ": there is no page for the link to " + link);
    return {"", place};
  }
  std::string fragment = link.substr(hash);
  if (place.ends_with("/after.md")) fragment = fragment.empty() ? "#after" : "#" + (kAfterPrefix + fragment.substr(1));
  return {(*address == page && !fragment.empty() ? "" : address_from(page, *address)) + fragment, place};
}

Surroundings Repository::surroundings(const std::string& path, const std::string& page) const {
  Surroundings around;
  around.path = path;
  around.link = [this, path, page](const std::string& link) { return target_of(path, page, link); };
  around.picture = [this, path, page](const std::string& source) {
    Target target = target_of(path, page, source);
    if (target.address.empty()) throw std::runtime_error(path + ": the picture " + source + " is not on the site");
    return target.address;
  };
  return around;
}

}  // namespace shardlings::site
