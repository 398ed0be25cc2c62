#include "base/landlock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>

#include "base/rights.h"

namespace shardlings {
namespace {

// The kernel's interface in words of our own: a system's headers may be older than its kernel. The numbers are the same
// on all processors.
constexpr long kCreateRuleset = 444, kAddRule = 445, kRestrictSelf = 446;
constexpr unsigned kAskVersion = 1;
constexpr int kPathBeneath = 1;

constexpr std::uint64_t bit(int n) {
  return std::uint64_t{1} << n;
}
constexpr std::uint64_t kExecute = bit(0), kWriteFile = bit(1), kReadFile = bit(2), kReadFolder = bit(3);
constexpr std::uint64_t kRemoveFolder = bit(4), kRemoveFile = bit(5), kMakeFolder = bit(7), kMakeFile = bit(8);
constexpr std::uint64_t kMakeLink = bit(12), kMoveBetweenFolders = bit(13), kTruncate = bit(14),
                        kDeviceControl = bit(15);
constexpr std::uint64_t kBindTcp = bit(0), kConnectTcp = bit(1);
constexpr std::uint64_t kAbstractSockets = bit(0), kSignals = bit(1);

constexpr std::uint64_t kOfReading = kExecute | kReadFile | kReadFolder;
constexpr std::uint64_t kOfWriting = kOfReading | kWriteFile | kRemoveFolder | kRemoveFile | kMakeFolder | kMakeFile |
                                     kMakeLink | kMoveBetweenFolders | kTruncate;
constexpr std::uint64_t kOfFiles = kExecute | kWriteFile | kReadFile | kTruncate | kDeviceControl;

struct Ruleset {
  std::uint64_t files = 0, network = 0, scope = 0;
};
struct [[gnu::packed]] PathRule {
  std::uint64_t rights;
  std::int32_t folder;
};

/// What each version of the interface brought.
Ruleset known_to(int version) {
  Ruleset known{bit(13) - 1, 0, 0};
  if (version >= 2) known.files |= kMoveBetweenFolders;
  if (version >= 3) known.files |= kTruncate;
  if (version >= 4) known.network = kBindTcp | kConnectTcp;
  if (version >= 5) known.files |= kDeviceControl;
  if (version >= 6) known.scope = kAbstractSockets | kSignals;
  return known;
}

std::size_t size_known_to(int version) {
  if (version >= 6) return sizeof(Ruleset);
  return version >= 4 ? offsetof(Ruleset, scope) : offsetof(Ruleset, network);
}

}  // namespace

int LandlockRules::version() {
  const long version = syscall(kCreateRuleset, nullptr, std::size_t{0}, kAskVersion);
  return version > 0 ? static_cast<int>(version) : 0;
}

LandlockRules::LandlockRules() {
  const int known = version();
  if (known == 0) return;
  const Ruleset all = known_to(known);
  rules_.reset(static_cast<int>(syscall(kCreateRuleset, &all, size_known_to(known), 0U)));
  handled_ = all.files;
}

void LandlockRules::allow(const std::string& path, std::uint64_t rights) {
  const Descriptor place(open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat facts = {};
  if (!valid() || place.get() < 0 || fstat(place.get(), &facts) != 0) return;
  if (!S_ISDIR(facts.st_mode)) rights &= kOfFiles;
  const PathRule rule{rights & handled_, place.get()};
  syscall(kAddRule, rules_.get(), kPathBeneath, &rule, 0U);
}

void LandlockRules::allow_reading(const std::string& path) {
  allow(path, kOfReading);
}

void LandlockRules::allow_writing(const std::string& folder) {
  allow(folder, kOfWriting);
}

void LandlockRules::allow_device(const std::string& path) {
  allow(path, kReadFile | kWriteFile);
}

bool LandlockRules::restrict_this_process() const {
  return refuse_new_privileges() && syscall(kRestrictSelf, rules_.get(), 0U) == 0;
}

}  // namespace shardlings
