// For builds without libarchive.
#include "cli/error.h"
#include "cli/submissions/archive.h"

namespace shardlings::cli::submissions {

Unpacked unpack(const std::string&, const std::string&, const ArchiveLimits&) {
  return {
      "this command was built without archives; on Debian or Ubuntu: apt-get install libarchive-dev, and build again",
      {}};
}

void pack(const std::string&, const std::string& zip) {
  throw UsageError(zip +
                   " cannot be made: this command was built without archives; on Debian or Ubuntu: apt-get install "
                   "libarchive-dev, and build again");
}

}  // namespace shardlings::cli::submissions
