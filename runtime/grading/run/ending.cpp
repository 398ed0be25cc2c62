#include "grading/run/ending.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>

#include "base/machine_fault.h"

namespace shardlings::grading::run {
namespace {

std::string one_line(const wire::LastWords& words, std::size_t rank) {
  if (words.verb.empty()) return fmt::format("rank {} had made no call yet", rank);
  const std::string place = words.line > 0 ? fmt::format(" at {}:{}", words.file, words.line) : "";
  if (words.state == "blocked") return fmt::format("rank {} was waiting in {}{}", rank, words.verb, place);
  if (words.state == "finished") return fmt::format("rank {} had finished", rank);
  if (words.state == "failed") return fmt::format("rank {} had failed after {}{}", rank, words.verb, place);
  return fmt::format("rank {} was in or after {}{} (its call {})", rank, words.verb, place, words.order);
}

std::string signal_text(int signal) {
  switch (signal) {
    case SIGSEGV: return "a segmentation fault: it touched memory that is not its own";
    case SIGBUS: return "a bus error: it touched memory that is not there";
    case SIGFPE: return "an arithmetic error: most likely an integer division by zero";
    case SIGILL:
      return "an illegal instruction: most likely a function came to its end without returning the value that it "
             "should";
    case SIGABRT: return "abort()";
    case SIGSYS: return "a request to the operating system that a puzzle has no need of";
    default: return fmt::format("signal {} ({})", signal, strsignal(signal));
  }
}

std::string signal_advice(const Evidence& evidence, int signal) {
  if (signal == SIGABRT) {
    if (evidence.end.output.find("terminate called without an active exception") != std::string::npos) {
      return "std::terminate() was called: by the code itself, or by a `throw;` outside of a catch block.";
    }
    if (evidence.end.output.find("terminate called") != std::string::npos) {
      return "An exception had nobody to catch it; what it said is in the output.";
    }
    // libstdc++'s words for such an index, and for front() or back() of a vector that is empty.
    if (evidence.end.output.find("Assertion '__n < this->size()' failed") != std::string::npos) {
      return "An index there is outside of its std::vector: it must be from 0 to size() - 1.";
    }
    if (evidence.end.output.find("Assertion '!this->empty()' failed") != std::string::npos) {
      return "A std::vector there is empty, and has no such element.";
    }
    if (evidence.end.output.empty())
      return "The code itself called it, since an assert says in the output what it found.";
    return "An assert or the standard library found a mistake; what it said is in the output.";
  }
  if (signal == SIGSYS) {
    return "The jail lets a program compute, ask for memory and print, and nothing else: no files, no clocks, no "
           "threads.";
  }
  if (signal == SIGSEGV && evidence.crash_fault == boundary::CrashNote::Fault::clock_is_off) {
    return "It asked for the processor's clock, which is off in a jail: a puzzle's time is virtual.";
  }
  constexpr std::uint64_t kFirstPage = 4096;
  if (signal == SIGSEGV && evidence.crash_address && *evidence.crash_address < kFirstPage) {
    return fmt::format("The address was {:#x}: an index or pointer into an empty vector, most likely.",
                       *evidence.crash_address);
  }
  if (signal == SIGSEGV || signal == SIGBUS) {
    return "An index outside of its std::vector, something used after it was moved away, endless recursion, or a large "
           "local array are the usual reasons.";
  }
  return "";
}

std::string place_text(const wire::Place& place) {
  return fmt::format("{}:{}", place.file, place.line);
}

std::string crash_text(const Evidence& evidence) {
  const int signal = evidence.crash_signal != 0 ? evidence.crash_signal : evidence.end.signal;
  std::string text =
      evidence.crash_rank >= 0 ? fmt::format("rank {} crashed", evidence.crash_rank) : "the program crashed";
  if (evidence.crash_place.line > 0) text += " at " + place_text(evidence.crash_place);
  text += fmt::format(" with {}.", signal_text(signal));
  const std::string advice = signal_advice(evidence, signal);
  return advice.empty() ? text : text + "\n" + advice;
}

std::string early_exit_text(const Evidence& evidence) {
  if (evidence.damaged) {
    return "the program's result is damaged: something wrote over the memory of the runtime.\n"
           "An index outside of its std::vector is the usual reason.";
  }
  if (!evidence.reached_main) {
    return fmt::format(
        "the program ended with status {} before main() began: a global variable's initialiser ended it.\n"
        "A puzzle has no need of global variables.",
        evidence.end.status);
  }
  return fmt::format(
      "the program ended with status {} before the run was over: something called exit().\n"
      "Return from the function instead; a run that does not come to its end counts as failed, whatever its status.",
      evidence.end.status);
}

std::string cpu_limit_text(const Evidence& evidence) {
  const std::string where = evidence.crash_place.line == 0 || evidence.crash_rank < 0
                                ? ""
                                : fmt::format("\nrank {} was computing at {} when it was stopped.", evidence.crash_rank,
                                              place_text(evidence.crash_place));
  return fmt::format("the program computed for more than {} s and was stopped: an endless loop?{}",
                     evidence.limits.cpu_seconds, where);
}

std::string mebibytes(std::int64_t bytes) {
  return fmt::format("{} MiB", bytes >> 20);
}

/// On the CPU tensors lie in the computer's memory, too: how much they had tells whether it was they who filled it.
/// The numbers are the program's own, and may be anything.
std::string memory_text(const Evidence& evidence, const wire::Result& result) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  std::int64_t tensors = 0, most = -1;
  std::size_t largest = 0;
  for (std::size_t rank = 0; rank < result.last_words.size(); ++rank) {
    const std::int64_t bytes = std::clamp(result.last_words[rank].tensors, std::int64_t{0}, kMost);
    tensors += bytes;
    if (bytes <= most) continue;
    most = bytes;
    largest = rank;
  }
  const std::int64_t limit = evidence.limits.memory_bytes;
  const std::string text = fmt::format("the program asked for more of the computer's memory than a case may use{}.\n",
                                       limit > 0 ? fmt::format(" ({})", mebibytes(limit)) : "");
  if (limit > 0 && tensors > limit / 2) {
    return text + fmt::format(
                      "Its tensors had {} of it, rank {} alone {}: are they as large as they should be, and "
                      "dropped when nobody reads them any more?",
                      mebibytes(tensors), largest, mebibytes(most));
  }
  return text + fmt::format(
                    "Its tensors had no more than {}: something else grows, in most cases a std::vector in a "
                    "loop.",
                    mebibytes(tensors));
}

/// In a jail calls take time that is no processor's time of the program: so a loop of calls ends here, too.
std::string wall_limit_text(const Evidence& evidence, const wire::Result& result) {
  constexpr std::uint64_t kManyCalls = 5000;
  const auto most = std::max_element(result.last_words.begin(), result.last_words.end(),
                                     [](const auto& a, const auto& b) { return a.order < b.order; });
  const std::string text = fmt::format("the program took more than {:.0f} s", evidence.limits.wall_seconds);
  if (most == result.last_words.end() || most->order < kManyCalls) {
    return text + ", most of them waiting: for something outside of the runtime.";
  }
  return fmt::format("{} and was stopped. Rank {} made {} calls in that time: an endless loop?", text,
                     most - result.last_words.begin(), most->order);
}

bool is_cpu_limit(const Evidence& evidence) {
  const int limit = evidence.limits.cpu_seconds;
  const bool killed = evidence.end.signal == SIGKILL && evidence.end.cpu_seconds >= limit;
  return limit > 0 && evidence.end.killed == Kill::none && (evidence.end.signal == SIGXCPU || killed);
}

/// By the system, which does that when the machine's memory runs out, or by somebody else.
bool is_killed(const Evidence& evidence) {
  return evidence.end.signal == SIGKILL && evidence.end.killed == Kill::none;
}

/// Of a program that has come to use most of what it may; others are not the reason for a machine's want of memory.
bool is_hog(const Evidence& evidence) {
  return evidence.limits.memory_bytes > 0 && evidence.end.peak_memory > evidence.limits.memory_bytes / 2;
}

bool is_memory_limit(const Evidence& evidence) {
  const bool unhandled =
      evidence.end.signal == SIGABRT && evidence.end.output.find("std::bad_alloc") != std::string::npos;
  return evidence.host_memory_exhausted || unhandled || (is_killed(evidence) && is_hog(evidence));
}

/// Nothing of a submission runs before main(): what goes wrong there is the loader's.
bool could_not_begin(const Evidence& evidence) {
  return !evidence.reached_main && (!evidence.end.exited || evidence.end.status != 0);
}

wire::Ending classify(const Evidence& evidence) {
  if (!evidence.end.started) return wire::Ending::not_started;
  if (evidence.end.killed == Kill::wall_limit) return wire::Ending::wall_limit;
  if (evidence.end.killed == Kill::output_limit || evidence.end.signal == SIGXFSZ) return wire::Ending::output_limit;
  if (!evidence.fault.empty()) return wire::Ending::machine_fault;
  if (!evidence.host_memory_exhausted && is_cpu_limit(evidence)) return wire::Ending::cpu_limit;
  if (is_memory_limit(evidence)) {  // whatever became of the other ranks
    return tighter_memory_limit(evidence.limits) > 0 ? wire::Ending::machine_fault : wire::Ending::memory_limit;
  }
  if (is_killed(evidence) || could_not_begin(evidence)) return wire::Ending::machine_fault;
  return evidence.end.exited ? wire::Ending::early_exit : wire::Ending::crashed;
}

std::string machine_fault_text(const Evidence& evidence) {
  if (!evidence.fault.empty()) return fmt::format("the run could not be made: {}.", evidence.fault);
  if (is_memory_limit(evidence)) {
    return fmt::format(
        "the limit of memory that is in force here ({}) leaves the program less than a case may use. Raise it: ulimit "
        "-v unlimited.",
        mebibytes(tighter_memory_limit(evidence.limits)));
  }
  if (is_killed(evidence)) {
    return fmt::format(
        "the system killed the program when it used {}: most likely the machine's memory has run out. End other "
        "programs, or give the container more memory.",
        mebibytes(evidence.end.peak_memory));
  }
  const std::string said = evidence.end.output.substr(0, evidence.end.output.find('\n'));
  return fmt::format(
      "the program could not begin ({}{}{}). Free memory and files on this machine, or build everything "
      "again: ./shardlings.",
      evidence.end.exited ? fmt::format("status {}", evidence.end.status)
                          : fmt::format("signal {}", evidence.end.signal),
      said.empty() ? "" : ": ", said);
}

std::string sentence(wire::Ending ending, const Evidence& evidence, const wire::Result& result) {
  switch (ending) {
    case wire::Ending::not_started: return with_advice("the program could not be started", evidence.end.error_number);
    case wire::Ending::machine_fault: return machine_fault_text(evidence);
    case wire::Ending::wall_limit: return wall_limit_text(evidence, result);
    case wire::Ending::output_limit:
      return fmt::format("the program wrote more than {} of output and was stopped.\nA print inside an endless loop?",
                         mebibytes(evidence.limits.output_bytes));
    case wire::Ending::cpu_limit: return cpu_limit_text(evidence);
    case wire::Ending::memory_limit: return memory_text(evidence, result);
    case wire::Ending::early_exit: return early_exit_text(evidence);
    case wire::Ending::crashed: return crash_text(evidence);
    case wire::Ending::finished:
    case wire::Ending::failed:
    case wire::Ending::not_run: break;
  }
  return "";
}

}  // namespace

std::string last_words_text(const wire::Result& result) {
  constexpr std::size_t kMostRanks = 8;
  std::string text;
  for (std::size_t rank = 0; rank < result.last_words.size() && rank < kMostRanks; ++rank) {
    text += fmt::format("{}  {}", text.empty() ? "" : "\n", one_line(result.last_words[rank], rank));
  }
  if (result.last_words.size() > kMostRanks)
    text += fmt::format("\n  … and {} more", result.last_words.size() - kMostRanks);
  return text;
}

void describe_ending(const Evidence& evidence, wire::Result& result) {
  result.ending = classify(evidence);
  result.stopped_at = evidence.crash_place;
  result.explanation = sentence(result.ending, evidence, result);
  if (evidence.reached_main && can_be_judged(result.ending) && !result.last_words.empty()) {
    result.explanation += "\nAt that moment:\n" + last_words_text(result);
  }
}

}  // namespace shardlings::grading::run
