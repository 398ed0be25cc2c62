/// \file
/// The file in memory in which a process of a crew leaves what it notes (wire/memory_file.h): the supervisor's, where
/// it is to be had, and else one of its own, of which the pulse tells.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "back/transport/progress.h"
#include "base/descriptor.h"
#include "submission/crew_pulse.h"
#include "submission/wire/memory_file.h"

namespace shardlings::submission {

/// This one among all: paths mean nothing on another one. Containers of one machine do not see one another's files, and
/// differ by their names.
std::string this_machine();

/// What the process beside the supervisor tells the others of its file.
struct SupervisorsFile {
  std::string path;     ///< empty: there is none
  std::string machine;  ///< whose path that is
  std::string text;     ///< of the case
  int ranks = 0;
  std::uint64_t number = 0;  ///< of the case (wire/memory_file.h)
};
/// The file at a path of this machine, or none if it cannot be opened.
SupervisorsFile supervisors_file(const std::string& path);
std::string to_bytes(const SupervisorsFile& file);
SupervisorsFile file_from(const std::string& bytes);

/// While it lives, this process notes in the supervisor's file; or in one like it, whose notes it tells to who has
/// started it.
class NotesFile {
 public:
  /// Throws std::runtime_error if there is neither.
  NotesFile(const SupervisorsFile& of, CrewPulse& pulse, const back::Progress& progress);
  ~NotesFile();
  NotesFile(const NotesFile&) = delete;
  NotesFile& operator=(const NotesFile&) = delete;

  wire::MappedFile& mapped() { return *mapped_; }
  /// Whether it is the supervisor's, whose descriptors this process can reach then.
  bool is_supervisors() const { return is_supervisors_; }

 private:
  bool opens(const SupervisorsFile& of);

  CrewPulse& pulse_;
  bool is_supervisors_ = false;
  Descriptor descriptor_;
  std::optional<wire::MappedFile> mapped_;
};

}  // namespace shardlings::submission
