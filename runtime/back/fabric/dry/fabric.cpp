// A fabric that moves nothing: for devices that have no memory.
#include "back/fabric/fabric.h"

namespace shardlings::back {
namespace {

class DryExchange final : public Exchange {
 public:
  void begin(int) override {}
  DataHandle post(int, const Signature&, const Buffers&) override { return 0; }
  bool launch(const Signature&, std::span<const DataHandle>) override { return true; }
  HelpResult help(int) override { return HelpResult::none_left; }
  void finish(int) override {}
};

class DryFabric final : public Fabric {
 public:
  std::unique_ptr<Exchange> make_exchange() override { return std::make_unique<DryExchange>(); }
  void abort() noexcept override {}
};

}  // namespace

std::unique_ptr<Fabric> make_dry_fabric() {
  return std::make_unique<DryFabric>();
}

}  // namespace shardlings::back
