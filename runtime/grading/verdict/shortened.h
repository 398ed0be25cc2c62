/// \file
/// A run as JSON without what it does not need to say: what most runs have in common, what a case has from its run, and
/// the numbers of a cluster that has a name.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace shardlings::grading::verdict {

/// With the folder of clusters, a cluster is its name and what differs from the one of that name: {"like": "classroom",
/// "ranks_per_node": 4}. Without it, the file can be read where clusters are others.
nlohmann::ordered_json shortened(nlohmann::ordered_json run, const std::optional<std::string>& clusters_folder = {});
/// The way back; a run of which nothing was left out comes back as it is. Throws nlohmann::json::exception or
/// std::runtime_error where that cannot be.
nlohmann::ordered_json written_out(const nlohmann::ordered_json& file, const std::string& clusters_folder);

}  // namespace shardlings::grading::verdict
