// Loads the library with NCCL in it, which lies beside the one with CUDA.
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "back/fabric/nccl.h"
#include "back/fabric/nccl/api.h"
#include "back/kernels/gpus.h"

namespace shardlings::back {
namespace {

constexpr double kTimeout = 60;
constexpr const char* kCudaEntry = "shardlings_cuda_entry";

/// The library, or why there is none. Never unloaded: NCCL holds threads until the process ends.
struct Library {
  nccl::Api* api = nullptr;
  std::string problem;
};

std::string cuda_folder() {
  Dl_info info{};
  if (dladdr(find_in_cuda_library(kCudaEntry), &info) == 0 || info.dli_fname == nullptr) return ".";
  return std::filesystem::path(info.dli_fname).parent_path().string();
}

Library load() try {
  const std::string path = cuda_folder() + "/" + nccl::kLibrary;
  if (!std::filesystem::exists(path)) {
    return {nullptr, "this build has no NCCL: install NVIDIA's NCCL (libnccl-dev) and build again"};
  }
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    return {nullptr, fmt::format("NCCL does not load: {}", reason != nullptr ? reason : "no reason given")};
  }
  const auto entry = reinterpret_cast<nccl::EntryFunction>(dlsym(library, nccl::kEntry));
  if (entry == nullptr) return {nullptr, fmt::format("{} is of another version of Shardlings: build again", path)};
  return {entry(), ""};
} catch (const std::exception& error) {
  return {nullptr, error.what()};
}

const Library& library() {
  static const Library loaded = load();
  return loaded;
}

double timeout() {
  const char* text = std::getenv("SHARDLINGS_NCCL_TIMEOUT");
  const double seconds = text != nullptr ? std::atof(text) : 0;
  return seconds > 0 ? seconds : kTimeout;
}

}  // namespace

std::string nccl_version(std::string& problem) try {
  problem = library().problem;
  return library().api != nullptr ? library().api->version() : std::string();
} catch (const std::exception& error) {
  problem = error.what();
  return "";
}

std::unique_ptr<Fabric> make_nccl_fabric(int ranks) {
  if (library().api == nullptr) throw std::runtime_error(library().problem);
  return nccl::make_fabric(*library().api, ranks, timeout());
}

}  // namespace shardlings::back
