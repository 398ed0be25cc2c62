#include "grading/reference/noise.h"

#include <algorithm>
#include <cmath>

namespace shardlings::grading::reference {
namespace {

constexpr double kMargin = 16;
/// The least noise that is assumed, relative to the largest number of a tensor: four roundings of f32.
constexpr double kLeastNoise = 4 * 0x1p-24;

}  // namespace

double tolerance_of(const std::vector<double>& exact, const std::vector<const std::vector<float>*>& runs, Range range,
                    double least) {
  double noise = least;
  for (auto i = static_cast<std::size_t>(range.begin); i < static_cast<std::size_t>(range.end); ++i) {
    noise = std::max(noise, kLeastNoise * std::abs(exact[i]));
    for (const std::vector<float>* run : runs)
      noise = std::max(noise, std::abs(static_cast<double>((*run)[i]) - exact[i]));
  }
  return kMargin * noise;
}

std::vector<double> tolerances_of(const std::vector<double>& exact,
                                  const std::vector<const std::vector<float>*>& runs) {
  return std::vector<double>(exact.size(), tolerance_of(exact, runs, {0, static_cast<Count>(exact.size())}));
}

std::vector<std::vector<double>> tolerances_of(const std::vector<std::vector<double>>& exact,
                                               const std::vector<std::vector<std::vector<float>>>& runs) {
  std::vector<std::vector<double>> tolerances;
  for (std::size_t l = 0; l < exact.size(); ++l) {
    std::vector<const std::vector<float>*> of_layer;
    for (const auto& run : runs) of_layer.push_back(&run[l]);
    tolerances.push_back(tolerances_of(exact[l], of_layer));
  }
  return tolerances;
}

}  // namespace shardlings::grading::reference
