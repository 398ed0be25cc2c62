// Loads the library with MPI in it, which lies beside the runtime.
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include "back/transport/mpi.h"
#include "back/transport/mpi/api.h"

namespace shardlings::back {
namespace {

namespace fs = std::filesystem;

/// Never unloaded: MPI may hold threads until the process ends.
struct MpiLibrary {
  mpi::Api* api = nullptr;
  std::string problem;
};

/// Where it may lie; the folder of the library or program that this code is in, so that a tree that was moved works.
std::vector<fs::path> mpi_places() {
  std::vector<fs::path> places;
  if (const char* told = std::getenv("SHARDLINGS_MPI_LIBRARY")) return {told};
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&mpi_version), &info) != 0 && info.dli_fname != nullptr) {
    const fs::path here = fs::path(info.dli_fname).parent_path();
    for (const char* folder : {".", "lib", "../lib"}) places.push_back(here / folder / mpi::kLibrary);
  }
  if (SHARDLINGS_MPI_LIBRARY[0] != '\0') places.emplace_back(SHARDLINGS_MPI_LIBRARY);
  return places;
}

MpiLibrary load_mpi() {
  for (const fs::path& place : mpi_places()) {
    std::error_code error;
    if (!fs::exists(place, error)) continue;
    // Global, since Open MPI's own plugins look for its names.
    void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) {
      const char* reason = dlerror();
      return {nullptr, fmt::format("MPI does not load: {}", reason != nullptr ? reason : "no reason given")};
    }
    const auto entry = reinterpret_cast<mpi::EntryFunction>(dlsym(library, mpi::kEntry));
    if (entry == nullptr) {
      return {nullptr, fmt::format("{} is of another version of Shardlings: build again", place.string())};
    }
    return {entry(), ""};
  }
  return {nullptr,
          "this build has no MPI: install one (Debian and Ubuntu: apt-get install libopenmpi-dev openmpi-bin, or "
          "libmpich-dev mpich) and build again"};
}

const MpiLibrary& mpi_library() {
  static const MpiLibrary loaded = load_mpi();
  return loaded;
}

mpi::Api& mpi_api() {
  if (mpi_library().api == nullptr) throw std::runtime_error(mpi_library().problem);
  return *mpi_library().api;
}

/// Kept until end_mpi(), and not until static variables end: exit() ends those, too.
Progress*& started_progress() {
  static Progress* progress = nullptr;
  return progress;
}

}  // namespace

std::string mpi_version(std::string& problem) try {
  problem = mpi_library().problem;
  return mpi_library().api != nullptr ? mpi_library().api->version() : std::string();
} catch (const std::exception& error) {
  problem = error.what();
  return "";
}

Progress& mpi_progress() {
  Progress*& progress = started_progress();
  if (progress == nullptr) progress = new Progress(mpi_api().start());  // NOLINT: see started_progress()
  return *progress;
}

void end_mpi() {
  Progress*& progress = started_progress();
  if (progress == nullptr) return;
  delete progress;  // NOLINT: see started_progress()
  progress = nullptr;
  mpi_api().finish();
}

}  // namespace shardlings::back
