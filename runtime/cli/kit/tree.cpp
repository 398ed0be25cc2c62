#include "cli/kit/tree.h"

#include <filesystem>

#include "base/file.h"
#include "base/text.h"

namespace shardlings::cli::kit {

namespace fs = std::filesystem;

Tree::Tree(std::string folder, std::string list) : folder_(std::move(folder)), list_(std::move(list)) {
  for (const std::string& name : lines_of(read_file(path_of(list_)).value_or(""))) {
    // The list lies among a course's files: of a path that leads elsewhere nothing is removed.
    const fs::path path = fs::path(name).lexically_normal();
    if (!name.empty() && path.is_relative() && *path.begin() != "..") before_.insert(name);
  }
}

void Tree::write(const std::string& name, const std::string& text) {
  now_.insert(name);
  if (read_file(path_of(name)) == text) return;  // an unchanged file keeps its time
  fs::create_directories(fs::path(path_of(name)).parent_path());
  write_file_atomically(path_of(name), text, Outlives::kill);
}

void Tree::write_program(const std::string& name, const std::string& text) {
  write(name, text);
  using fs::perms;
  fs::permissions(path_of(name),
                  perms::owner_all | perms::group_read | perms::group_exec | perms::others_read | perms::others_exec);
}

void Tree::copy(const std::string& from, const std::string& name) {
  if (!fs::is_directory(from)) {
    write(name, read_whole_file(from));
    return;
  }
  for (const auto& entry : fs::recursive_directory_iterator(from)) {
    if (!entry.is_regular_file()) continue;
    write(name + "/" + entry.path().lexically_relative(from).string(), read_whole_file(entry.path().string()));
  }
}

void Tree::keep(const std::string& name) {
  now_.insert(name);
}

std::vector<std::string> Tree::finish() {
  std::vector<std::string> removed;
  for (const std::string& name : before_) {
    std::error_code error;
    if (now_.contains(name)) continue;
    if (fs::remove(path_of(name), error)) removed.push_back(name);
    for (fs::path parent = fs::path(name).parent_path();
         !parent.empty() && fs::is_empty(path_of(parent.string()), error); parent = parent.parent_path()) {
      if (!fs::remove(path_of(parent.string()), error)) break;
    }
  }
  std::string text;
  for (const std::string& name : now_) text += name + "\n";
  write_file_atomically(path_of(list_), text, Outlives::kill);
  return removed;
}

}  // namespace shardlings::cli::kit
