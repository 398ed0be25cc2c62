#include "cli/kit/parts.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/error.h"
#include "cli/kit/platform.h"
#include "cli/system/program.h"
#include "grading/build/toolchain.h"

namespace shardlings::cli::kit {

namespace fs = std::filesystem;
using grading::build::Toolchain;
using nlohmann::ordered_json;

namespace {

/// Of the C and the C++ library, programs take those of the machine that they run on: what is compiled there has to fit
/// the same ones. The driver's belong to the GPU.
bool is_the_machines(const std::string& library) {
  constexpr std::array<std::string_view, 11> kTheirs = {"libc.so",       "libm.so",      "libdl.so", "librt.so",
                                                        "libpthread.so", "libresolv.so", "ld-linux", "libstdc++.so",
                                                        "libgcc_s.so",   "libcuda.so",   "libnvidia"};
  return std::any_of(kTheirs.begin(), kTheirs.end(), [&](std::string_view name) { return library.starts_with(name); });
}

/// A program that is part of every installation with a compiler; its words are the reason where it fails.
std::string said_by(const std::vector<std::string>& command) {
  const system::Captured answer = system::capture(command);
  if (answer.status != 0) {
    throw std::runtime_error(fmt::format("{} has failed with status {}", fmt::join(command, " "), answer.status));
  }
  return answer.output;
}

/// Files that are copied, and what they need.
class Parts {
 public:
  explicit Parts(std::string folder) : folder_(std::move(folder)) {}

  void program(const std::string& from, const std::string& name) {
    copy(from, name);
    said_by({"strip", folder_ + "/" + name});
    binaries_.push_back(name);
  }
  /// Its symbols are what it is linked by.
  void object(const std::string& from, const std::string& name) {
    copy(from, name);
    said_by({"strip", "-g", folder_ + "/" + name});
  }

  void take_libraries() {
    static const std::regex kFound(R"(^\s+(\S+) => (/\S+) )");
    std::set<std::string> taken;
    for (const std::string& name : std::vector<std::string>(binaries_)) {
      for (const std::string& line : lines_of(said_by({"ldd", folder_ + "/" + name}))) {
        std::smatch match;
        if (!std::regex_search(line, match, kFound) || is_the_machines(match[1]) || match[1] == "libshardlings.so" ||
            !taken.insert(match[1]).second) {
          continue;
        }
        copy(match[2], fmt::format("lib/{}", match[1].str()));
        binaries_.push_back(fmt::format("lib/{}", match[1].str()));
      }
    }
  }

  /// The newest version of a library's symbols that anything here asks for: "2.34" of GLIBC_.
  std::string needed_version(const std::string& prefix) const {
    const std::regex version(R"(\b)" + prefix + R"(([0-9]+)\.([0-9]+)(?:\.([0-9]+))?\b)");
    std::array<int, 3> newest{};
    for (const std::string& name : binaries_) {
      const std::string text = said_by({"objdump", "-p", folder_ + "/" + name});
      for (std::sregex_iterator at(text.begin(), text.end(), version), end; at != end; ++at) {
        const auto number = [&](std::size_t i) { return (*at)[i].matched ? std::stoi((*at)[i].str()) : 0; };
        newest = std::max(newest, {number(1), number(2), number(3)});
      }
    }
    return fmt::format("{}.{}{}", newest[0], newest[1], newest[2] > 0 ? fmt::format(".{}", newest[2]) : "");
  }

 private:
  void copy(const std::string& from, const std::string& name) {
    const fs::path to = folder_ + "/" + name;
    std::error_code error;
    if (!fs::exists(from, error)) {
      throw UsageError(fmt::format("{} has not been built: run ./shardlings first.", from));
    }
    fs::create_directories(to.parent_path());
    fs::copy_file(from, to, fs::copy_options::overwrite_existing);
    fs::permissions(to, fs::perms::owner_write, fs::perm_options::add);
  }

