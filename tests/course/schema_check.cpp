// schema_check SCHEMA FILE: does the JSON in FILE keep to SCHEMA? Of a file that is no JSON as a whole, the last line
// counts: that is what Autolab reads. Exit status 0 or 1, with what is wrong.
#include <iostream>

#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "base/file.h"
#include "base/text.h"

using nlohmann::json;
using valijson::adapters::NlohmannJsonAdapter;

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string text = shardlings::read_whole_file(argv[2]);
  json value = json::parse(text, nullptr, false);
  if (value.is_discarded()) value = json::parse(shardlings::lines_of(text).back());
  const json definition = json::parse(shardlings::read_whole_file(argv[1]));
  valijson::Schema schema;
  valijson::SchemaParser(valijson::SchemaParser::kDraft7).populateSchema(NlohmannJsonAdapter(definition), schema);
  valijson::ValidationResults results;
  if (valijson::Validator().validate(schema, NlohmannJsonAdapter(value), &results)) return 0;
  for (const auto& error : results) {
    for (const std::string& part : error.context) std::cerr << part << ' ';
    std::cerr << error.description << '\n';
  }
  return 1;
}
