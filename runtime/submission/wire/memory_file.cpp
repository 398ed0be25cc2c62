#include "submission/wire/memory_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace shardlings::wire {
namespace {

FileLayout layout_of(int file) {
  alignas(FileHeader) char raw[sizeof(FileHeader)];
  if (pread(file, raw, sizeof raw, 0) != static_cast<ssize_t>(sizeof raw)) {
    throw std::runtime_error("the file with the case is too short: this program is started by ./shardlings only");
  }
  const auto* header = reinterpret_cast<const FileHeader*>(raw);
  if (header->magic != FileHeader::kMagic || header->ranks == 0) {
    throw std::runtime_error("the file with the case is of another version: build everything again");
  }
  return {header->case_size, header->ranks};
}

}  // namespace

bool write_case(int file, std::string_view text, std::size_t ranks, std::uint64_t number) {
  FileHeader header;
  header.case_size = text.size();
  header.number = number;
  header.ranks = static_cast<std::uint32_t>(ranks);
  const FileLayout layout(text.size(), ranks);
  const auto write = [&](const void* data, std::size_t size, std::size_t begin) {
    return pwrite(file, data, size, static_cast<off_t>(begin)) == static_cast<ssize_t>(size);
  };
  return ftruncate(file, static_cast<off_t>(layout.result_begin)) == 0 && write(&header, sizeof header, 0) &&
         write(text.data(), text.size(), layout.case_begin);
}

MappedFile::MappedFile(int file) : file_(file), layout_(layout_of(file)) {
  base_ = mmap(nullptr, layout_.result_begin, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (base_ == MAP_FAILED) throw std::runtime_error(std::string("the file with the case: ") + std::strerror(errno));
}

MappedFile::~MappedFile() {
  munmap(base_, layout_.result_begin);
}

void FileHeader::note_fault(std::string_view why) {
  std::uint32_t none = 0;
  if (!fault.compare_exchange_strong(none, kFault)) return;
  constexpr std::string_view kMore = " …";
  std::string text(why);
  if (text.size() >= kText) {  // whole words: the last one may be what to do
    text.resize(kText - kMore.size() - 1);
    text.resize(std::min(text.find_last_of(' '), text.size()));
    text += kMore;
  }
  std::memcpy(fault_text, text.c_str(), text.size() + 1);
}

void FileHeader::note_exhausted(std::uint32_t how, const MemoryLimits& limits) {
  if (notes_exhausted.exchange(true)) return;
  memory_limits = limits;
  exhausted.store(how);
}

std::string_view MappedFile::case_text() const {
  const char* base = static_cast<const char*>(base_);
  return {base + layout_.case_begin, static_cast<const FileHeader*>(base_)->case_size};
}

front::BlackBox MappedFile::black_box() {
  void* begin = static_cast<char*>(base_) + layout_.box_begin;
  return {static_cast<front::BlackBoxEntry*>(begin), static_cast<int>(header().ranks)};
}

void MappedFile::finish(std::string_view result) {
  std::size_t written = 0;
  while (written < result.size()) {
    const ssize_t n = pwrite(file_, result.data() + written, result.size() - written,
                             static_cast<off_t>(layout_.result_begin + written));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw std::runtime_error(std::string("writing the result: ") + std::strerror(errno));
    written += static_cast<std::size_t>(n);
  }
  header().result_size = result.size();
  header().end.store(FileHeader::kEnd);
}

}  // namespace shardlings::wire
