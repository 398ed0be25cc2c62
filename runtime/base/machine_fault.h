/// \file
/// Faults of the machine or of the tool: no threads, no open files, a full disk, a part that is missing. They say
/// nothing about a submission, which is then not judged.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace shardlings {

class MachineFault : public std::runtime_error {
 public:
  explicit MachineFault(const std::string& what);
};

/// What the first MachineFault of this process said; empty if there was none. An exception loses its type on its way
/// through a rank's port.
std::string first_machine_fault();
/// One that another process of the same run has had counts as one of this process.
void note_machine_fault(const std::string& what);
/// As if there had been none: before the next of several runs.
void forget_machine_faults();

/// What to do where the machine has run out of something, as an errno says it; empty for other errors.
std::string advice_on(int error);

/// The same for a text that holds what an errno says, as messages of other programs do; empty if it does not.
std::string advice_in(std::string_view text);

/// "the program could not be started: Cannot allocate memory. The machine …": what happened, the system's reason, and
/// what to do about it.
std::string with_advice(const std::string& what, int error);

}  // namespace shardlings
