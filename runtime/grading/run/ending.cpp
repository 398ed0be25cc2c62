#include "grading/run/ending.h"

#include <fmt/format.h>
#include <signal.h>

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
    case SIGILL: return "an illegal instruction: most likely the end of a function that should have returned a value";
    case SIGABRT: return "abort()";
    default: return fmt::format("signal {} ({})", signal, strsignal(signal));
  }
}

std::string signal_advice(const Evidence& evidence, int signal) {
  if (signal == SIGABRT) {
    if (evidence.end.output.find("terminate called") != std::string::npos) {
      return "An exception had nobody to catch it; what it said is in the output.";
    }
    return "An assert or the standard library found a mistake; what it said is in the output.";
  }
  constexpr std::uint64_t kFirstPage = 4096;
  if (signal == SIGSEGV && evidence.crash_address && *evidence.crash_address < kFirstPage) {
    return fmt::format("The address was {:#x}: an index or pointer into an empty vector, most likely.",
                       *evidence.crash_address);
  }
  if (signal == SIGSEGV || signal == SIGBUS) {
    return "An index outside of its std::vector, or endless recursion, are the usual reasons.";
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

constexpr const char* kMemoryText =
    "the program asked for more of the computer's memory than a case may use ({}).\n"
    "Tensors live in the device's memory, which is counted apart; a std::vector that grows in a loop is the usual "
    "reason.";

std::string mebibytes(std::int64_t bytes) {
  return fmt::format("{} MiB", bytes >> 20);
}

bool is_cpu_limit(const Evidence& evidence) {
  const int limit = evidence.limits.cpu_seconds;
  const bool killed = evidence.end.signal == SIGKILL && evidence.end.cpu_seconds >= limit;
  return limit > 0 && evidence.end.killed == Kill::none && (evidence.end.signal == SIGXCPU || killed);
}

bool is_memory_limit(const Evidence& evidence) {
  const bool unhandled =
      evidence.end.signal == SIGABRT && evidence.end.output.find("std::bad_alloc") != std::string::npos;
  const bool by_system = evidence.end.signal == SIGKILL && evidence.end.killed == Kill::none;
  return unhandled || by_system;
}

wire::Ending classify(const Evidence& evidence) {
  if (!evidence.end.started) return wire::Ending::not_started;
  if (evidence.end.killed == Kill::wall_limit) return wire::Ending::wall_limit;
  if (evidence.end.killed == Kill::output_limit || evidence.end.signal == SIGXFSZ) return wire::Ending::output_limit;
  if (evidence.host_memory_exhausted) return wire::Ending::memory_limit;  // whatever became of the other ranks
  if (is_cpu_limit(evidence)) return wire::Ending::cpu_limit;
  if (is_memory_limit(evidence)) return wire::Ending::memory_limit;
  return evidence.end.exited ? wire::Ending::early_exit : wire::Ending::crashed;
}

std::string sentence(wire::Ending ending, const Evidence& evidence) {
  switch (ending) {
    case wire::Ending::not_started: return fmt::format("the program could not be started: {}.", evidence.end.error);
    case wire::Ending::wall_limit:
      return fmt::format(
          "the program took more than {:.0f} s, most of them waiting: for something outside of the runtime.",
          evidence.limits.wall_seconds);
    case wire::Ending::output_limit:
      return fmt::format("the program wrote more than {} of output and was stopped.\nA print inside an endless loop?",
                         mebibytes(evidence.limits.output_bytes));
    case wire::Ending::cpu_limit: return cpu_limit_text(evidence);
    case wire::Ending::memory_limit:
      return fmt::format(fmt::runtime(kMemoryText), mebibytes(evidence.limits.memory_bytes));
    case wire::Ending::early_exit: return early_exit_text(evidence);
    case wire::Ending::crashed: return crash_text(evidence);
    case wire::Ending::finished:
    case wire::Ending::failed: break;
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
  result.explanation = sentence(result.ending, evidence);
  if (evidence.reached_main && !result.last_words.empty()) {
    result.explanation += "\nAt that moment:\n" + last_words_text(result);
  }
}

}  // namespace shardlings::grading::run
