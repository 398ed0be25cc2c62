// For builds without libarchive.
#include "cli/error.h"
#include "cli/submissions/archive.h"

namespace shardlings::cli::submissions {

/// The start script sees that the package is there, and builds again by itself.
static constexpr const char* kToHaveArchives =
    "this command was built without archives; on Debian or Ubuntu: sudo apt-get install libarchive-dev, and then "
    "./shardlings, which builds what is new";

Unpacked unpack(const std::string&, const std::string&, const ArchiveLimits&) {
  return {kToHaveArchives, {}};
}

void pack(const std::string&, const std::string& zip) {
  throw UsageError(zip + " cannot be made: " + kToHaveArchives + ".");
}

}  // namespace shardlings::cli::submissions
