#include "grading/run/ending.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>

#include "base/machine_fault.h"

namespace shardlings::grading::run {
namespace {

std::string one_line(const wire::LastWords& words, std::size_t rank) {
  if (words.in_harness && words.state == "blocked") return fmt::format("rank {} was waiting for other ranks", rank);
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
    return fmt::format(
        "The address was {:#x}, where nothing is: an index into an empty vector, one that is outside of "
        "its vector, or something used after it was moved away are the usual reasons.",
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

/// exit() and quick_exit() are noted by who is waiting for them: what ends a program unnoticed is another function.
std::string exit_text(const Evidence& evidence) {
  using ExitBy = boundary::CrashNote::ExitBy;
  if (evidence.exited_by != ExitBy::exit && evidence.exited_by != ExitBy::quick_exit) {
    return fmt::format("the program ended with status {}, most likely by _Exit(),", evidence.end.status);
  }
  return fmt::format("{} called {}(){}, which ended the program{}",
                     evidence.crash_rank >= 0 ? fmt::format("rank {}", evidence.crash_rank) : "the program",
                     evidence.exited_by == ExitBy::exit ? "exit" : "quick_exit",
                     evidence.crash_place.line > 0 ? " at " + place_text(evidence.crash_place) : "",
                     evidence.end.exited ? fmt::format(" with status {}", evidence.end.status) : "");
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
      "{} before the run was over.\nReturn from the function instead; a run that does not come to its end counts as "
      "failed, whatever its status.",
      exit_text(evidence));
}

std::string cpu_limit_text(const Evidence& evidence) {
  const std::string where = evidence.crash_place.line == 0 || evidence.crash_rank < 0
                                ? ""
                                : fmt::format("\nrank {} was computing at {} when it was stopped.", evidence.crash_rank,
                                              place_text(evidence.crash_place));
  if (!evidence.end.got_on) {
    return fmt::format(
        "the program computed for more than {} s without a call that could go through, and was stopped: "
        "an endless loop?{}",
        evidence.limits.idle_cpu_seconds, where);
  }
  return fmt::format("the program computed for more than {} s and was stopped: an endless loop?{}",
                     evidence.limits.cpu_seconds, where);
}

std::string mebibytes(std::int64_t bytes) {
  return fmt::format("{} MiB", bytes >> 20);
}

/// What it has come to use of the memory, or the jail that the system killed.
std::int64_t peak_of(const Evidence& evidence) {
  return evidence.jail_peak > 0 ? evidence.jail_peak : evidence.end.peak_memory;
}

/// Whether it was the code of one rank, in its jail, that had too little memory, and not the broker with all tensors.
bool is_jails_memory(const Evidence& evidence) {
  const bool thrown = evidence.host_memory_exhausted ? evidence.jail_exhausted : evidence.end.signal == SIGABRT;
  return evidence.jail_bytes > 0 && (thrown || evidence.jail_peak > 0);
}

std::int64_t limit_of(const Evidence& evidence) {
  return is_jails_memory(evidence) ? evidence.jail_bytes : evidence.limits.memory_bytes;
}

/// By the system, which does that when the machine's memory runs out, or by somebody else.
bool is_killed(const Evidence& evidence) {
  return evidence.end.signal == SIGKILL && evidence.end.killed == Kill::none;
}

/// Of a program that has come to use most of what it may; others are not the reason for a machine's want of memory.
bool is_hog(const Evidence& evidence) {
  const std::int64_t limit = limit_of(evidence);
  return limit > 0 && peak_of(evidence) > limit / 2;
}

/// What the tensors of all ranks had of the computer's memory. The numbers are the program's own, and may be anything.
struct TensorMemory {
  std::int64_t all = 0, most = -1;
  std::size_t largest = 0;  ///< the rank that had most

  explicit TensorMemory(const wire::Result& result) {
    constexpr std::int64_t kMost = std::int64_t{1} << 40;
    for (std::size_t rank = 0; rank < result.last_words.size(); ++rank) {
      const std::int64_t bytes = std::clamp(result.last_words[rank].tensors, std::int64_t{0}, kMost);
      all += bytes;
      if (bytes <= most) continue;
      most = bytes;
      largest = rank;
    }
  }
};

/// "rank 0, after barrier at puzzle.cpp:11, threw std::bad_alloc", if that is how it went.
std::string who_threw(const wire::Result& result) {
  const auto& failure = result.report.failure;
  const bool tells = failure && failure->message.find("threw std::bad_alloc") != std::string::npos;
  return tells ? failure->message : "std::bad_alloc was thrown";
}

std::string killed_hog_text(const Evidence& evidence) {
  return fmt::format(
      "the system killed the program when it used {} of the computer's memory, of {} that {} may use.\n"
      "Most likely the memory of the machine, or of its container, has run out: give it more, or end other programs.\n"
      "If there is enough of it, the code uses more than it should.",
      mebibytes(peak_of(evidence)), mebibytes(limit_of(evidence)),
      is_jails_memory(evidence) ? "the code of a rank" : "a case");
}

/// std::bad_alloc says that there was no memory for something, and not why; and anybody can throw it.
std::string bad_alloc_text(const Evidence& evidence, const wire::Result& result) {
  const std::string text = who_threw(result) + ": there was no memory for what was asked for.\n";
  const std::string itself = " Or the code throws std::bad_alloc itself.";
  const std::int64_t limit = limit_of(evidence);
  if (is_jails_memory(evidence)) {
    return text + fmt::format(
                      "The code of each rank may use {}, and its tensors do not count. In most cases a "
                      "std::vector grows in a loop, or has a wrong size.{}",
                      mebibytes(limit), itself);
  }
  const std::string may_use = limit > 0 ? fmt::format(", of {} that a case may use", mebibytes(limit)) : "";
  return text + fmt::format("The program had used {}{}. Most likely a std::vector has a wrong size.{}",
                            mebibytes(peak_of(evidence)), may_use, itself);
}

/// On the CPU tensors lie in the computer's memory, too: how much they had tells whether it was they who filled it.
std::string memory_text(const Evidence& evidence, const wire::Result& result) {
  if (is_killed(evidence)) return killed_hog_text(evidence);
  const TensorMemory tensors(result);
  const std::int64_t limit = limit_of(evidence);
  const bool are_tensors = limit > 0 && tensors.all > limit / 2;
  if (is_jails_memory(evidence) || !(are_tensors || is_hog(evidence))) return bad_alloc_text(evidence, result);
  const std::string text =
      fmt::format("the program asked for more of the computer's memory than a case may use ({}).\n", mebibytes(limit));
  if (are_tensors) {
    return text + fmt::format(
                      "Its tensors had {} of it, rank {} alone {}: are they as large as they should be, and "
                      "dropped when nobody reads them any more?",
                      mebibytes(tensors.all), tensors.largest, mebibytes(tensors.most));
  }
  return text + fmt::format(
                    "Its tensors had no more than {}: something else grows, in most cases a std::vector in a "
                    "loop.",
                    mebibytes(tensors.all));
}

/// In a jail calls take time that is no processor's time of the program: so a loop of calls ends here, too.
std::string wall_limit_text(const Evidence& evidence, const wire::Result& result) {
  constexpr std::uint64_t kManyCalls = 5000;
  const auto most = std::max_element(result.last_words.begin(), result.last_words.end(),
                                     [](const auto& a, const auto& b) { return a.order < b.order; });
  const std::string text = fmt::format("the program took more than {:.0f} s", evidence.limits.wall_seconds);
  if (most == result.last_words.end() || most->order < kManyCalls) {
    // A jail's own time is not known here: it may have computed, on a machine that had no more for it.
    return text + (evidence.jail_bytes > 0
                       ? " and was stopped: an endless loop, or waiting for something outside of the runtime?"
                       : ", most of them waiting: for something outside of the runtime.");
  }
  return fmt::format("{} and was stopped. Rank {} made {} calls in that time: an endless loop?", text,
                     most - result.last_words.begin(), most->order);
}

bool is_cpu_limit(const Evidence& evidence) {
  const int limit = evidence.limits.cpu_seconds;
  if (!evidence.end.got_on && evidence.end.killed == Kill::none && !evidence.end.exited) return true;
  const bool killed = evidence.end.signal == SIGKILL && evidence.end.cpu_seconds >= limit;
  return limit > 0 && evidence.end.killed == Kill::none && (evidence.end.signal == SIGXCPU || killed);
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
  // Of several processes the others may wait for ever for one that could not go on.
  const bool has_noted_why = !evidence.fault.empty() || evidence.host_memory_exhausted;
  if (evidence.end.killed == Kill::wall_limit && !has_noted_why) return wire::Ending::wall_limit;
  if (evidence.end.killed == Kill::output_limit || evidence.end.signal == SIGXFSZ) return wire::Ending::output_limit;
  if (!evidence.fault.empty()) return wire::Ending::machine_fault;
  if (!evidence.host_memory_exhausted && is_cpu_limit(evidence)) return wire::Ending::cpu_limit;
  if (is_memory_limit(evidence)) {  // whatever became of the other ranks
    return evidence.tighter_limit > 0 ? wire::Ending::machine_fault : wire::Ending::memory_limit;
  }
  if (is_killed(evidence) || could_not_begin(evidence)) return wire::Ending::machine_fault;
  const bool called_exit = evidence.exited_by != boundary::CrashNote::ExitBy::unknown;
  return evidence.end.exited || called_exit ? wire::Ending::early_exit : wire::Ending::crashed;
}

std::string machine_fault_text(const Evidence& evidence) {
  if (!evidence.fault.empty()) return fmt::format("the run could not be made: {}.", evidence.fault);
  if (is_memory_limit(evidence)) {
    return fmt::format(
        "the limit of memory that is in force where the program ran ({}) leaves it less than a case may use. Raise it "
        "there: ulimit -v unlimited.",
        mebibytes(evidence.tighter_limit));
  }
  if (is_killed(evidence)) {
    return fmt::format(
        "the system killed the program when it used {}: most likely the machine's memory has run out. End other "
        "programs, or give the container more memory.",
        mebibytes(peak_of(evidence)));
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

std::string last_words_text(const std::vector<wire::LastWords>& words, std::size_t rank) {
  return one_line(rank < words.size() ? words[rank] : wire::LastWords{}, rank);
}

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
