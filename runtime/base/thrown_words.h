/// \file
/// What has been thrown that is none of the runtime's own errors, in words for the learner.
#pragma once

#include <exception>
#include <string>
#include <utility>

namespace shardlings {

/// What another process has thrown, thrown again in this one: only the words of it have crossed.
class ThrownElsewhere : public std::exception {
 public:
  /// `words` are those of words_of_thrown().
  explicit ThrownElsewhere(std::string words) : words_(std::move(words)) {}
  ~ThrownElsewhere() override;
  const char* what() const noexcept override { return words_.c_str(); }

 private:
  std::string words_;
};

/// The exception that is being handled: its type, and its value where that is a number or a text. "a std::out_of_range:
/// vector", "the int 42", "the text 'no idea'", "a value of type Mine".
std::string words_of_thrown();

}  // namespace shardlings
