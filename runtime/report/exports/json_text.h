/// \file
/// JSON as the exports write it.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace shardlings::report {

/// Keeps the order in which fields are put in.
using ExportJson = nlohmann::ordered_json;

/// Indented, with a line end; bytes that are no UTF-8 are replaced, so that writing never fails.
inline std::string json_text(const ExportJson& json) {
  return json.dump(2, ' ', false, ExportJson::error_handler_t::replace) + "\n";
}

}  // namespace shardlings::report