  std::string folder_;
  std::vector<std::string> binaries_;
};

/// The command as other machines can have it. Nobody else wants it, so that it is built when it is asked for.
std::string portable_command(const system::Project& project, const Toolchain& toolchain) {
  if (!system::cmake_cache_value(project.build, "CMAKE_HOME_DIRECTORY").empty()) {
    const system::Captured built =
        system::capture({"cmake", "--build", project.build, "--target", "shardlings_portable"});
    if (built.status != 0) {
      throw std::runtime_error(
          fmt::format("the command for other machines does not build: cmake --build {} --target "
                      "shardlings_portable",
                      project.build));
    }
  }
  return ordered_json::parse(toolchain.text).value("portable_command", "");
}

/// Which linker there is depends on the machine.
std::vector<std::string> without_linker(std::vector<std::string> flags) {
  std::erase_if(flags, [](const std::string& flag) { return flag.starts_with("-fuse-ld="); });
  return flags;
}

/// The standard headers that some lines of code include: "#include <vector>" and nothing of ours.
std::vector<std::string> standard_includes(const std::string& path) {
  std::vector<std::string> includes;
  for (const std::string& line : lines_of(read_whole_file(path))) {
    if (line.starts_with("#include <") && line.find("shardlings/") == std::string::npos) includes.push_back(line);
  }
  return includes;
}

/// Of all that a set-up compiles beforehand: where one changes, that has to be done again.
std::string hash_of_headers(const std::string& folder) {
  std::map<std::string, std::string> hashes;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) hashes[entry.path().string()] = sha256(read_whole_file(entry.path().string()));
  }
  std::string all;
  for (const auto& [path, hash] : hashes) all += hash;
  return sha256(all);
}

}  // namespace

void write_parts(const system::Project& project, const std::vector<std::string>& puzzles, const std::string& folder) {
  const Toolchain toolchain = grading::build::load_toolchain(project.build);
  Parts parts(folder);
  parts.program(portable_command(project, toolchain), "bin/shardlings");
  parts.program(toolchain.gpu_probe, "bin/shardlings_gpus");
  parts.program(toolchain.library, "lib/libshardlings.so");
  parts.object(toolchain.main_object, "objects/submission.o");
  ordered_json trainers = ordered_json::object();
  for (const auto& [form, object] : toolchain.train_objects) {
    trainers[form] = fmt::format("objects/train_{}.o", form);
    parts.object(object, trainers[form]);
  }
  ordered_json libraries = ordered_json::array();
  for (const std::string& library : toolchain.jail_libraries) {
    if (!library.ends_with(".a")) {
      throw UsageError(
          "Jails are not linked statically in this build (with sanitizers they cannot be): build the parts "
          "of a handout without them.");
    }
    libraries.push_back("objects/" + fs::path(library).filename().string());
    parts.object(library, libraries.back());
  }
  for (const std::string& id : puzzles) {
    const Toolchain::Puzzle& puzzle = toolchain.puzzle(id);
    parts.object(puzzle.harness, fmt::format("objects/{}.harness.o", id));
    parts.object(puzzle.beside, fmt::format("objects/{}.beside.o", id));
    parts.program(puzzle.broker, "brokers/broker_" + id);
    parts.program(puzzle.grader, "graders/grader_" + id);
  }
  parts.take_libraries();
  const std::string headers = fs::path(toolchain.allowed_headers).parent_path().string();
  const ordered_json about = {{"version", version()},
                              {"glibc", parts.needed_version("GLIBC_")},
                              {"libstdc++", parts.needed_version("GLIBCXX_")},
                              {"puzzles", puzzles},
                              {"headers", hash_of_headers(project.root + "/runtime/include")},
                              {"train_objects", trainers},
                              {"compile_flags", toolchain.compile_flags},
                              {"link_flags", without_linker(toolchain.link_flags)},
                              {"jail_link_flags", without_linker(toolchain.jail_link_flags)},
                              {"jail_libraries", libraries},
                              {"precompiled", standard_includes(headers + "/pch/shardlings/puzzle.h")},
                              {"allowed", standard_includes(headers + "/allowed_headers.cpp")}};
  write_file_atomically(folder + "/parts.json", about.dump(1) + "\n");
}

}  // namespace shardlings::cli::kit
