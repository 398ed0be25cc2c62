// Each form against the schema of its platform (tests/report/schemas).

#include <gtest/gtest.h>

#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "base/file.h"
#include "base/text.h"
#include "report/exports/gradescope.h"
#include "report/platforms.h"
#include "report/verdicts.h"

namespace shardlings::report {
namespace {

using nlohmann::json;
using valijson::adapters::NlohmannJsonAdapter;
namespace samples = shardlings::testing;

/// What the schema of that name finds wrong with a text; nothing where it holds.
std::string faults(const std::string& name, const json& value) {
  const json definition = json::parse(*read_file(SHARDLINGS_SCHEMA_FOLDER "/" + name + ".json"));
  valijson::Schema schema;
  valijson::SchemaParser(valijson::SchemaParser::kDraft7).populateSchema(NlohmannJsonAdapter(definition), schema);
  valijson::ValidationResults results;
  if (valijson::Validator().validate(schema, NlohmannJsonAdapter(value), &results)) return "";
  std::string text = "refused";
  for (const auto& error : results) {
    for (const std::string& part : error.context) text += " " + part;
    text += ": " + error.description + "\n";
  }
  return text;
}

/// Autolab reads the last line.
json value_of(const std::string& name, const std::string& text) {
  return json::parse(name == "autolab" ? lines_of(text).back() : text);
}

TEST(Schemas, HoldForEveryKindOfVerdict) {
  for (const auto& verdict :
       {samples::verdict_with_failure(samples::pipeline_case(2, 2, false)), samples::verdict_with_bonus(false),
        samples::verdict_with_bonus(true), samples::passed_verdict(samples::layers_case(2)), samples::unbuilt_verdict(),
        samples::unimplemented_verdict(), samples::not_judged_verdict(), samples::deadlock_verdict(),
        samples::hostile_verdict()}) {
    for (const auto& [name, text] : samples::platform_texts(verdict)) {
      EXPECT_EQ(faults(name, value_of(name, text)), "") << name << ' ' << verdict.puzzle;
    }
  }
}

TEST(Schemas, HoldForAssignmentsOfSeveralPuzzles) {
  const GradescopePart passed{"01 First", samples::passed_verdict(samples::layers_case(2)), "", 100};
  const GradescopePart failed{"02 Second", samples::verdict_with_failure(samples::pipeline_case(2, 2, false)), "", 100};
  const GradescopePart missing{"03 Third", {}, "No file for it was handed in.", 100};
  const GradescopePart unjudged{"04 Fourth", samples::not_judged_verdict(), "", 100};
  for (const std::vector<GradescopePart>& parts :
       {std::vector<GradescopePart>{passed}, {passed, failed, missing}, {missing}, {passed, unjudged}, {}}) {
    EXPECT_EQ(faults("gradescope", json::parse(to_gradescope(parts))), "") << parts.size();
  }
  const json whole = json::parse(to_gradescope({passed, failed, missing}));
  EXPECT_EQ(whole["score"], passed.verdict.points + failed.verdict.points);
  EXPECT_EQ(whole["tests"].size(), passed.verdict.checks.size() + failed.verdict.checks.size() + 1);
  const json broken = json::parse(to_gradescope({passed, unjudged}));
  EXPECT_FALSE(broken.contains("score"));
  EXPECT_EQ(broken["output"].get<std::string>().find(unjudged.verdict.reason), std::string::npos)
      << "what is wrong with the machine is the staff's";
  EXPECT_NE(staff_text(unjudged, unjudged.verdict).find(unjudged.verdict.reason), std::string::npos);
}

// A schema that refuses nothing would prove nothing.
TEST(Schemas, RefuseWhatIsNotOfTheirForm) {
  for (const auto& [name, text] : samples::platform_texts(samples::passed_verdict(samples::layers_case(2)))) {
    const json right = value_of(name, text);
    for (const auto& [key, part] : right.items()) {
      if (part.is_object() && name == "gradescope") continue;  // extra_data may hold anything
      json wrong = right;
      wrong[key] = json::array({nullptr});
      EXPECT_NE(faults(name, wrong), "") << name << ' ' << key;
    }
    EXPECT_NE(faults(name, json::array()), "") << name;
  }
}

}  // namespace
}  // namespace shardlings::report
