#include "grading/verdict/usual.h"

#include <nlohmann/json.hpp>

namespace shardlings::grading::verdict {
namespace {

using Json = nlohmann::ordered_json;

/// Lists of plain values are values themselves: only those of objects have a usual element.
bool is_list(const Json& usual) {
  return usual.is_array() && usual.size() == 1 && usual[0].is_object();
}

Json for_each_element(const Json& list, const Json& usual, Json (*change)(const Json&, const Json&)) {
  Json changed = Json::array();
  for (const Json& element : list) changed.push_back(change(element, usual[0]));
  return changed;
}

}  // namespace

Json without_usual(const Json& json, const Json& usual) {
  if (is_list(usual) && json.is_array()) return for_each_element(json, usual, without_usual);
  if (!json.is_object() || !usual.is_object()) return json;
  Json rest = Json::object();
  for (const auto& [key, value] : json.items()) {
    const auto found = usual.find(key);
    const bool as_usual = found != usual.end() && (is_list(*found) ? value.empty() : value == *found);
    if (!as_usual) rest[key] = found == usual.end() ? value : without_usual(value, *found);
  }
  return rest;
}

Json with_usual(const Json& json, const Json& usual) {
  if (is_list(usual) && json.is_array()) return for_each_element(json, usual, with_usual);
  if (!json.is_object() || !usual.is_object()) return json;
  Json whole = json;
  for (const auto& [key, value] : usual.items()) {
    if (whole.contains(key)) {
      whole[key] = with_usual(whole[key], value);
    } else {
      whole[key] = is_list(value) ? Json::array() : value;
    }
  }
  return whole;
}

}  // namespace shardlings::grading::verdict
