#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/quiz/post.h"
#include "report/harmless.h"
#include "site/course_pages.h"
#include "site/formula.h"

namespace shardlings::site {

using report::markup;

namespace {

/// What the `\file` comment at the top of a header says, as one paragraph: up to the first empty line.
std::string purpose_of(const std::string& header) {
  std::string purpose;
  for (const std::string& line : lines_of(header)) {
    if (line == "/// \\file") continue;
    if (!line.starts_with("/// ")) break;
    purpose += (purpose.empty() ? "" : " ") + line.substr(4);
  }
  return purpose;
}

}  // namespace

Page post_page(const Repository& repository) {
  const cli::quiz::Post post = cli::quiz::load_post(repository.root() + "/docs/quiz");
  Page page;
  page.address = "docs/quiz/post.html";
  page.title = post.title;
  page.kind = "A text with wrong claims";
  page.body = fmt::format(
      "<h1>{}</h1>\n<p>This post might stand in any blog. {} of its {} claims are wrong: which, and why? Decide before "
      "you open what stands below a claim. In the terminal: <code>./shardlings quiz post</code></p>\n<ol "
      "class=\"claims\">\n",
      markup(post.title), post.wrong(), post.claims.size());
  int number = 0;
  std::string words;
  for (const cli::quiz::Claim& claim : post.claims) {
    page.body +=
        fmt::format("<li><p>{}</p>\n<details><summary>Is claim {} right?</summary><p>{}</p></details></li>\n",
                    prose_with_formulas(trimmed(claim.text)), ++number,
                    claim.why.empty() ? "It is right." : "It is wrong. " + prose_with_formulas(trimmed(claim.why)));
    words += claim.text + "\n";
  }
  page.body += "</ol>\n";
  page.sections = {{1, "", post.title, words}};
  return page;
}

Page api_page(const Repository& repository) {
  namespace fs = std::filesystem;
  Page page;
  page.address = "api.html";
  page.title = "Headers that puzzles use";
  page.kind = "Reference";
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(repository.root() + "/runtime/include/shardlings")) {
    if (entry.path().extension() == ".h") names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  std::string words;
  page.body =
      "<h1>" + page.title +
      "</h1>\n<p>A puzzle includes <code>shardlings/puzzle.h</code>, and with it all that it may use. Each page has "
      "effect, shapes, bytes on the wire and errors of every call.</p>\n<dl class=\"headers\">\n";
  for (const std::string& name : names) {
    const std::string path = "runtime/include/shardlings/" + name;
    const auto address = repository.api().page_of(path);
    if (!address) throw std::runtime_error(path + ": Doxygen has made no page of it");
    const std::string purpose = purpose_of(repository.text(path));
    page.body += fmt::format("<dt><a href=\"{}\"><code>shardlings/{}</code></a></dt><dd>{}</dd>\n", *address, name,
                             markup(purpose));
    words += name + ": " + purpose + "\n";
  }
  page.body += "</dl>\n";
  page.sections = {{1, "", page.title, words}};
  return page;
}

}  // namespace shardlings::site
