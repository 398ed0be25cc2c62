// Loads the CUDA library when a GPU is first asked for.
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "back/kernels/cuda/entry.h"
#include "back/kernels/gpus.h"

namespace shardlings::back {
namespace {

constexpr const char* kFile = "libshardlings_cuda.so";

/// The folder of the library or program that this code is in, so that a tree that was moved still works.
std::string own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&find_gpus), &info) == 0 || info.dli_fname == nullptr) return ".";
  const std::string path = info.dli_fname;
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

std::vector<std::string> places() {
  std::vector<std::string> places;
  if (const char* told = std::getenv("SHARDLINGS_CUDA_LIBRARY")) places.emplace_back(told);
  const std::string here = own_folder();
  for (const char* folder : {"", "/lib", "/../lib"}) places.push_back(here + folder + "/" + kFile);
  if (SHARDLINGS_CUDA_LIBRARY[0] != '\0') places.emplace_back(SHARDLINGS_CUDA_LIBRARY);
  return places;
}

/// The library, or why there is none. Never unloaded: the driver may hold threads until the process ends.
struct Library {
  void* handle = nullptr;
  const cuda::Entry* entry = nullptr;
  std::string problem;
};

/// Asked first: the toolkit's libraries take a third of a second to load, and are of no use without it.
bool has_driver() {
  return dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) != nullptr;
}

Library load() {
  Library library;
  const bool told = std::getenv("SHARDLINGS_CUDA_LIBRARY") != nullptr;  // a user who names one knows what it needs
  if (SHARDLINGS_CUDA_TOOLKIT != 0 && !told && !has_driver()) {
    library.problem = "there is no NVIDIA driver (libcuda.so.1 does not load): install it, or run where there is a GPU";
    return library;
  }
  for (const std::string& place : places()) {
    library.handle = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library.handle != nullptr) break;
    const char* reason = dlerror();
    // What exists but does not load says why: a library of the toolkit is missing.
    const std::string text = reason != nullptr ? reason : "";
    if (text.find(place + ": cannot open") == std::string::npos) library.problem = text;
  }
  if (library.handle == nullptr) {
    library.problem = library.problem.empty()
                          ? std::string(
                                "the CUDA backend was not built: install NVIDIA's CUDA toolkit (nvcc, cuBLAS) and "
                                "build again")
                          : "the CUDA backend does not load: " + library.problem;
    return library;
  }
  const auto entry = reinterpret_cast<cuda::EntryFunction>(dlsym(library.handle, cuda::kEntryName));
  library.entry = entry != nullptr ? entry() : nullptr;
  if (library.entry == nullptr || library.entry->version != cuda::kEntryVersion) {
    library.entry = nullptr;
    library.problem = fmt::format("{} is of another version of Shardlings: build again", kFile);
  }
  return library;
}

const Library& library() {
  static const Library loaded = load();
  return loaded;
}

const cuda::Entry& entry() {
  if (library().entry == nullptr) throw std::runtime_error(library().problem);
  return *library().entry;
}

}  // namespace

Gpus find_gpus() {
  if (library().entry != nullptr) return library().entry->find_gpus();
  Gpus none;
  none.problem = library().problem;
  none.toolkit = SHARDLINGS_CUDA_TOOLKIT;
  return none;
}

std::unique_ptr<Device> make_cuda_device(int gpu) {
  return entry().make_device(gpu, make_cpu_device());
}

void* find_in_cuda_library(const char* name) {
  entry();
  void* found = dlsym(library().handle, name);
  if (found == nullptr) throw std::runtime_error(fmt::format("the CUDA backend was built without {}", name));
  return found;
}

}  // namespace shardlings::back
