/// \file
/// Where a rank's calls come in: one door for the learner's code, one for the harness. Here, and nowhere else, a call
/// is checked against the table of verbs and the right of its caller, and exceptions become errors of the reply.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "api/harness_port.h"

namespace shardlings::support {
struct Inside;  // tests/support: tests look behind a port
}

namespace shardlings::front {

class RankFront;

class Doors {
 public:
  explicit Doors(RankFront& front) : front_(front), learner_(*this), harness_(*this) {}
  Doors(const Doors&) = delete;
  Doors& operator=(const Doors&) = delete;

  detail::Port& learner() { return learner_; }
  detail::HarnessPort& harness() { return harness_; }

  /// What the harness lends to the call that it makes next.
  /// @{
  using Values = std::span<const std::byte>;
  using Lent = std::variant<std::monostate, Values, std::shared_ptr<const model::ModelStructure>>;
  /// Nothing for a number that was given to another call, or to none. What was lent is for one call.
  Lent lent(std::uint64_t id) const { return id == loan_ ? lent_ : Lent(); }
  /// @}

  /// The answer to any call, whatever is in it.
  detail::Reply answer(const detail::Call& call, detail::Caller caller);

 private:
  friend struct support::Inside;

  /// A door: what both have in common.
  template <class Port, detail::Caller caller>
  class Door : public Port {
   public:
    explicit Door(Doors& doors) : doors_(doors) {}
    detail::HarnessPort* harness() override { return &doors_.harness_; }

   protected:
    friend struct support::Inside;
    detail::Reply answer(const detail::Call& call) override { return doors_.answer(call, caller); }
    detail::TextId define(std::string_view text) override { return doors_.define(text); }
    std::string text_of(detail::TextId id) override { return doors_.text_of(id); }
    std::string error_text() override { return doors_.error_; }

    Doors& doors_;
  };

  using Learner = Door<detail::Port, detail::Caller::learner>;

  class Harness final : public Door<detail::HarnessPort, detail::Caller::harness> {
   public:
    using Door::Door;
    std::uint64_t lend(std::span<const std::byte> values) override { return doors_.lend(values); }
    std::uint64_t lend(std::shared_ptr<const model::ModelStructure> structure) override {
      return doors_.lend(std::move(structure));
    }
    bool computes() const override;
    std::vector<float> values_of(const detail::Ref& ref) override;
    void check(const detail::Ref& ref) const override;
    bool measures() const override;
    Nanos now() const override;
    Location last_place() const override;

   private:
    detail::Reply answer(const detail::Call& call) override {
      const detail::Reply reply = Door::answer(call);
      doors_.lent_ = {};
      return reply;
    }
  };

  void check(const detail::Call& call, detail::Caller caller) const;
  [[noreturn]] void refuse(const detail::Call& call, const std::string& why) const;
  detail::Reply refusal();
  detail::TextId define(std::string_view text);
  std::string text_of(detail::TextId id) const;
  std::uint64_t lend(Lent what) {
    lent_ = std::move(what);
    return ++loan_;
  }

  RankFront& front_;
  Learner learner_;
  Harness harness_;
  std::string error_;  ///< of the last reply that had one
  /// The first error of a call that the learner made while it was measured. All calls behind it are answered so, the
  /// harness's, too: a program that catches the exception and goes on has still made a wrong call.
  std::optional<detail::Reply> refused_;
  Lent lent_;
  std::uint64_t loan_ = 0;
};

}  // namespace shardlings::front
