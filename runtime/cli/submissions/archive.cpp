#include "cli/submissions/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/file.h"

namespace shardlings::cli::submissions {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kBlock = 64 * 1024;

using Reader = std::unique_ptr<archive, decltype(&archive_read_free)>;

std::string said_by(archive* reader) {
  const char* text = archive_error_string(reader);
  return text == nullptr ? "it is damaged" : text;
}

std::string name_of(archive_entry* entry) {
  const char* name = archive_entry_pathname_utf8(entry);
  if (name == nullptr) name = archive_entry_pathname(entry);
  return name == nullptr ? "" : name;
}

/// What is wrong with a C++ file, as a sentence goes on with that begins with its name; empty: nothing.
std::string fault_of(archive_entry* entry, const fs::path& path, const ArchiveLimits& limits) {
  if (archive_entry_symlink(entry) != nullptr || archive_entry_hardlink(entry) != nullptr) return "is a link";
  if (archive_entry_filetype(entry) != AE_IFREG) return "is no file";
  if (path.native().size() > limits.path_characters) return "lies too deep";
  const bool leads_out = path.is_absolute() || std::find(path.begin(), path.end(), "..") != path.end();
  return leads_out ? "would lie outside of the student's folder" : "";
}

/// What the file holds. Throws std::runtime_error: why it cannot be had.
std::string content_of(archive* reader, const std::string& name, const ArchiveLimits& limits) {
  std::string content;
  std::string block(kBlock, '\0');
  for (;;) {
    const la_ssize_t size = archive_read_data(reader, block.data(), block.size());
    if (size == 0) return content;
    if (size < 0) throw std::runtime_error(fmt::format("{} in it cannot be read: {}", name, said_by(reader)));
    if (static_cast<std::int64_t>(content.size()) + size > limits.file_bytes) {
      throw std::runtime_error(fmt::format("{} in it has more than {} KiB", name, limits.file_bytes >> 10));
    }
    content.append(block, 0, static_cast<std::size_t>(size));
  }
}

void write_with_time(const fs::path& file, const std::string& content, archive_entry* entry) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  write_file_atomically(file.string(), content, Outlives::kill);
  if (archive_entry_mtime_is_set(entry) == 0) return;
  const timespec time = {archive_entry_mtime(entry), archive_entry_mtime_nsec(entry)};
  const timespec both[] = {time, time};
  utimensat(AT_FDCWD, file.c_str(), both, AT_SYMLINK_NOFOLLOW);
}

/// Takes the entries of one archive, one after another.
class Unpacking {
 public:
  Unpacking(archive* reader, std::string folder, const ArchiveLimits& limits)
      : reader_(reader), folder_(std::move(folder)), limits_(limits) {}

  void take(archive_entry* entry) {
    const std::string name = name_of(entry);
    if (is_archive(name)) return leave_out(name, "is an archive in an archive, and these are not opened");
    if (!is_cpp_file(name)) return;
    const fs::path path = fs::path(name).lexically_normal();
    const std::string fault = fault_of(entry, path, limits_);
    if (!fault.empty()) return leave_out(name, fault);
    try {
      const std::string content = content_of(reader_, name, limits_);
      if (!taken_.insert(path.string()).second) throw std::runtime_error(name + " is in it twice");
      write_with_time(fs::path(folder_) / path, content, entry);
    } catch (const std::runtime_error& error) {
      std::error_code ignored;
      fs::remove(fs::path(folder_) / path, ignored);  // of two with one name none is known to count
      if (fault_.empty()) fault_ = error.what();
    }
  }
  Unpacked result(const std::string& fault) && {
    return {fault.empty() ? std::move(fault_) : fault, std::move(left_out_)};
  }

 private:
  static constexpr std::size_t kMostToldOf = 100;
  void leave_out(const std::string& name, const std::string& why) {
    if (left_out_.size() < kMostToldOf) left_out_.push_back(name + " " + why);
  }

  archive* reader_;
  std::string folder_;
  const ArchiveLimits& limits_;
  std::set<std::string> taken_;
  std::vector<std::string> left_out_;
  std::string fault_;
};

/// Hands all entries to `take`; why not all, if not all.
std::string for_each_entry(archive* reader, const ArchiveLimits& limits,
                           const std::function<void(archive_entry*)>& take) {
  archive_entry* entry = nullptr;
  for (int entries = 1;; ++entries) {
    const int status = archive_read_next_header(reader, &entry);
    if (status == ARCHIVE_EOF) return entries == 1 ? "nothing is in it" : "";
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN) return said_by(reader);
    if (entries > limits.entries) return fmt::format("it holds more than {} entries", limits.entries);
    if (archive_filter_bytes(reader, 0) > limits.all_bytes) {
      return fmt::format("it holds more than {} MiB", limits.all_bytes >> 20);
    }
    take(entry);
  }
}

}  // namespace

Unpacked unpack(const std::string& archive_file, const std::string& folder, const ArchiveLimits& limits) {
  const Reader reader(archive_read_new(), &archive_read_free);
  archive_read_support_filter_all(reader.get());
  archive_read_support_format_all(reader.get());
  if (archive_read_open_filename(reader.get(), archive_file.c_str(), kBlock) != ARCHIVE_OK) {
    return {said_by(reader.get()), {}};
  }
  Unpacking unpacking(reader.get(), folder, limits);
  const std::string fault =
      for_each_entry(reader.get(), limits, [&unpacking](archive_entry* entry) { unpacking.take(entry); });
  return std::move(unpacking).result(fault);
}

namespace {

using Writer = std::unique_ptr<archive, decltype(&archive_write_free)>;

void check(archive* writer, int status, const std::string& zip) {
  if (status == ARCHIVE_OK || status == ARCHIVE_WARN) return;
  throw std::runtime_error(fmt::format("{} cannot be written: {}", zip, said_by(writer)));
}

void add_to(archive* writer, const fs::path& file, const std::string& name, const std::string& zip) {
  const std::string content = read_whole_file(file.string());
  const std::unique_ptr<archive_entry, decltype(&archive_entry_free)> entry(archive_entry_new(), &archive_entry_free);
  archive_entry_set_pathname(entry.get(), name.c_str());
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  const bool runs = (fs::status(file).permissions() & fs::perms::owner_exec) != fs::perms::none;
  archive_entry_set_perm(entry.get(), runs ? 0755 : 0644);
  check(writer, archive_write_header(writer, entry.get()), zip);
  if (archive_write_data(writer, content.data(), content.size()) < 0) check(writer, ARCHIVE_FATAL, zip);
}

}  // namespace

void pack(const std::string& folder, const std::string& zip) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  const std::string unfinished = zip + ".new";
  const Writer writer(archive_write_new(), &archive_write_free);
  check(writer.get(), archive_write_set_format_zip(writer.get()), zip);
  check(writer.get(), archive_write_open_filename(writer.get(), unfinished.c_str()), zip);
  for (const fs::path& file : files) {
    add_to(writer.get(), file, file.lexically_relative(folder).string(), zip);
  }
  check(writer.get(), archive_write_close(writer.get()), zip);
  fs::rename(unfinished, zip);
}

}  // namespace shardlings::cli::submissions
