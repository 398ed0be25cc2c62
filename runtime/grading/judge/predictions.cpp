#include "grading/judge/predictions.h"

#include <fmt/format.h>

#include <stdexcept>

namespace shardlings::grading::judge {
namespace {

struct Registered {
  const char* case_name = nullptr;
  PredictionFunction function = nullptr;
};

Registered& registered_predictions() {
  static Registered predictions;  // filled before main(), read afterwards
  return predictions;
}

}  // namespace

bool register_predictions(const char* case_name, PredictionFunction function) {
  registered_predictions() = {case_name, function};
  return true;
}

verdict::Predictions predictions_of(const cases::Manifest& manifest) {
  const Registered& registered = registered_predictions();
  verdict::Predictions predictions{manifest.id, "", {}};
  if (registered.function == nullptr) return predictions;
  predictions.case_name = registered.case_name;
  const cases::Case* kase = manifest.find_case(predictions.case_name);
  if (kase == nullptr || kase->hidden) {
    throw std::runtime_error(fmt::format("{}: SHARDLINGS_PREDICTIONS names the case \"{}\", which puzzle.toml {}",
                                         manifest.id, predictions.case_name, kase ? "hides" : "does not have"));
  }
  PredictionContext context(*kase, predictions);
  registered.function(context);
  return predictions;
}

}  // namespace shardlings::grading::judge
