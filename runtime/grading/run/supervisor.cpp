#include "grading/run/supervisor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "base/machine_fault.h"
#include "base/sanitizers.h"
#include "base/text.h"
#include "grading/run/ending.h"
#include "grading/run/made_up_places.h"
#include "submission/wire/memory_file.h"
#include "submission/wire/result_pack.h"

namespace shardlings::grading::run {

/// The file in memory, from the supervisor's side.
class CaseFile {
 public:
  explicit CaseFile(const cases::Case& kase) : CaseFile(to_json(kase), static_cast<std::size_t>(kase.ranks)) {}
  ~CaseFile() {
    if (number_ >= 0) ::close(number_);
  }
  CaseFile(const CaseFile&) = delete;
  CaseFile& operator=(const CaseFile&) = delete;

  int number() const { return number_; }
  const wire::FileLayout& layout() const { return layout_; }
  bool good() const { return good_; }

  /// Up to `size` bytes; fewer if the file ends before.
  std::string read(std::size_t begin, std::size_t size) const {
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

 private:
  CaseFile(const std::string& text, std::size_t ranks)
      : layout_(text.size(), ranks), number_(memfd_create("shardlings", MFD_CLOEXEC)) {
    wire::FileHeader header;
    header.case_size = text.size();
    header.ranks = static_cast<std::uint32_t>(ranks);
    good_ = number_ >= 0 && ftruncate(number_, static_cast<off_t>(layout_.result_begin)) == 0 &&
            write(&header, sizeof header, 0) && write(text.data(), text.size(), layout_.case_begin);
  }
  bool write(const void* data, std::size_t size, std::size_t begin) {
    return pwrite(number_, data, size, static_cast<off_t>(begin)) == static_cast<ssize_t>(size);
  }

  wire::FileLayout layout_;
  int number_;
  bool good_ = false;
};

namespace {

/// Slow, and shadow memory is terabytes of address space.
constexpr bool kSanitized = kAddressSanitizer || kThreadSanitizer;

/// A folder of its own, gone with its contents at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code error;
    std::string pattern = (std::filesystem::temp_directory_path(error) / "shardlings-XXXXXX").string();
    if (!error && mkdtemp(pattern.data())) path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// The text in a fixed array of characters that anybody may have written to.
std::string text_in(const char* chars, std::size_t size) {
  std::string text(chars, strnlen(chars, size));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

const char* state_name(std::uint32_t state) {
  constexpr const char* kNames[] = {"not_started", "running", "blocked", "finished", "failed"};
  return state < std::size(kNames) ? kNames[state] : "running";
}

front::RunPart part_of(std::uint32_t part) {
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
                   part_of(entry->part)};
  }
  return words;
}

/// Of all ranks so far.
std::uint64_t calls_of(const CaseFile& file, std::size_t ranks) {
  std::uint64_t calls = 0;
  for (const wire::LastWords& words : last_words_of(file, ranks)) calls += words.order;
  return calls;
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
  std::string fault;
  std::uint64_t result_size = 0, address = 0;
  int signal = 0, rank = -1;
  boundary::CrashNote::Fault crash_fault{};
  boundary::CrashNote::ExitBy exited_by{};
  std::vector<std::uint64_t> frames;
  std::int64_t jail_bytes = 0, jail_peak = 0;
};

/// Those that a broker has noted. What a program notes that has the learner's code in it is worth nothing.
boundary::Walls walls_of(const CaseFile& file, const Submission& submission) {
  const std::string bytes = submission.jail.empty() ? "" : file.read(0, sizeof(wire::FileHeader));
  if (bytes.size() != sizeof(wire::FileHeader)) return {};
  return reinterpret_cast<const wire::FileHeader*>(bytes.data())->walls;
}

Header header_of(const CaseFile& file, int ranks) {
  Header header;
  const std::string bytes = file.read(0, sizeof(wire::FileHeader));
  if (bytes.size() != sizeof(wire::FileHeader)) return header;
  const auto* raw = reinterpret_cast<const wire::FileHeader*>(bytes.data());
  header.hello = raw->hello.load() == wire::FileHeader::kHello;
  header.end = raw->end.load() == wire::FileHeader::kEnd;
  header.jail_exhausted = raw->exhausted.load() == wire::FileHeader::kJailExhausted;
  header.host_memory_exhausted = header.jail_exhausted || raw->exhausted.load() == wire::FileHeader::kExhausted;
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

/// Where that rank was, or, if nobody knows which rank it was, the one that has come least far.
front::RunPart end_of(const std::vector<wire::LastWords>& words, int rank) {
  if (rank >= 0 && static_cast<std::size_t>(rank) < words.size()) return words[static_cast<std::size_t>(rank)].part;
  front::RunPart least = words.empty() ? front::RunPart::before : front::RunPart::behind;
  for (const wire::LastWords& each : words) least = std::min(least, each.part);
  return least;
}

/// `submission`: what is known of the learner's file; where that is a jail, it is the program with their code in it.
void conclude(const Submission& submission, const CaseFile& file, const ProcessEnd& end, const ProcessLimits& limits,
              int ranks, wire::Result& result) {
  const std::string& program = submission.jail.empty() ? submission.program : submission.jail;
  const Header header = header_of(file, ranks);
  result.last_words = last_words_of(file, static_cast<std::size_t>(ranks));
  const bool readable = header.end && read_report(file, header, static_cast<std::size_t>(ranks), result);
  if (!submission.source.empty()) leave_out_made_up_places(submission.source, submission.call_lines, result);
  const auto& failure = result.report.failure;
  result.ended_in = end_of(result.last_words, readable && failure ? failure->rank : header.rank);
  // A tensor for which there was no room says more than that some other rank could not get a few bytes then; but not
  // where the machine gives less than a case may use.
  const bool explained =
      failure && failure->kind == front::FailureKind::out_of_memory && tighter_memory_limit(limits) == 0;
  if (readable && header.fault.empty() && (explained || !header.host_memory_exhausted)) {
    result.ending = failure ? wire::Ending::failed : wire::Ending::finished;
    if (failure) result.explanation = failure->message;
    return;
  }
  Evidence evidence{.end = end, .limits = limits};
  evidence.reached_main = header.hello;
  evidence.host_memory_exhausted = header.host_memory_exhausted;
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

}  // namespace

ProcessLimits default_limits(int ranks, world::Backend backend) {
  constexpr std::int64_t kMebibyte = 1 << 20;
  ProcessLimits limits;
  limits.cpu_seconds = kSanitized ? 60 : 5;
  limits.wall_seconds = kSanitized ? 300 : 20;
  // OpenBLAS reserves 128 MiB for each thread that multiplies, of which it touches little; where it gets none, it asks
  // again for ever.
  constexpr std::int64_t kRank = 16 + 136;
  limits.memory_bytes = kSanitized ? 0 : (1024 + kRank * ranks) * kMebibyte;
  limits.file_bytes = 2048 * kMebibyte;
  limits.output_bytes = 64 * kMebibyte;
  if (world::capabilities_of(backend).needs_gpu) {
    limits.cpu_seconds = 60;
    limits.wall_seconds = 120;
    limits.memory_bytes = 0;
  }
  if (!world::capabilities_of(backend).computes) {
    // Addresses, most of them of stacks of which a few pages are used (back/engine/fibers/stack.cpp).
    constexpr std::int64_t kFiber = 2;
    limits.cpu_seconds = 600;
    limits.wall_seconds = 900;
    limits.idle_cpu_seconds = 60;  // what thousands of ranks need before their first call, and after their last one
    limits.memory_bytes = kSanitized ? 0 : (4096 + kFiber * ranks) * kMebibyte;
  }
  return limits;
}

wire::Result run_case(const Submission& submission, const cases::Case& kase, const ProcessLimits& limits,
                      world::Backend backend) {
  wire::Result result;
  errno = 0;
  const CaseFile file(kase);
  const TemporaryFolder folder;
  if (!file.good() || folder.path().empty()) {
    const char* where = file.good() ? "in the folder for temporary files" : "in memory";
    result.explanation = with_advice(fmt::format("there is no room for the case's files, {}", where), errno);
    return result;
  }
  ProcessOptions options;
  options.program = submission.program;
  options.arguments = {"3", name_of(backend)};
  if (!submission.jail.empty()) {
    options.arguments.insert(options.arguments.end(),
                             {submission.jail, std::to_string(submission.least_tier), submission.source});
  }
  options.environment =
      capabilities_of(backend).needs_gpu ? gpu_environment(folder.path()) : clean_environment(folder.path());
  options.folder = folder.path();
  options.file = file.number();
  options.limits = limits;
  options.progress = [&file, &kase] { return calls_of(file, static_cast<std::size_t>(kase.ranks)); };
  const ProcessEnd end = run_process(options);
  result.stdout_text = end.output;
  result.stdout_truncated = end.output_truncated;
  result.seconds = end.seconds;
  result.walls = walls_of(file, submission);
  conclude(submission, file, end, limits, kase.ranks, result);
  return result;
}

Witness::Witness(const cases::Case& kase) : file_(new CaseFile(kase)), ranks_(kase.ranks) {}

Witness::~Witness() = default;

int Witness::file() const {
  return file_->good() ? file_->number() : -1;
}

wire::Result Witness::explain(const std::string& program, const ProcessEnd& end) const {
  wire::Result result;
  conclude(program, *file_, end, {}, ranks_, result);
  return result;
}

}  // namespace shardlings::grading::run
