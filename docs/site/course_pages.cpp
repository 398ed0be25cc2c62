#include "site/course_pages.h"

#include <stdexcept>

#include <fmt/format.h>

#include "base/text.h"
#include "report/harmless.h"

namespace shardlings::site {

using cases::Manifest;
using report::markup;

namespace {

constexpr const char* kMapPath = "docs/map.md";

/// The lines of a text from behind the heading that begins so up to the next one of no deeper level.
std::string part_of(const std::string& text, const std::string& heading) {
  std::string part;
  bool inside = false;
  const std::size_t level = heading.find(' ');
  for (const std::string& line : lines_of(text)) {
    const std::size_t marks = line.find_first_not_of('#');
    const bool is_heading = marks != std::string::npos && marks > 0 && line[marks] == ' ';
    if (inside && is_heading && marks <= level) break;
    if (inside) part += line + "\n";
    if (line.starts_with(heading)) inside = true;
  }
  return part;
}

std::string intro_of(const Repository& repository, const std::string& chapter) {
  const std::string part = trimmed(part_of(repository.text(kMapPath), "### " + chapter));
  if (part.empty()) throw std::runtime_error(fmt::format("{} says nothing of the chapter \"{}\"", kMapPath, chapter));
  return part;
}

/// The question of a chapter: the first paragraph of its intro.
std::string question_of(const Repository& repository, const std::string& chapter) {
  const std::string intro = intro_of(repository, chapter);
  return intro.substr(0, intro.find("\n\n"));
}

std::string puzzle_list(const Repository& repository, const std::string& chapter, const std::string& page) {
  std::string items;
  for (const Manifest& puzzle : repository.puzzles()) {
    if (puzzle.chapter != chapter) continue;
    items += fmt::format("<li><a href=\"{}\"><span class=\"number\">{}</span> {}</a><p>{}</p></li>\n",
                         address_from(page, lesson_address(puzzle)), number_of(puzzle), markup(puzzle.title),
                         markup(puzzle.summary));
  }
  return "<ul class=\"puzzles\">\n" + items + "</ul>\n";
}

std::vector<std::string> chapters_of(const Repository& repository) {
  std::vector<std::string> chapters;
  for (const Manifest& puzzle : repository.puzzles()) {
    if (chapters.empty() || chapters.back() != puzzle.chapter) chapters.push_back(puzzle.chapter);
  }
  return chapters;
}

}  // namespace

Page text_page(const Repository& repository, const std::string& path, const std::string& kind) {
  Page page;
  page.address = *repository.address_of(path);
  page.title = repository.title(path);
  page.kind = kind;
  Surroundings around = repository.surroundings(path, page.address);
  around.entries = path == "docs/glossary.md";
  Rendered text = rendered_markdown(repository.text(path), around);
  page.body = std::move(text.html);
  page.sections = std::move(text.sections);
  return page;
}

Page first_page(const Repository& repository) {
  Page page;
  page.address = "index.html";
  page.title = "Shardlings";
  const std::string readme = repository.text("README.md");
  const std::string intro = readme.substr(0, readme.find("\n## "));
  page.body = "<div class=\"hero\">\n" +
              rendered_markdown(intro, repository.surroundings("README.md", page.address)).html +
              fmt::format(
                  "<p class=\"ways\"><a class=\"way first\" href=\"{}\">Begin with the map</a>\n"
                  "<a class=\"way\" href=\"start.html#start\">Install and start</a>\n"
                  "<a class=\"way\" href=\"{}\">Teach with it</a></p>\n</div>\n",
                  *repository.address_of(kMapPath), *repository.address_of("docs/instructors.md"));
  for (const std::string& chapter : chapters_of(repository)) {
    const std::string anchor = "chapter-" + chapter_number(chapter);
    page.body += fmt::format("<section class=\"chapter\">\n<h2 id=\"{}\"><a href=\"{}\">{}</a></h2>\n", anchor,
                             chapter_address(chapter), markup(chapter));
    page.body +=
        rendered_markdown(question_of(repository, chapter), repository.surroundings(kMapPath, page.address)).html;
    page.body += puzzle_list(repository, chapter, page.address) + "</section>\n";
    page.sections.push_back({2, anchor, chapter, ""});
  }
  return page;
}

Page chapter_page(const Repository& repository, const std::string& chapter) {
  Page page;
  page.address = chapter_address(chapter);
  page.title = chapter;
  page.kind = "Chapter " + chapter_number(chapter);
  Rendered intro = rendered_markdown(intro_of(repository, chapter), repository.surroundings(kMapPath, page.address));
  page.body = "<h1>" + markup(chapter) + "</h1>\n" + intro.html + puzzle_list(repository, chapter, page.address) +
              fmt::format(
                  "<p>Questions on the chapter, with numbers that are drawn anew for each seed, without points:</p>\n"
                  "<pre class=\"scroll\"><code>./shardlings quiz {}</code></pre>\n",
                  chapter_number(chapter));
  page.sections = {{1, "", chapter, intro.sections[0].text}};
  return page;
}

Page search_page() {
  Page page;
  page.address = "search.html";
  page.title = "Search";
  page.body =
      "<h1>Search</h1>\n"
      "<form class=\"search\" role=\"search\" action=\"search.html\"><label for=\"words\">Words to look for</label>\n"
      "<input id=\"words\" name=\"q\" type=\"search\" autocomplete=\"off\" spellcheck=\"false\"></form>\n"
      "<p id=\"found\" role=\"status\">Searching needs JavaScript, and nothing else: the index lies beside this "
      "page.</p>\n<ol id=\"results\" class=\"results\"></ol>\n"
      "<script src=\"minisearch.js\"></script>\n<script src=\"search-index.js\"></script>\n"
      "<script src=\"search.js\"></script>\n";
  return page;
}

}  // namespace shardlings::site
