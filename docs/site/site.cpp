#include "site/site.h"

#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.h"
#include "site/course_pages.h"
#include "site/layout.h"
#include "site/links.h"
#include "site/search_index.h"

namespace shardlings::site {

namespace fs = std::filesystem;

namespace {

/// What a reader is told above the title of a text, by where it lies.
std::string kind_of(const std::string& path) {
  if (path == "README.md") return "";
  if (path.ends_with("/README.md")) return "A folder of the repository";
  if (path == "docs/map.md") return "The course";
  if (path.starts_with("docs/reference/") || path == "docs/architecture.md" || path == "docs/glossary.md")
    return "Reference";
  if (path.starts_with("docs/authors/") || path == "docs/instructors.md") return "Teaching";
  return "Guide";
}

void write(const std::string& path, const std::string& text) {
  fs::create_directories(fs::path(path).parent_path());
  write_file_atomically(path, text, Outlives::kill);
}

void write_assets(const Repository& repository, const std::string& folder) {
  const std::string assets = "docs/site/assets/", vendor = "docs/site/vendor/";
  // The colours are those of the page that `view` writes.
  write(folder + "/style.css",
        repository.text("runtime/report/view/assets/colours.css") + repository.text(assets + "site.css"));
  write(folder + "/formulas.css",
        "/*\n" + repository.text(vendor + "formulas.LICENSE") + "*/\n" + repository.text(vendor + "formulas.css"));
  write(folder + "/site.js", repository.text(assets + "site.js"));
  write(folder + "/search.js", repository.text(assets + "search.js"));
  write(folder + "/minisearch.js",
        "/*\n" + repository.text(vendor + "minisearch.LICENSE") + "*/\n" + repository.text(vendor + "minisearch.js"));
  for (const cases::Manifest& puzzle : repository.puzzles()) {
    if (puzzle.question) continue;  // without a picture
    const std::string path = "puzzles/" + puzzle.id + "/goal.svg";
    write(folder + "/" + *repository.address_of(path), repository.text(path));
  }
}

}  // namespace

std::vector<Page> pages_of(const Repository& repository) {
  std::vector<Page> pages = {first_page(repository)};
  for (const std::string& path : repository.texts()) pages.push_back(text_page(repository, path, kind_of(path)));
  std::string chapter;
  for (const cases::Manifest& puzzle : repository.puzzles()) {
    if (puzzle.chapter != chapter) pages.push_back(chapter_page(repository, puzzle.chapter));
    chapter = puzzle.chapter;
    pages.push_back(lesson_page(repository, puzzle));
  }
  pages.push_back(post_page(repository));
  pages.push_back(api_page(repository));
  return pages;
}

void write_site(const Repository& repository, const std::string& folder) {
  const std::vector<Page> pages = pages_of(repository);
  const Layout layout(repository);
  for (const Page& page : pages) write(folder + "/" + page.address, layout.document(page));
  const Page search = search_page();
  write(folder + "/" + search.address, layout.document(search));
  write(folder + "/search-index.js", search_script(pages, repository.api().names()));
  write_assets(repository, folder);
  const std::vector<std::string> dead = dead_links(folder);
  if (!dead.empty()) throw std::runtime_error(fmt::format("{}", fmt::join(dead, "\n")));
}

}  // namespace shardlings::site
