#include "base/thrown_words.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <typeinfo>

namespace shardlings {
namespace {

std::string thrown_type() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  if (type == nullptr) return "unknown type";
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(type->name(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 && name ? name.get() : type->name();
}

/// A text that was thrown may have no end where it should have one.
std::string quoted(const char* text) {
  constexpr std::size_t kLongest = 200;
  if (text == nullptr) return "a null pointer";
  return fmt::format("the text '{}'", std::string(text, strnlen(text, kLongest)));
}

/// If it is a T.
template <class T>
std::optional<std::string> number_as() {
  try {
    throw;
  } catch (const T& value) {
    return fmt::format("the {} {}", thrown_type(), value);
  } catch (...) {
    return std::nullopt;
  }
}

template <class... T>
std::optional<std::string> number_as_one_of() {
  std::optional<std::string> words;
  ((words = words ? words : number_as<T>()), ...);
  return words;
}

}  // namespace

ThrownElsewhere::~ThrownElsewhere() = default;

std::string words_of_thrown() {
  try {
    throw;
  } catch (const ThrownElsewhere& thrown) {
    return thrown.what();
  } catch (const std::exception& error) {
    const char* text = error.what();  // of a learner's own class it may be anything
    return fmt::format("a {}: {}", thrown_type(), text == nullptr ? "its what() is a null pointer" : text);
  } catch (const char* text) {
    return quoted(text);
  } catch (const std::string& text) {
    return quoted(text.c_str());
  } catch (...) {
    const auto number = number_as_one_of<int, unsigned, long, unsigned long, long long, unsigned long long, short,
                                         unsigned short, char, bool, float, double>();
    return number ? *number : fmt::format("a value of type {}", thrown_type());
  }
}

}  // namespace shardlings
