#include "train/settings.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace shardlings::train {

using Json = nlohmann::json;

std::string to_json(const Settings& settings) {
  const Layout& layout = settings.layout;
  const cases::TrainForm& form = settings.form;
  return Json{{"case", Json::parse(to_json(settings.kase))},
              {"t", layout.t},
              {"p", layout.p},
              {"d", layout.d},
              {"v", layout.v},
              {"recompute", layout.recompute},
              {"step", cases::kTrainStepWords.of(form.step)},
              {"divided", {form.weights, form.grads, form.optimizer}},
              {"several_micro_batches", form.micro_batches},
              {"text", settings.text},
              {"checkpoint", settings.checkpoint},
              {"fresh", settings.fresh},
              {"save_every", settings.save_every}}
      .dump();
}

Settings settings_from_json(const std::string& text) try {
  const Json json = Json::parse(text);
  Settings settings;
  settings.kase = cases::case_from_json(json.at("case").dump());
  settings.layout = {json.at("t"), json.at("p"), json.at("d"), json.at("recompute"), json.at("v")};
  const auto step = cases::kTrainStepWords.find(json.at("step").get<std::string>());
  if (!step) throw std::runtime_error("settings of a training: there is no such step");
  const Json& divided = json.at("divided");
  settings.form = {*step, divided.at(0), divided.at(1), divided.at(2), json.at("several_micro_batches")};
  json.at("text").get_to(settings.text);
  json.at("checkpoint").get_to(settings.checkpoint);
  json.at("fresh").get_to(settings.fresh);
  json.at("save_every").get_to(settings.save_every);
  return settings;
} catch (const Json::exception& error) {
  throw std::runtime_error(fmt::format("settings of a training: {}", error.what()));
}

}  // namespace shardlings::train
