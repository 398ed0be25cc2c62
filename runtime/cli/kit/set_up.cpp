#include "cli/kit/set_up.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/file_lock.h"
#include "base/hash.h"
#include "base/kept_files.h"
#include "base/machine_fault.h"
#include "base/sha256.h"
#include "base/text.h"
#include "cli/kit/platform.h"
#include "cli/kit/stubs.h"
#include "cli/system/program.h"

namespace shardlings::cli::kit {

namespace fs = std::filesystem;
using nlohmann::ordered_json;
using system::Project;

namespace {

using Words = std::vector<std::string>;

std::string include_folder(const Project& project) {
  return project.root + "/runtime/include";
}

/// Runs a compiler; throws MachineFault with its words where it fails.
void run_compiler(Words command) {
  command.insert(command.begin(), {"/bin/sh", "-c", R"(exec "$0" "$@" 2>&1)"});
  const system::Captured answer = system::capture(command);
  if (answer.status == 0) return;
  throw MachineFault(
      fmt::format("The compiler cannot prepare what puzzles are compiled with: {}. Is g++ installed whole? "
                  "On Debian and Ubuntu: apt-get install --reinstall g++",
                  trimmed(answer.output)));
}

/// One setting up.
class SettingUp {
 public:
  SettingUp(const Project& project, std::string compiler)
      : project_(project),
        parts_(parts_folder(project)),
        compiler_(std::move(compiler)),
        about_(ordered_json::parse(read_whole_file(parts_ + "/parts.json"))) {}

  void precompile() const {
    const std::string header = project_.build + "/pch/shardlings/puzzle.h";
    write(header,
          fmt::format("#include \"{}/shardlings/puzzle.h\"\n", include_folder(project_)) + lines("precompiled"));
    Words command = with_flags();
    command.insert(command.end(), {"-x", "c++-header", header, "-o", header + ".gch"});
    run_compiler(command);
  }

  void list_headers() const {
    const std::string source = project_.build + "/allowed_headers.cpp";
    write(source, "#include <shardlings/puzzle.h>\n" + lines("allowed"));
    Words command = with_flags();
    command.insert(command.end(), {"-M", "-MT", "allowed", source, "-MF", project_.build + "/allowed_headers.d"});
    run_compiler(command);
  }

  void write_toolchain() const {
    ordered_json puzzles = ordered_json::object();
    for (const std::string id : about_.at("puzzles")) {
      puzzles[id] = {{"harness", fmt::format("{}/objects/{}.harness.o", parts_, id)},
                     {"beside", fmt::format("{}/objects/{}.beside.o", parts_, id)},
                     {"broker", parts_ + "/brokers/broker_" + id},
                     {"grader", parts_ + "/graders/grader_" + id}};
    }
    ordered_json jail_libraries = ordered_json::array();
    for (const std::string library : about_.at("jail_libraries")) jail_libraries.push_back(parts_ + "/" + library);
    ordered_json train_objects = ordered_json::object();
    for (const auto& [form, name] : about_.at("train_objects").items()) {
      train_objects[form] = parts_ + "/" + name.get<std::string>();
    }
    const ordered_json toolchain = {{"compiler", compiler_},
                                    {"compile_flags", about_.at("compile_flags")},
                                    {"include_folders", {project_.build + "/pch", include_folder(project_)}},
                                    {"assembler", assembler()},
                                    {"allowed_headers", project_.build + "/allowed_headers.d"},
                                    {"system_folders", system_folders()},
                                    {"link_flags", with_linker(about_.at("link_flags"))},
                                    {"library", parts_ + "/lib/libshardlings.so"},
                                    {"main_object", parts_ + "/objects/submission.o"},
                                    {"jail_link_flags", with_linker(about_.at("jail_link_flags"))},
                                    {"jail_libraries", jail_libraries},
                                    {"train_objects", train_objects},
                                    {"root", project_.root},
                                    {"clusters", project_.clusters()},
                                    {"gpu_probe", parts_ + "/bin/shardlings_gpus"},
                                    {"puzzles", puzzles}};
    write(project_.build + "/toolchain.json", toolchain.dump(1) + "\n");
  }

  /// For editors: clangd finds the file by itself.
  void write_commands() const {
    ordered_json commands = ordered_json::array();
    for (const std::string id : about_.at("puzzles")) {
      Words command = with_flags();
      const std::string file = project_.puzzle_file(id);
      command.insert(command.end(), {"-c", file});
      commands.push_back({{"directory", project_.build}, {"arguments", command}, {"file", file}});
    }
    write(project_.build + "/compile_commands.json", commands.dump(1) + "\n");
  }

