#include "cli/kit/stubs.h"

#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "base/sha256.h"

namespace shardlings::cli::kit {

namespace fs = std::filesystem;
using system::Project;

static std::string note_of(const Project& project, const std::string& id) {
  return project.state() + "/stubs/" + id + ".sha256";
}

void note_stub(const Project& project, const std::string& id, const std::string& stub) {
  const std::string hash = sha256(stub), file = note_of(project, id);
  if (read_file(file) == hash) return;
  std::error_code error;
  fs::create_directories(fs::path(file).parent_path(), error);
  if (!error) write_file_atomically(file, hash, Outlives::kill);
}

bool has_newer_stub(const Project& project, const std::string& id) {
  if (!project.is_handout) return false;
  const auto stub = read_file(project.stub_file(id)), begun = read_file(note_of(project, id));
  return stub && begun && read_file(project.puzzle_file(id)) != stub && *begun != sha256(*stub);
}

std::string words_on_newer_stub(const Project& project, const std::string& id) {
  if (!has_newer_stub(project, id)) return {};
  return fmt::format(
      "The course has changed the stub of {0} since you began. Your file stays as it is. What is new: git log -p -- "
      "puzzles/{0}/stub.cpp. To begin from the new stub: ./shardlings reset {0}, which keeps yours.",
      id);
}

}  // namespace shardlings::cli::kit
