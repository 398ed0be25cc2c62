// What a folder of the store is called is a symbolic link to the folder of the file system that has its items, as
// files: so giving it another name is one rename(2), even if the new name has been another folder's. What no name leads
// to any more is removed, now or by the next program.
#include "back/store/store.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "base/file.h"

namespace shardlings::back {
namespace {

namespace fs = std::filesystem;

/// Begins the names of what links lead to. No folder of the store has a dot in its name.
constexpr std::string_view kItems = "items.";

class FilesStore final : public Store {
 public:
  explicit FilesStore(const std::string& path) : root_(path) {
    fs::create_directories(root_);
    sweep();
  }

  std::vector<KeptItem> load() override {
    std::vector<KeptItem> items;
    for (const fs::directory_entry& link : fs::directory_iterator(root_)) {
      if (!link.is_symlink() || !link.is_directory()) continue;
      for (const fs::directory_entry& file : fs::directory_iterator(link.path())) {
        const std::string name = file.path().filename().string();
        if (is_item(name))
          items.push_back({link.path().filename().string(), name, read_whole_file(file.path().string())});
      }
    }
    return items;
  }

  void put(const KeptItem& item) override {
    write_file_atomically((folder(item.folder) / item.name).string(), item.bytes, Outlives::kill);
  }

  void remove(const std::string& folder, const std::string& name) override {
    std::error_code is_not_there;
    fs::remove(root_ / folder / name, is_not_there);
  }

  void publish(const std::string& folder, const std::string& as) override {
    if (folder == as || !fs::is_symlink(root_ / folder)) return;
    const fs::path old = fs::is_symlink(root_ / as) ? fs::read_symlink(root_ / as) : fs::path();
    fs::rename(root_ / folder, root_ / as);
    if (!old.empty()) fs::remove_all(root_ / old);
  }

 private:
  /// Names of items have digits alone behind their dots; what is half written beside a file has letters, too.
  static bool is_item(const std::string& name) {
    return !name.empty() && name.front() != '.' &&
           name.find_first_not_of("0123456789.", std::min(name.find('.'), name.size())) == std::string::npos;
  }

  /// Of a folder that this class has made: "items.12".
  static bool is_own(const std::string& name) {
    return name.starts_with(kItems) && name.size() > kItems.size() &&
           name.find_first_not_of("0123456789", kItems.size()) == std::string::npos;
  }

  /// That of the file system, made if need be.
  fs::path folder(const std::string& name) {
    const fs::path link = root_ / name;
    if (!fs::is_symlink(link)) {
      fs::path items;
      do {
        items = fmt::format("{}{}", kItems, next_++);
      } while (!fs::create_directory(root_ / items));
      fs::create_directory_symlink(items, link);
    }
    return link;
  }

  /// Removes what a program that was killed has left without a name.
  void sweep() {
    std::set<std::string> named, all;
    for (const fs::directory_entry& entry : fs::directory_iterator(root_)) {
      if (entry.is_symlink()) named.insert(fs::read_symlink(entry.path()).string());
      if (!entry.is_symlink() && entry.is_directory()) all.insert(entry.path().filename().string());
    }
    for (const std::string& name : all) {
      if (is_own(name) && !named.contains(name)) fs::remove_all(root_ / name);
    }
  }

  fs::path root_;
  int next_ = 0;
};

}  // namespace

std::unique_ptr<Store> make_files_store(const std::string& path) {
  return std::make_unique<FilesStore>(path);
}

}  // namespace shardlings::back
