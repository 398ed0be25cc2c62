#include <regex>

#include "cli/submissions/archive.h"

namespace shardlings::cli::submissions {

static const std::regex& archive_suffix() {
  static const std::regex kSuffix(R"(\.(zip|tgz|tbz2|txz|7z|rar|tar(\.(gz|bz2|xz|zst))?)$)", std::regex::icase);
  return kSuffix;
}

bool is_cpp_file(const std::string& name) {
  static const std::regex kSuffix(R"(\.cpp$)", std::regex::icase);
  return std::regex_search(name, kSuffix);
}

bool is_archive(const std::string& name) {
  return std::regex_search(name, archive_suffix());
}

std::string without_archive_suffix(const std::string& name) {
  return std::regex_replace(name, archive_suffix(), "");
}

}  // namespace shardlings::cli::submissions
