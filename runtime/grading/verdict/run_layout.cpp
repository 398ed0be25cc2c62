#include "grading/verdict/run_layout.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

namespace shardlings::grading::verdict {
namespace {

using Json = nlohmann::ordered_json;

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& keys, std::string_view key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

/// Lists of which each element begins a line.
constexpr std::array<std::string_view, 4> kLists = {"cases", "checks", "bounds", "ranks"};
/// Members that begin a line, wherever they are.
constexpr std::array<std::string_view, 8> kBlocks = {"case",  "checks", "ranks",  "counters",
                                                     "trace", "events", "memory", "host_memory"};
/// Tables, of which each column begins a line.
constexpr std::array<std::string_view, 3> kTables = {"events", "memory", "host_memory"};

std::string plain(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool begins_line(const Json& value, std::string_view key, std::string_view parent) {
  return is_one_of(kTables, parent) ? value.is_string() : value.is_structured() && is_one_of(kBlocks, key);
}

void write(const Json& json, std::string_view key, std::string& out);

void write_object(const Json& json, std::string_view key, std::string& out) {
  out += '{';
  bool first = true;
  for (const auto& [name, value] : json.items()) {
    if (!first) out += begins_line(value, name, key) ? ",\n" : ", ";
    first = false;
    out += plain(name) + ": ";
    write(value, name, out);
  }
  out += '}';
}

void write_list(const Json& json, std::string_view key, std::string& out) {
  const bool of_lines = is_one_of(kLists, key) && json[0].is_object();
  out += '[';
  bool first = true;
  for (const Json& element : json) {
    if (!first) out += of_lines ? "," : ", ";
    first = false;
    if (of_lines) out += '\n';
    write(element, {}, out);
  }
  out += ']';
}

void write(const Json& json, std::string_view key, std::string& out) {
  if (json.is_object()) {
    write_object(json, key, out);
  } else if (json.is_array() && !json.empty()) {
    write_list(json, key, out);
  } else {
    out += plain(json);
  }
}

}  // namespace

std::string run_lines(const Json& run) {
  std::string out;
  write(run, {}, out);
  return out + "\n";
}

}  // namespace shardlings::grading::verdict
