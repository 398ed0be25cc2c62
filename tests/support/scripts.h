/// \file
/// Programs of a test's own.
#pragma once

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace shardlings::support {

/// Shell scripts in a folder of their own, which goes with this.
class Scripts {
 public:
  Scripts() : folder_((std::filesystem::temp_directory_path() / "scripts_XXXXXX").string()) {
    if (mkdtemp(folder_.data()) == nullptr) throw std::system_error(errno, std::generic_category(), folder_);
  }
  ~Scripts() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Scripts(const Scripts&) = delete;
  Scripts& operator=(const Scripts&) = delete;

  /// Returns the path of the program.
  std::string add(const std::string& name, const std::string& script) const {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << "#!/bin/sh\n" << script;
    chmod(path.c_str(), 0700);
    return path;
  }
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
};

}  // namespace shardlings::support
