/// \file
/// JSON that leaves out what is as usual. `usual` has every member with the value that is not written; a list in it
/// holds one element, which is the usual one of every such list.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace shardlings::grading::verdict {

/// `json` without the members that are as usual; a member that `usual` does not know stays.
nlohmann::ordered_json without_usual(const nlohmann::ordered_json& json, const nlohmann::ordered_json& usual);
/// The way back. JSON of which nothing was left out comes back as it is.
nlohmann::ordered_json with_usual(const nlohmann::ordered_json& json, const nlohmann::ordered_json& usual);

}  // namespace shardlings::grading::verdict
