/// \file
/// A port for archives without a rank.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boundary/archive.h"

namespace shardlings::boundary {

/// Knows no tensor at all.
class Doubting final : public detail::HarnessPort {
 public:
  std::uint64_t lend(std::span<const std::byte>) override { return 0; }
  std::uint64_t lend(std::shared_ptr<const model::ModelStructure>) override { return 0; }
  std::vector<float> values_of(const detail::Ref&) override { return {}; }
  void check(const detail::Ref&) const override { throw InvalidArgument("no tensor of this rank", {}); }
  bool measures() const override { return true; }
  Nanos now() const override { return Nanos(0); }

 protected:
  detail::Reply answer(const detail::Call&) override { return {}; }
  detail::TextId define(std::string_view) override { return 0; }
  std::string text_of(detail::TextId) override { return ""; }
  std::string error_text() override { return ""; }
};

}  // namespace shardlings::boundary
