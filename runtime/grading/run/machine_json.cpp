#include "grading/run/machine_json.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace shardlings::grading::run {

using Json = nlohmann::json;

std::string to_json(const world::Machine& machine) {
  Json gpus = Json::array();
  for (const auto& gpu : machine.gpus) {
    gpus.push_back({{"name", gpu.name}, {"memory", gpu.memory}, {"capability", gpu.capability}});
  }
  const Json json = {{"gpus", gpus},         {"gpu_problem", machine.gpu_problem},
                     {"cuda", machine.cuda}, {"driver", machine.driver},
                     {"nccl", machine.nccl}, {"nccl_problem", machine.nccl_problem},
                     {"mpi", machine.mpi},   {"mpi_problem", machine.mpi_problem}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

world::Machine machine_from_json(const std::string& text) try {
  const Json json = Json::parse(text);
  world::Machine machine;
  for (const Json& gpu : json.at("gpus")) {
    machine.gpus.push_back(
        {gpu.at("name").get<std::string>(), gpu.at("memory").get<std::int64_t>(), gpu.at("capability").get<int>()});
  }
  json.at("gpu_problem").get_to(machine.gpu_problem);
  json.at("cuda").get_to(machine.cuda);
  json.at("driver").get_to(machine.driver);
  json.at("nccl").get_to(machine.nccl);
  json.at("nccl_problem").get_to(machine.nccl_problem);
  json.at("mpi").get_to(machine.mpi);
  json.at("mpi_problem").get_to(machine.mpi_problem);
  return machine;
} catch (const Json::exception& error) {
  throw std::runtime_error(std::string("this describes no machine: ") + error.what());
}

}  // namespace shardlings::grading::run
