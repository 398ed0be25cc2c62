#include "cli/submissions/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "base/file.h"
#include "cli/submissions/naming.h"

namespace shardlings::cli::submissions {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kBlock = 64 * 1024;

using Reader = std::unique_ptr<archive, decltype(&archive_read_free)>;

/// The entry's path; empty if it has none.
fs::path path_of(archive_entry* entry) {
  const char* name = archive_entry_pathname_utf8(entry);
  if (name == nullptr) name = archive_entry_pathname(entry);
  return name == nullptr ? fs::path() : fs::path(name).lexically_normal();
}

/// What nobody means to hand in: folders of the system's, and files beside others that a Mac writes.
bool is_systems(const fs::path& path) {
  return path.filename().string().starts_with('.') || *path.begin() == "__MACOSX";
}

/// Why a file of that name is not written; empty if it is to be.
std::string obstacle(archive_entry* entry, const fs::path& path, const ArchiveLimits& limits) {
  if (archive_entry_hardlink(entry) != nullptr || archive_entry_filetype(entry) == AE_IFLNK) return "it is a link";
  if (archive_entry_filetype(entry) != AE_IFREG) return "it is no file";
  if (archive_entry_is_encrypted(entry) != 0) return "it asks for a password";
  if (is_archive(path.filename().string())) return "an archive in an archive is not opened";
  if (is_nearly_source(path.filename().string())) return kWrongSuffix;
  if (path.native().size() > limits.path_characters) return "its path is too long";
  const bool leads_out = path.is_absolute() || std::find(path.begin(), path.end(), "..") != path.end();
  return leads_out ? "its path leads out of the archive" : "";
}

std::string said_by(archive* reader) {
  const char* text = archive_error_string(reader);
  return text == nullptr ? "it is damaged" : text;
}

/// Reads what the file holds. Returns why that is not to be had, or nothing.
std::string read_content(archive* reader, const ArchiveLimits& limits, std::string& content) {
  std::string block(kBlock, '\0');
  for (;;) {
    const la_ssize_t size = archive_read_data(reader, block.data(), block.size());
    if (size == 0) return "";
    if (size < 0) return said_by(reader);
    if (static_cast<std::int64_t>(content.size()) + size > limits.file_bytes) {
      return fmt::format("it is larger than {} MiB", static_cast<double>(limits.file_bytes) / (1 << 20));
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

/// Takes one entry of an archive, or says why not.
void take_entry(archive* reader, archive_entry* entry, const std::string& folder, const ArchiveLimits& limits,
                std::vector<LeftOut>& left_out) {
  const fs::path path = path_of(entry);
  const std::string name = path.filename().string();
  const bool matters = is_source(name) || is_nearly_source(name) || is_archive(name);
  if (!matters || archive_entry_filetype(entry) == AE_IFDIR || is_systems(path)) return;
  std::string content, why = obstacle(entry, path, limits);
  if (why.empty()) why = read_content(reader, limits, content);
  if (why.empty()) {
    write_with_time(folder / path, content, entry);
  } else {
    left_out.push_back({path.string(), why});
  }
}

}  // namespace

Unpacked unpack(const std::string& archive_file, const std::string& folder, const ArchiveLimits& limits) {
  const Reader reader(archive_read_new(), &archive_read_free);
  archive_read_support_filter_all(reader.get());
  archive_read_support_format_all(reader.get());
  if (archive_read_open_filename(reader.get(), archive_file.c_str(), kBlock) != ARCHIVE_OK)
    return {said_by(reader.get()), {}};
  Unpacked result;
  archive_entry* entry = nullptr;
  for (int entries = 1; result.unread.empty(); ++entries) {
    const int status = archive_read_next_header(reader.get(), &entry);
    if (status == ARCHIVE_EOF) break;
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN) {
      result.unread = said_by(reader.get());
    } else if (entries > limits.entries) {
      result.unread = fmt::format("it holds more than {} entries", limits.entries);
    } else if (archive_filter_bytes(reader.get(), 0) > limits.all_bytes) {
      result.unread = fmt::format("it holds more than {} MiB", limits.all_bytes >> 20);
    } else {
      take_entry(reader.get(), entry, folder, limits, result.left_out);
    }
  }
  return result;
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
