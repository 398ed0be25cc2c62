// All puzzles of a folder.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <future>
#include <iterator>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "case/manifest.h"
#include "case/names.h"

namespace shardlings::cases {
namespace {

/// What an author writes; the learner's puzzle.cpp can be had again by `reset`.
constexpr std::array<const char*, 3> kFilesOfAnAuthor = {kManifestFile, "harness.cpp", "grader.cpp"};
/// What a handout has in place of the grader's source.
constexpr const char* kStub = "stub.cpp";

bool is_puzzle(const std::filesystem::path& folder) {
  const auto there = [&](const char* name) { return std::filesystem::exists(folder / name); };
  return std::any_of(kFilesOfAnAuthor.begin(), kFilesOfAnAuthor.end(), there);
}

/// Throws std::runtime_error that begins with the file.
void check_files(const std::filesystem::path& folder) {
  const std::string id = folder.filename().string();
  if (!is_identifier(id)) throw std::runtime_error(": a puzzle's folder is named by letters, digits and _ only");
  const bool is_handed_out = std::filesystem::exists(folder / kStub);
  for (const char* name : kFilesOfAnAuthor) {
    if (is_handed_out && name != kManifestFile) continue;
    if (!std::filesystem::exists(folder / name)) throw std::runtime_error(fmt::format("{} is missing", name));
  }
}

/// How many threads read. Each reserves many megabytes of addresses for what it allocates: where those are limited, one
/// has to do.
std::size_t readers() {
  constexpr std::size_t kMost = 4;
  rlimit addresses{};
  const bool are_limited = getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY;
  return are_limited ? 1 : std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMost);
}

/// Of these folders each `step`-th, from `first` on.
Puzzles load_every(std::size_t step, std::size_t first, const std::vector<std::filesystem::path>& folders,
                   const std::string& clusters_folder) {
  Puzzles puzzles;
  for (std::size_t i = first; i < folders.size(); i += step) {
    const std::string id = folders[i].filename().string();
    try {
      check_files(folders[i]);
      puzzles.whole.push_back(load_manifest(folders[i].string(), clusters_folder));
    } catch (const std::bad_alloc&) {
      throw;  // the machine's fault
    } catch (const std::exception& error) {
      puzzles.faulty.push_back({id, leading_number(id), fmt::format("puzzles/{}/{}", id, error.what())});
    }
  }
  return puzzles;
}

}  // namespace

Puzzles load_puzzles(const std::string& puzzles_folder, const std::string& clusters_folder) {
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(puzzles_folder)) {
    if (is_puzzle(entry.path())) folders.push_back(entry.path());
  }
  // Each command waits for them, and reading TOML takes its time: some milliseconds for ten of them. Where no thread is
  // to be had, the parts are read when they are asked for.
  const std::size_t parts = readers();
  std::vector<std::future<Puzzles>> read;
  for (std::size_t part = 1; part < parts; ++part) {
    read.push_back(std::async([&, part] { return load_every(parts, part, folders, clusters_folder); }));
  }
  Puzzles puzzles = load_every(parts, 0, folders, clusters_folder);
  for (std::future<Puzzles>& some : read) {
    Puzzles more = some.get();
    std::move(more.whole.begin(), more.whole.end(), std::back_inserter(puzzles.whole));
    std::move(more.faulty.begin(), more.faulty.end(), std::back_inserter(puzzles.faulty));
  }
  std::sort(puzzles.whole.begin(), puzzles.whole.end(), [](const Manifest& a, const Manifest& b) {
    return std::tuple(leading_number(a.chapter), a.id) < std::tuple(leading_number(b.chapter), b.id);
  });
  std::sort(puzzles.faulty.begin(), puzzles.faulty.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return puzzles;
}

}  // namespace shardlings::cases
