#include "submission/wire/process_words.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/pack.h"

namespace shardlings::wire {
namespace {

constexpr std::size_t kEntry = sizeof(front::BlackBoxEntry);

bool says_something(const boundary::CrashNote& note) {
  return note.signal.load() != 0 || note.exited_by.load() != boundary::CrashNote::ExitBy::unknown;
}

}  // namespace

std::string pack_words(const ProcessWords& words) {
  Packer packer;
  packer.text(words.host);
  packer.put(words.pid);
  packer.put(words.first);
  packer.text(words.crash);
  packer.text(words.box);
  return packer.take();
}

ProcessWords unpack_words(std::string_view bytes) {
  Unpacker unpacker(bytes);
  ProcessWords words;
  words.host = unpacker.text();
  words.pid = unpacker.get<int>();
  words.first = unpacker.get<int>();
  words.crash = unpacker.text();
  words.box = unpacker.text();
  return words;
}

ProcessWords words_of(const std::string& host, MappedFile& file, int first, int count) {
  ProcessWords words{host, getpid(), first, std::string(sizeof(boundary::CrashNote), '\0'), {}};
  std::memcpy(words.crash.data(), static_cast<const void*>(&file.header().crash), words.crash.size());
  const front::BlackBox box = file.black_box();
  words.box.assign(reinterpret_cast<const char*>(box.entries + first), kEntry * static_cast<std::size_t>(count));
  return words;
}

void write_words(const ProcessWords& words, MappedFile& file, int ranks) {
  const std::size_t count = words.box.size() / kEntry;
  const bool fits = words.first >= 0 && words.first <= ranks &&
                    count <= static_cast<std::size_t>(ranks - words.first) && words.box.size() == count * kEntry &&
                    words.crash.size() == sizeof(boundary::CrashNote);
  if (!fits) return;
  std::memcpy(static_cast<void*>(file.black_box().entries + words.first), words.box.data(), words.box.size());
  boundary::CrashNote note;
  std::memcpy(static_cast<void*>(&note), words.crash.data(), words.crash.size());
  if (!says_something(file.header().crash) && says_something(note)) {
    std::memcpy(static_cast<void*>(&file.header().crash), words.crash.data(), words.crash.size());
  }
}

}  // namespace shardlings::wire
