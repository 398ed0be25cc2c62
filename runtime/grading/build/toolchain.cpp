#include "grading/build/toolchain.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/file.h"

namespace shardlings::grading::build {

const Toolchain::Puzzle& Toolchain::puzzle(const std::string& id) const {
  const auto found = puzzles.find(id);
  if (found == puzzles.end()) {
    throw std::runtime_error(fmt::format("the build folder does not know the puzzle '{}' yet: run ./shardlings", id));
  }
  return found->second;
}

Toolchain load_toolchain(const std::string& build_folder) {
  const std::string path = build_folder + "/toolchain.json";
  const auto text = read_file(path);
  if (!text) throw std::runtime_error(fmt::format("cannot read {}: run ./shardlings to build everything", path));
  Toolchain toolchain;
  toolchain.text = *text;
  try {
    const auto json = nlohmann::json::parse(toolchain.text);
    json.at("compiler").get_to(toolchain.compiler);
    json.at("compile_flags").get_to(toolchain.compile_flags);
    json.at("include_folders").get_to(toolchain.include_folders);
    json.at("assembler").get_to(toolchain.assembler);
    json.at("allowed_headers").get_to(toolchain.allowed_headers);
    json.at("system_folders").get_to(toolchain.system_folders);
    json.at("link_flags").get_to(toolchain.link_flags);
    json.at("library").get_to(toolchain.library);
    json.at("main_object").get_to(toolchain.main_object);
    json.at("jail_link_flags").get_to(toolchain.jail_link_flags);
    json.at("jail_libraries").get_to(toolchain.jail_libraries);
    toolchain.train_objects = json.value("train_objects", std::map<std::string, std::string>());
    json.at("clusters").get_to(toolchain.clusters);
    toolchain.root = json.value("root", "");
    json.at("gpu_probe").get_to(toolchain.gpu_probe);
    for (const auto& [id, puzzle] : json.at("puzzles").items()) {
      const auto path_of = [&puzzle = puzzle](const char* part) { return puzzle.at(part).get<std::string>(); };
      toolchain.puzzles[id] = {path_of("harness"), path_of("beside"), path_of("broker"), path_of("grader")};
    }
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error(fmt::format("{}: {}: run ./shardlings to build everything", path, error.what()));
  }
  return toolchain;
}

}  // namespace shardlings::grading::build
