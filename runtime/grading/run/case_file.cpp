#include "grading/run/case_file.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <vector>

#include "base/machine_fault.h"
#include "base/text.h"
#include "grading/run/ending.h"
#include "grading/run/made_up_places.h"
#include "submission/wire/result_pack.h"

namespace shardlings::grading::run {
namespace {

/// The text in a fixed array of characters that anybody may have written to.
std::string text_in(const char* chars, std::size_t size) {
  std::string text(chars, strnlen(chars, size));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

const char* state_name(std::uint32_t state) {
  constexpr const char* kNames[] = {"not_started", "running", "blocked", "finished", "failed", "dead"};
  return state < std::size(kNames) ? kNames[state] : "running";
}

front::RunPart run_part_of(std::uint32_t part) {
  constexpr auto kLast = static_cast<std::uint32_t>(front::RunPart::behind);
  return part <= kLast ? static_cast<front::RunPart>(part) : front::RunPart::before;
}

std::vector<wire::LastWords> last_words_of(const CaseFile& file, std::size_t ranks) {
  const std::string bytes = file.read(file.layout().box_begin, ranks * sizeof(front::BlackBoxEntry));
  std::vector<wire::LastWords> words(bytes.size() / sizeof(front::BlackBoxEntry));
  for (std::size_t rank = 0; rank < words.size(); ++rank) {
    const auto* entry = reinterpret_cast<const front::BlackBoxEntry*>(bytes.data()) + rank;
    words[rank] = {state_name(entry->state.load()),
                   text_in(entry->verb, sizeof entry->verb),
                   text_in(entry->file, sizeof entry->file),
                   entry->line,
                   entry->order,
                   entry->tensors,
                   entry->in_harness,
                   run_part_of(entry->part)};
  }
  return words;
}

/// Not the learner's: the standard library's, the public headers', the harness's, the near side of the port's.
bool is_foreign(const std::string& line) {
  const auto is_in = [&](const char* folder) { return line.find(folder) != std::string::npos; };
  if (is_in("runtime/boundary/") || is_in("runtime/api/") || is_in("runtime/base/") || is_in("runtime/model/"))
    return true;
  return line.empty() || line.find('?') != std::string::npos || line.starts_with("/usr/") || line.ends_with(":0") ||
         line.find("/include/shardlings/") != std::string::npos || base_name(line).starts_with("harness.cpp:") ||
         base_name(line).starts_with("submission_main.cpp:") || line.find("/train/main.cpp:") != std::string::npos;
}

/// "puzzle.cpp:31" of "/home/ada/puzzle.cpp:31".
wire::Place parse_place(const std::string& line) {
  const std::string_view name = base_name(line);
  const std::size_t colon = name.rfind(':');
  return {std::string(name.substr(0, colon)), std::atoi(name.substr(colon + 1).data())};
}

/// The innermost call that stands in the learner's source, by binutils' addr2line; else nothing.
wire::Place place_of(const std::string& program, const std::vector<std::uint64_t>& frames) {
  ProcessOptions options;
  options.program = "/usr/bin/addr2line";
  options.arguments = {"-i", "-e", program};
  for (const std::uint64_t frame : frames) options.arguments.push_back(fmt::format("{:#x}", frame));
  options.environment = clean_environment("/");
  options.limits.cpu_seconds = 10;
  std::istringstream lines(run_process(options).output);
  for (std::string line; std::getline(lines, line);) {
    line = line.substr(0, line.find(" ("));  // " (discriminator 2)"
    if (!is_foreign(line)) return parse_place(line);
  }
  return {};
}

/// What the header says, each field copied once.
struct Header {
  bool hello = false, end = false, host_memory_exhausted = false, jail_exhausted = false;
  MemoryLimits memory_limits = memory_limits_here();  ///< where it ran, as far as it has said so
  std::string fault;
  std::uint64_t result_size = 0, address = 0;
  int signal = 0, rank = -1;
  boundary::CrashNote::Fault crash_fault{};
  boundary::CrashNote::ExitBy exited_by{};
  std::vector<std::uint64_t> frames;
  std::int64_t jail_bytes = 0, jail_peak = 0;
};

Header header_of(const CaseFile& file, int ranks) {
  Header header;
  const std::string bytes = file.read(0, sizeof(wire::FileHeader));
  if (bytes.size() != sizeof(wire::FileHeader)) return header;
  const auto* raw = reinterpret_cast<const wire::FileHeader*>(bytes.data());
  header.hello = raw->hello.load() == wire::FileHeader::kHello;
  header.end = raw->end.load() == wire::FileHeader::kEnd;
  header.jail_exhausted = raw->exhausted.load() == wire::FileHeader::kJailExhausted;
  header.host_memory_exhausted = header.jail_exhausted || raw->exhausted.load() == wire::FileHeader::kExhausted;
  if (header.host_memory_exhausted) header.memory_limits = raw->memory_limits;
  if (raw->fault.load() == wire::FileHeader::kFault) header.fault = text_in(raw->fault_text, sizeof raw->fault_text);
  header.result_size = raw->result_size;
  header.signal = raw->crash.signal.load();
  header.rank = raw->crash.rank >= 0 && raw->crash.rank < ranks ? raw->crash.rank : -1;
  header.crash_fault = raw->crash.fault;
  header.address = raw->crash.address;
  header.exited_by = raw->crash.exited_by.load();
  header.jail_bytes = raw->jail_bytes;
  header.jail_peak = raw->jail_peak;
  for (const std::uint64_t frame : raw->crash.frames) {
    if (frame != 0) header.frames.push_back(frame);
  }
  return header;
}

/// Reads report and outputs; false if they are damaged.
bool read_report(const CaseFile& file, const Header& header, std::size_t ranks, wire::Result& result) try {
  const std::string bytes = file.read(file.layout().result_begin, header.result_size);
  if (bytes.size() != header.result_size) return false;
  wire::unpack_report(bytes, ranks, result);
  return true;
} catch (const std::exception&) {
  result.report = {};
  result.outputs.clear();
  return false;
}

}  // namespace

CaseFile::CaseFile(const cases::Case& kase) : CaseFile(to_json(kase), static_cast<std::size_t>(kase.ranks)) {}

CaseFile::CaseFile(const std::string& text, std::size_t ranks)
    : ranks_(ranks), layout_(text.size(), ranks), number_(memfd_create("shardlings", MFD_CLOEXEC)) {
  static std::atomic<std::uint64_t> cases = 0;
  good_ = number_ >= 0 && wire::write_case(number_, text, ranks, ++cases);
}

CaseFile::~CaseFile() {
  if (number_ >= 0) ::close(number_);
}

std::string CaseFile::read(std::size_t begin, std::size_t size) const {
  constexpr std::size_t kMost = std::size_t{1} << 31U;
  std::string bytes;
  const off_t end = lseek(number_, 0, SEEK_END);
  if (end < 0 || static_cast<std::size_t>(end) <= begin) return bytes;
  bytes.resize(std::min({size, static_cast<std::size_t>(end) - begin, kMost}));
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = pread(number_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(begin + done));
    if (n <= 0) break;
    done += static_cast<std::size_t>(n);
  }
  bytes.resize(done);
  return bytes;
}

bool CaseFile::has_ended() const {
  return header_of(*this, static_cast<int>(ranks_)).end;
}

std::uint64_t CaseFile::calls() const {
  std::uint64_t calls = 0;
  for (const wire::LastWords& words : last_words_of(*this, ranks_)) calls += words.order;
  return calls;
}

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  std::string pattern = (std::filesystem::temp_directory_path(error) / "shardlings-XXXXXX").string();
  if (!error && mkdtemp(pattern.data())) path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

wire::Result no_room(bool is_in_memory) {
  wire::Result result;
  const char* where = is_in_memory ? "in memory" : "in the folder for temporary files";
  result.explanation = with_advice(fmt::format("there is no room for the case's files, {}", where), errno);
  return result;
}

boundary::Walls walls_of(const CaseFile& file, const Submission& submission) {
  const std::string bytes = submission.jail.empty() ? "" : file.read(0, sizeof(wire::FileHeader));
  if (bytes.size() != sizeof(wire::FileHeader)) return {};
  return reinterpret_cast<const wire::FileHeader*>(bytes.data())->walls;
}

int crash_signal_of(const CaseFile& file) {
  return header_of(file, 0).signal;
}

bool has_noted_exit(const CaseFile& file) {
  return header_of(file, 0).exited_by != boundary::CrashNote::ExitBy::unknown;
}

bool has_noted_fault(const CaseFile& file) {
  const Header header = header_of(file, 0);
  return !header.fault.empty() || header.host_memory_exhausted;
}

/// Where that rank was, or, if nobody knows which rank it was, the one that has come least far.
static front::RunPart end_of(const std::vector<wire::LastWords>& words, int rank) {
  if (rank >= 0 && static_cast<std::size_t>(rank) < words.size()) return words[static_cast<std::size_t>(rank)].part;
  front::RunPart least = words.empty() ? front::RunPart::before : front::RunPart::behind;
  for (const wire::LastWords& each : words) least = std::min(least, each.part);
  return least;
}

void conclude(const Submission& submission, const CaseFile& file, const ProcessEnd& end, const ProcessLimits& limits,
              int ranks, wire::Result& result) {
  const std::string& program = submission.jail.empty() ? submission.program : submission.jail;
  const Header header = header_of(file, ranks);
  result.last_words = last_words_of(file, static_cast<std::size_t>(ranks));
  const bool readable = header.end && read_report(file, header, static_cast<std::size_t>(ranks), result);
  if (!submission.source.empty()) leave_out_made_up_places(submission.source, submission.call_lines, result);
  const auto& failure = result.report.failure;
  result.ended_in = end_of(result.last_words, readable && failure ? failure->rank : header.rank);
  const std::int64_t tighter = tighter_limit(header.memory_limits, limits.memory_bytes);
  // A tensor for which there was no room says more than that some other rank could not get a few bytes then; but not
  // where the machine gives less than a case may use.
  const bool explained = failure && failure->kind == front::FailureKind::out_of_memory && tighter == 0;
  if (readable && header.fault.empty() && (explained || !header.host_memory_exhausted)) {
    result.ending = failure ? wire::Ending::failed : wire::Ending::finished;
    if (failure) result.explanation = failure->message;
    return;
  }
  Evidence evidence{.end = end, .limits = limits};
  evidence.reached_main = header.hello;
  evidence.host_memory_exhausted = header.host_memory_exhausted;
  evidence.tighter_limit = tighter;
  evidence.fault = header.fault;
  evidence.damaged = header.end && !readable;
  evidence.jail_exhausted = header.jail_exhausted;
  evidence.jail_bytes = header.jail_bytes;
  evidence.jail_peak = header.jail_peak;
  evidence.exited_by = header.exited_by;
  if (header.exited_by != boundary::CrashNote::ExitBy::unknown) {
    evidence.crash_rank = header.rank;
    evidence.crash_place = place_of(program, header.frames);
  } else if (header.signal != 0 && !end.exited) {
    evidence.crash_signal = header.signal;
    evidence.crash_rank = header.rank;
    evidence.crash_fault = header.crash_fault;
    if (header.crash_fault == boundary::CrashNote::Fault::at_address) evidence.crash_address = header.address;
    evidence.crash_place = place_of(program, header.frames);
  }
  describe_ending(evidence, result);
}

}  // namespace shardlings::grading::run
