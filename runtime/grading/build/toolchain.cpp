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
    json.at("link_flags").get_to(toolchain.link_flags);
    json.at("library").get_to(toolchain.library);
    json.at("main_object").get_to(toolchain.main_object);
    toolchain.train_object = json.value("train_object", "");
    json.at("clusters").get_to(toolchain.clusters);
    json.at("gpu_probe").get_to(toolchain.gpu_probe);
    for (const auto& [id, puzzle] : json.at("puzzles").items()) {
      toolchain.puzzles[id] = {puzzle.at("harness").get<std::string>(), puzzle.at("grader").get<std::string>()};
    }
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error(fmt::format("{}: {}: run ./shardlings to build everything", path, error.what()));
  }
  return toolchain;
}

}  // namespace shardlings::grading::build
