/// \file
/// What the shared control plane has for an engine and a data plane in the process of the server, where no rank sleeps
/// and no data are: they note what has become of its operations.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "back/engine/engine.h"
#include "back/fabric/fabric.h"
#include "front/group/control.h"

namespace shardlings::front {

/// Nobody sleeps here: that somebody is to be woken is noted, and then who waits is asked about.
class RelayEngine final : public back::Engine {
 public:
  void run(int, const std::function<void(int)>&) override {}
  bool spin(const std::atomic<std::uint32_t>&, std::uint32_t) override { return false; }
  void park(const std::atomic<std::uint32_t>&, std::uint32_t) override {}
  void wake(const std::atomic<std::uint32_t>&) override { has_woken_ = true; }

  /// Whether somebody was to be woken since this was asked before.
  bool take_woken() { return std::exchange(has_woken_, false); }

 private:
  bool has_woken_ = false;
};

/// A member of an operation, as its rank calls it.
struct RelayMember {
  int rank = 0;
  std::uint64_t number = 0;
  Ticket ticket;
};

/// The members of operations that all have agreed on, and that nobody has told them yet.
using AgreedOperations = std::vector<std::vector<RelayMember>>;

class RelayFabric final : public back::Fabric {
 public:
  std::unique_ptr<back::Exchange> make_exchange() override { return std::make_unique<Exchange>(*this); }
  void abort() noexcept override { aborted_ = true; }

  /// Who makes the next post.
  void set_poster(RelayMember member) { poster_ = member; }
  AgreedOperations take_agreed() { return std::exchange(agreed_, {}); }
  bool aborted() const { return aborted_; }

 private:
  class Exchange final : public back::Exchange {
   public:
    explicit Exchange(RelayFabric& fabric) : fabric_(fabric) {}
    void begin(int members) override { members_.assign(static_cast<std::size_t>(members), {}); }
    back::DataHandle post(int member, const back::Signature&, const back::Buffers&) override {
      members_[static_cast<std::size_t>(member)] = fabric_.poster_;
      return {};
    }
    bool launch(const back::Signature&, std::span<const back::DataHandle>) override {
      fabric_.agreed_.push_back(members_);
      return true;
    }
    back::HelpResult help(int) override { return back::HelpResult::none_left; }
    void finish(int) override {}

   private:
    RelayFabric& fabric_;
    std::vector<RelayMember> members_;
  };

  RelayMember poster_;
  AgreedOperations agreed_;
  bool aborted_ = false;
};

}  // namespace shardlings::front
