#include "cli/quiz/post.h"

#include <algorithm>

#include <toml++/toml.h>

#include "base/file.h"
#include "base/toml_section.h"

namespace shardlings::cli::quiz {

int Post::wrong() const {
  return static_cast<int>(std::count_if(claims.begin(), claims.end(), [](const Claim& c) { return !c.why.empty(); }));
}

Post load_post(const std::string& folder) {
  const std::string path = folder + "/post.toml";
  const std::string text = read_whole_file(path);
  const toml::table file = toml::parse(text, path);
  TomlSection root(file, path, "");
  root.has_only({"title", "claims"});
  Post post;
  post.title = root.text("title");
  for (TomlSection& section : root.sections("claims")) {
    section.has_only({"text", "wrong"});
    post.claims.push_back({section.text("text"), section.text_or("wrong", "")});
  }
  return post;
}

}  // namespace shardlings::cli::quiz
