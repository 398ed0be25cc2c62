#include "site/api_pages.h"

#include "base/text.h"

namespace shardlings::site {

namespace {

/// What stands between <name> and </name> in a line; empty if the line has no such element. Doxygen writes each element
/// without children on a line of its own.
std::string content_of(const std::string& line, const std::string& name) {
  const std::string open = "<" + name + ">";
  const std::size_t begin = line.find(open);
  const std::size_t end = line.find("</" + name + ">");
  if (begin == std::string::npos || end == std::string::npos) return {};
  return line.substr(begin + open.size(), end - begin - open.size());
}

/// One `compound`: a file, a class or a namespace.
struct Compound {
  std::string kind, name, path, page;
};

/// A type of the namespace shardlings itself; an inner namespace has the same form of name.
bool is_public_type(const Compound& compound) {
  const bool is_type = compound.kind == "class" || compound.kind == "struct";
  return is_type && compound.name.starts_with("shardlings::") && compound.name.find(':', 12) == std::string::npos;
}

}  // namespace

ApiPages::ApiPages(const std::string& tags, const std::string& root, const std::string& folder) {
  Compound compound;
  ApiName member;
  std::string anchor;
  bool in_member = false;
  for (const std::string& line : lines_of(tags)) {
    if (line.find("<compound kind=\"") != std::string::npos) {
      const std::size_t begin = line.find('"') + 1;
      compound = {line.substr(begin, line.find('"', begin) - begin), "", "", ""};
    } else if (line.find("<member ") != std::string::npos) {
      in_member = true;
      member = {};
      anchor.clear();
    } else if (line.find("</member>") != std::string::npos) {
      in_member = false;
      const bool in_type = is_public_type(compound);
      const bool in_namespace = compound.kind == "namespace" && compound.name == "shardlings";
      if ((in_type || in_namespace) && !member.address.empty()) {
        names_.push_back({compound.name + "::" + member.name, folder + "/" + member.address + "#" + anchor});
      }
    } else if (line.find("</compound>") != std::string::npos) {
      if (compound.kind == "file" && compound.path.starts_with(root + "/")) {
        pages_[compound.path.substr(root.size() + 1) + compound.name] = folder + "/" + compound.page;
      }
      if (is_public_type(compound)) names_.push_back({compound.name, folder + "/" + compound.page});
    } else if (in_member) {
      if (const std::string name = content_of(line, "name"); !name.empty()) member.name = name;
      if (const std::string page = content_of(line, "anchorfile"); !page.empty()) member.address = page;
      if (const std::string text = content_of(line, "anchor"); !text.empty()) anchor = text;
    } else {
      if (const std::string name = content_of(line, "name"); !name.empty()) compound.name = name;
      if (const std::string path = content_of(line, "path"); !path.empty()) compound.path = path;
      if (const std::string page = content_of(line, "filename"); !page.empty()) compound.page = page;
    }
  }
}

std::optional<std::string> ApiPages::page_of(const std::string& path) const {
  const auto found = pages_.find(path);
  if (found == pages_.end()) return std::nullopt;
  return found->second;
}

}  // namespace shardlings::site
