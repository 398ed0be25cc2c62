#include "submission/wire/process_words.h"

#include <unistd.h>

#include <cstddef>
#include <cstring>

#include "base/pack.h"

namespace shardlings::wire {
namespace {

using front::BlackBoxEntry;

constexpr std::size_t kEntry = sizeof(BlackBoxEntry);
/// What only the rank itself writes: all but its state, which the process of the supervisor's host knows sooner.
constexpr std::size_t kOwn = sizeof(BlackBoxEntry::state);
static_assert(offsetof(BlackBoxEntry, state) == 0 && offsetof(BlackBoxEntry, line) == kOwn);

bool says_something(const boundary::CrashNote& note) {
  return note.signal.load() != 0 || note.exited_by.load() != boundary::CrashNote::ExitBy::unknown;
}

}  // namespace

std::string pack_words(const ProcessWords& words) {
  Packer packer;
  packer.text(words.host);
  packer.put(words.pid);
  packer.put(words.number);
  packer.put(words.first);
  packer.text(words.crash);
  packer.text(words.box);
  packer.put(words.exhausted);
  packer.put(words.memory_limits.address_space);
  packer.put(words.memory_limits.data);
  packer.text(words.fault);
  return packer.take();
}

ProcessWords unpack_words(std::string_view bytes) {
  Unpacker unpacker(bytes);
  ProcessWords words;
  words.host = unpacker.text();
  words.pid = unpacker.get<int>();
  words.number = unpacker.get<std::uint64_t>();
  words.first = unpacker.get<int>();
  words.crash = unpacker.text();
  words.box = unpacker.text();
  words.exhausted = unpacker.get<std::uint32_t>();
  words.memory_limits.address_space = unpacker.get<std::int64_t>();
  words.memory_limits.data = unpacker.get<std::int64_t>();
  words.fault = unpacker.text();
  return words;
}

ProcessWords words_of(const std::string& host, MappedFile& file, int first, int count) {
  ProcessWords words;
  words.host = host;
  words.pid = getpid();
  words.number = file.header().number;
  words.first = first;
  words.crash.resize(sizeof(boundary::CrashNote));
  std::memcpy(words.crash.data(), static_cast<const void*>(&file.header().crash), words.crash.size());
  const front::BlackBox box = file.black_box();
  words.box.assign(reinterpret_cast<const char*>(box.entries + first), kEntry * static_cast<std::size_t>(count));
  words.exhausted = file.header().exhausted;
  if (words.exhausted != 0) words.memory_limits = file.header().memory_limits;
  if (file.header().fault == FileHeader::kFault) words.fault = file.header().fault_text;
  return words;
}

void write_words(const ProcessWords& words, MappedFile& file, int ranks) {
  const bool is_of_a_case = !words.crash.empty();
  if (is_of_a_case && words.number != file.header().number) return;
  if (!words.fault.empty()) file.header().note_fault(words.fault);
  const std::size_t count = words.box.size() / kEntry;
  const bool fits = words.first >= 0 && words.first <= ranks &&
                    count <= static_cast<std::size_t>(ranks - words.first) && words.box.size() == count * kEntry &&
                    words.crash.size() == sizeof(boundary::CrashNote);
  if (!fits) return;
  for (std::size_t i = 0; i < count; ++i) {
    auto* entry = reinterpret_cast<char*>(file.black_box().entries + words.first + i);
    std::memcpy(entry + kOwn, words.box.data() + i * kEntry + kOwn, kEntry - kOwn);
  }
  if (words.exhausted != 0) file.header().note_exhausted(words.exhausted, words.memory_limits);
  boundary::CrashNote note;
  std::memcpy(static_cast<void*>(&note), words.crash.data(), words.crash.size());
  if (!says_something(file.header().crash) && says_something(note)) {
    std::memcpy(static_cast<void*>(&file.header().crash), words.crash.data(), words.crash.size());
  }
}

}  // namespace shardlings::wire
