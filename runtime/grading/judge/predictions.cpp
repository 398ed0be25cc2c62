#include "grading/judge/predictions.h"

#include <fmt/format.h>

#include <array>
#include <stdexcept>

namespace shardlings::grading::judge {
namespace {

struct Registered {
  const char* case_name = nullptr;
  PredictionFunction function = nullptr;
};

Registered& registered_predictions(verdict::When when) {
  static std::array<Registered, 2> predictions;  // filled before main(), read afterwards
  return predictions.at(static_cast<std::size_t>(when));
}

}  // namespace

bool register_predictions(verdict::When when, const char* case_name, PredictionFunction function) {
  registered_predictions(when) = {case_name, function};
  return true;
}

verdict::Predictions predictions_of(const cases::Manifest& manifest, verdict::When when) {
  const Registered& registered = registered_predictions(when);
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
