/// \file
/// Landlock: a process gives up all files but those that it names. Any user may, from Linux 5.13 on.
#pragma once

#include <cstdint>
#include <string>

#include "base/descriptor.h"

namespace shardlings {

/// What a process is to keep. Made before it is forked; kept by restrict_this_process() in it.
class LandlockRules {
 public:
  /// 0 where the kernel has no Landlock or has it switched off, else the version of its interface.
  static int version();

  /// Nothing is allowed yet.
  LandlockRules();
  /// False if the kernel would not have it.
  bool valid() const { return rules_.get() >= 0; }
  /// The file, or everything below the folder, may be read and run. What does not exist is left out.
  void allow_reading(const std::string& path);
  /// Everything below the folder may be read, made, changed and deleted.
  void allow_writing(const std::string& folder);
  /// The device, and nothing else, may be read and written.
  void allow_device(const std::string& path);

  /// From now on, for this process and all that it starts, for ever; it must not gain privileges any more. System calls
  /// only, for use between fork and exec. False with errno if it cannot be.
  bool restrict_this_process() const;

 private:
  void allow(const std::string& path, std::uint64_t rights);

  Descriptor rules_;
  std::uint64_t handled_ = 0;  ///< the rights that the kernel knows
};

}  // namespace shardlings
