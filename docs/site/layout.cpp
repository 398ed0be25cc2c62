#include "site/layout.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "report/harmless.h"

namespace shardlings::site {

using report::markup;

namespace {

EntryGroup texts_group(const Repository& repository, const std::string& heading,
                       const std::vector<std::string>& paths) {
  EntryGroup group{{"", heading}, {}};
  for (const std::string& path : paths) {
    group.entries.push_back({*repository.address_of(path), repository.title(path)});
  }
  return group;
}

/// The texts below docs/ that no other group has. What a folder says of itself is no part of the reference.
std::vector<std::string> rest_of_docs(const Repository& repository, const std::vector<std::string>& taken) {
  std::vector<std::string> paths;
  for (const std::string& path : repository.texts()) {
    if (path.starts_with("docs/") && !path.ends_with("/README.md") &&
        std::find(taken.begin(), taken.end(), path) == taken.end())
      paths.push_back(path);
  }
  return paths;
}

std::vector<EntryGroup> groups_of(const Repository& repository) {
  std::vector<EntryGroup> groups;
  groups.push_back({{"", "Begin"}, {{"index.html", "The course"}, {"start.html", "Start"}}});
  groups.back().entries.push_back({*repository.address_of("docs/map.md"), repository.title("docs/map.md")});
  for (const cases::Manifest& puzzle : repository.puzzles()) {
    const std::string address = chapter_address(puzzle.chapter);
    if (groups.back().heading.address != address) groups.push_back({{address, puzzle.chapter}, {}});
    groups.back().entries.push_back({lesson_address(puzzle), number_of(puzzle) + " " + puzzle.title});
  }
  const std::vector<std::string> guides = {"docs/learn.md",    "docs/view.md", "docs/train.md",
                                           "docs/simulate.md", "docs/gpu.md",  "docs/next.md"};
  const std::vector<std::string> teaching = {"docs/instructors.md", "docs/authors/puzzles.md", "docs/authors/checks.md",
                                             "docs/agents.md"};
  std::vector<std::string> taken = {"docs/map.md"};
  taken.insert(taken.end(), guides.begin(), guides.end());
  taken.insert(taken.end(), teaching.begin(), teaching.end());
  groups.push_back(texts_group(repository, "Guides", guides));
  groups.push_back(texts_group(repository, "Teaching", teaching));
  groups.back().entries.push_back({"docs/quiz/post.html", "Find the wrong claims"});
  groups.push_back(texts_group(repository, "Reference", rest_of_docs(repository, taken)));
  groups.back().entries.push_back({"api.html", "Headers that puzzles use"});
  return groups;
}

std::string filled(std::string text, const std::map<std::string, std::string>& values) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = std::min(text.find("{{", at), text.size());
    result += text.substr(at, open - at);
    if (open == text.size()) break;
    const std::size_t close = text.find("}}", open);
    result += values.at(text.substr(open + 2, close - open - 2));
    at = close + 2;
  }
  return result;
}

/// "On this page": the headings of the second level.
std::string contents_of(const Page& page) {
  std::string items;
  int count = 0;
  for (const Section& section : page.sections) {
    if (section.level != 2) continue;
    items += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", markup(section.anchor), markup(section.heading));
    ++count;
  }
  if (count < 2) return {};
  return "<nav class=\"contents\" aria-label=\"On this page\"><h2>On this page</h2>\n<ul>\n" + items + "</ul></nav>\n";
}

/// "../../" as often as the page lies in a folder.
std::string way_up(const std::string& address) {
  std::string up;
  for (const char c : address) up += c == '/' ? "../" : "";
  return up;
}

}  // namespace

Layout::Layout(const Repository& repository)
    : template_(repository.text("docs/site/assets/page.html")), groups_(groups_of(repository)) {
  for (const EntryGroup& group : groups_) {
    if (group.heading.title == "Guides") break;
    if (!group.heading.address.empty()) order_.push_back(group.heading);
    order_.insert(order_.end(), group.entries.begin(), group.entries.end());
  }
}

std::string Layout::navigation(const Page& page) const {
  std::string result;
  const auto link = [&](const Entry& entry) {
    const char* here = entry.address == page.address ? " aria-current=\"page\"" : "";
    return fmt::format("<a href=\"{}\"{}>{}</a>", markup(address_from(page.address, entry.address)), here,
                       markup(entry.title));
  };
  for (const EntryGroup& group : groups_) {
    const bool linked = !group.heading.address.empty();
    result += "<h2>" + (linked ? link(group.heading) : markup(group.heading.title)) + "</h2>\n<ul>\n";
    for (const Entry& entry : group.entries) result += "<li>" + link(entry) + "</li>\n";
    result += "</ul>\n";
  }
  return result;
}

std::string Layout::steps(const Page& page) const {
  const auto here =
      std::find_if(order_.begin(), order_.end(), [&](const Entry& e) { return e.address == page.address; });
  if (here == order_.end()) return {};
  std::string links;
  const auto add = [&](const Entry& entry, const char* way, const char* words) {
    links += fmt::format("<a rel=\"{}\" href=\"{}\"><small>{}</small> {}</a>\n", way,
                         markup(address_from(page.address, entry.address)), words, markup(entry.title));
  };
  if (here != order_.begin()) add(*(here - 1), "prev", "Before this");
  if (here + 1 != order_.end()) add(*(here + 1), "next", "Next");
  return "<nav class=\"steps\" aria-label=\"The pages beside this one\">\n" + links + "</nav>\n";
}

std::string Layout::document(const Page& page) const {
  const std::string kind = page.kind.empty() ? "" : "<p class=\"kind\">" + markup(page.kind) + "</p>\n";
  const bool alone = page.title == "Shardlings";
  return filled(template_, {{"title", markup(alone ? page.title : page.title + " · Shardlings")},
                            {"up", way_up(page.address)},
                            {"navigation", navigation(page)},
                            {"contents", contents_of(page)},
                            {"kind", kind},
                            {"main", page.body},
                            {"steps", steps(page)}});
}

}  // namespace shardlings::site
