#include "back/fabric/between_processes.h"
#include "back/fabric/between_processes/exchange.h"

namespace shardlings::back {
namespace {

class ProcessFabric final : public Fabric {
 public:
  explicit ProcessFabric(Progress& progress) : progress_(progress) {}
  std::unique_ptr<Exchange> make_exchange() override {
    return std::make_unique<between_processes::ProcessExchange>(progress_);
  }
  // What all members have agreed on comes to its end even so, in all processes.
  void abort() noexcept override {}

 private:
  Progress& progress_;
};

}  // namespace

std::unique_ptr<Fabric> make_process_fabric(Progress& progress) {
  return std::make_unique<ProcessFabric>(progress);
}

}  // namespace shardlings::back
