#include "grading/build/compiler_advice.h"

#include <array>
#include <string_view>

namespace shardlings::grading::build {
namespace {

/// The first of the types that cannot be copied about which there is such an error, in words of g++ or of clang;
/// nullptr if there is none.
const char* not_moved(const std::string& log, std::string_view before, std::string_view behind) {
  for (const char* type : {"Tensor", "Saved", "Work"}) {
    for (const std::string_view scope : {"shardlings::", ""}) {
      const std::string words = std::string(before) + std::string(scope) + type + std::string(behind);
      if (log.find(words) != std::string::npos) return type;
    }
  }
  return nullptr;
}

}  // namespace

std::string advice_on(const std::string& log) {
  struct Words {
    std::string_view before, behind;
  };
  // A parameter `Tensor&&`.
  constexpr std::array<Words, 3> kUsedUp = {{{"cannot bind rvalue reference of type \xE2\x80\x98", "&&"},
                                             {"cannot bind rvalue reference of type '", "&&"},
                                             {"rvalue reference to type '", "' cannot bind to lvalue"}}};
  for (const auto& [before, behind] : kUsedUp) {
    const char* type = not_moved(log, before, behind);
    if (type == nullptr) continue;
    return std::string("likely: the ") + type + " is used up by the call: hand it over with std::move(...).\n";
  }
  // A copy.
  constexpr std::array<Words, 3> kCopied = {{{"use of deleted function \xE2\x80\x98", "::"},
                                             {"use of deleted function '", "::"},
                                             {"call to deleted constructor of '", "'"}}};
  for (const auto& [before, behind] : kCopied) {
    const char* type = not_moved(log, before, behind);
    if (type == nullptr) continue;
    return std::string("likely: a ") + type + " is moved and never copied: std::move(...) hands it over.\n";
  }
  return "";
}

}  // namespace shardlings::grading::build
