/// \file
/// A Markdown text of the repository as HTML.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace shardlings::site {

/// Where a link leads on the site.
struct Target {
  std::string address;  ///< empty: the site has no page for it, and the words stay without a link
  std::string place;    ///< where it lies in the repository, for a link that is none
};

/// What a text cannot know of itself.
struct Surroundings {
  std::string path;      ///< for errors: "puzzles/09_data_parallel/README.md"
  std::string prefix;    ///< stands before the anchors of its headings
  int deeper = 0;        ///< how many levels its headings are below the page's
  bool marked = true;    ///< a block that reads like a formula has to be marked
  bool entries = false;  ///< rows of tables explain a word: each is a section of its own, with an anchor
  std::function<Target(const std::string& address)> link;  ///< of an address as it stands in the text
  std::function<std::string(const std::string&)> picture;  ///< the address of a picture on the site
};

/// A heading and what stands below it up to the next one, as plain text.
struct Section {
  int level = 1;  ///< in the page: 1 is its title, 7 an entry of a table
  std::string anchor;
  std::string heading;
  std::string text;
};

struct Rendered {
  std::string html;
  std::vector<Section> sections;  ///< what stands before the first heading is a section without one
};

/// Headings have GitHub's anchors; tables and blocks of code stand in elements that scroll by themselves; formulas are
/// MathML. Throws std::runtime_error "PATH:12: …" for a block of formulas that is none, and for one that is not marked.
Rendered rendered_markdown(const std::string& text, const Surroundings& surroundings);

}  // namespace shardlings::site
