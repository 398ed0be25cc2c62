/// \file
/// A folder that is written as a whole, again and again: files that were there before and are not written any more go.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace shardlings::cli::kit {

class Tree {
 public:
  /// The folder and the list of what was written into it the last time, a file in it.
  Tree(std::string folder, std::string list);

  const std::string& folder() const { return folder_; }
  /// Was it written this time?
  bool has(const std::string& name) const { return now_.contains(name); }

  /// `name`: below the folder.
  void write(const std::string& name, const std::string& text);
  void write_program(const std::string& name, const std::string& text);
  /// A file, or every file below a folder, as it is.
  void copy(const std::string& from, const std::string& name);
  /// Counts a file that lies there already as written.
  void keep(const std::string& name);

  /// Removes what was written before and is not any more, and writes the list anew. Returns the names.
  std::vector<std::string> finish();
  int files() const { return static_cast<int>(now_.size()); }

 private:
  std::string path_of(const std::string& name) const { return folder_ + "/" + name; }

  std::string folder_, list_;
  std::set<std::string> before_, now_;
};

}  // namespace shardlings::cli::kit