 private:
  static void write(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(path).parent_path());
    write_file_atomically(path, text, Outlives::kill);
  }

  std::string lines(const char* key) const {
    std::string text;
    for (const std::string line : about_.at(key)) text += line + "\n";
    return text;
  }

  Words with_flags() const {
    Words command = {compiler_};
    for (const std::string flag : about_.at("compile_flags")) command.push_back(flag);
    command.push_back("-I" + include_folder(project_));
    return command;
  }

  /// The compiler would start this program, too; without it in between it is sooner done.
  Words assembler() const {
    if (!platform().ends_with("x86_64")) return {};
    const std::string name = trimmed(system::capture({compiler_, "-print-prog-name=as"}).output);
    const std::string path = name.starts_with('/') ? name : system::program_path(name);
    return path.empty() ? Words() : Words{path, "--64"};
  }

  static Words with_linker(const ordered_json& flags) {
    Words words = flags.get<Words>();
    for (const char* name : {"mold", "ld.lld", "ld.gold"}) {
      if (system::program_path(name).empty()) continue;
      words.push_back(
          fmt::format("-fuse-ld={}", std::string(name).substr(std::string_view(name).starts_with("ld.") ? 3 : 0)));
      break;
    }
    return words;
  }

  /// What compiler and linker read of the system. What does not exist is left out when a file is built.
  Words system_folders() const {
    Words folders = {"/bin",       "/usr/bin",           "/lib",         "/lib32",         "/lib64",
                     "/usr/lib",   "/usr/lib32",         "/usr/lib64",   "/usr/libexec",   "/etc/ld.so.cache",
                     "/usr/share", "/usr/local/include", "/usr/include", "/usr/local/lib", "/etc/ld.so.preload"};
    folders.push_back(fs::canonical(compiler_).parent_path().string());
    return folders;
  }

  const Project& project_;
  std::string parts_, compiler_;
  ordered_json about_;
};

std::string compiler_of_machine() {
  for (const char* name : {"g++", "c++"}) {
    if (const std::string path = system::program_path(name); !path.empty()) return path;
  }
  throw MachineFault("There is no compiler g++. On Debian and Ubuntu: apt-get install g++");
}

/// Everything that a set-up depends on.
std::string stamp_of(const Project& project, const std::string& compiler) {
  return content_key({project.root, project.build, project.puzzle_file(""), compiler,
                      file_stamp(fs::canonical(compiler).string()),
                      read_file(parts_folder(project) + "/parts.json").value_or(""), system::program_path("mold"),
                      system::program_path("ld.lld"), system::program_path("ld.gold")});
}

/// Whether the text is what the learner got at some time: its hash stands in the list of them.
bool is_earlier_stub(const Project& project, const std::string& id, const std::string& text) {
  const auto hashes = lines_of(read_file(project.puzzle_folder(id) + "/stubs.sha256").value_or(""));
  return std::find(hashes.begin(), hashes.end(), sha256(text)) != hashes.end();
}

}  // namespace

bool has_parts(const Project& project) {
  return fs::exists(parts_folder(project) + "/parts.json");
}

void set_up(const Project& project, const std::function<void(const std::string&)>& say) {
  const std::string compiler = compiler_of_machine(), stamp_file = project.build + "/.set_up";
  const std::string stamp = stamp_of(project, compiler);
  if (read_file(stamp_file) == stamp) return;
  std::error_code error;
  fs::create_directories(project.build, error);
  if (error) throw MachineFault(fmt::format("{} cannot be made: {}.", project.build, error.message()));
  const FileLock lock(project.build + "/.set_up.lock");
  if (read_file(stamp_file) == stamp) return;  // another command has done it meanwhile
  say("preparing for this machine's compiler: some seconds, once");
  const SettingUp work(project, compiler);
  work.precompile();
  work.list_headers();
  work.write_toolchain();
  work.write_commands();
  write_file_atomically(stamp_file, stamp);
}

void provide_stubs(const Project& project) {
  if (!project.is_handout) return;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(project.puzzles(), error)) {
    const std::string id = entry.path().filename().string(), file = project.puzzle_file(id);
    const auto stub = read_file(project.stub_file(id));
    if (!stub) continue;
    const auto mine = read_file(file);
    if (mine == stub) note_stub(project, id, *stub);
    if (mine == stub || (mine && !is_earlier_stub(project, id, *mine))) continue;
    if (!mine && fs::exists(fs::symlink_status(file, error))) continue;  // something of the learner's all the same
    fs::create_directories(fs::path(file).parent_path(), error);
    if (error) continue;
    write_file_atomically(file, *stub);
    note_stub(project, id, *stub);
  }
}

}  // namespace shardlings::cli::kit
