#include "cli/kit/platform.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace shardlings::cli::kit {

std::string platform() {
  utsname about{};
  uname(&about);
  std::string system = about.sysname;
  std::transform(system.begin(), system.end(), system.begin(), [](unsigned char c) { return std::tolower(c); });
  return fmt::format("{}-{}", system, about.machine);
}

std::string parts_folder(const system::Project& project) {
  return fmt::format("{}/prebuilt/{}", project.root, platform());
}

}  // namespace shardlings::cli::kit
