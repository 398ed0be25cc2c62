// For builds without cpp-httplib.
#include "cli/error.h"
#include "cli/live/page_server.h"

namespace shardlings::cli::live {

class PageServer::Server {};

PageServer::PageServer(int) {
  throw UsageError(
      "This command was built without pages. On Debian or Ubuntu: apt-get install libcpp-httplib-dev, and build "
      "again.");
}
PageServer::~PageServer() = default;

const std::string& PageServer::url() const {
  static const std::string kNone;
  return kNone;
}
void PageServer::publish(const std::string&, std::string) {}
void PageServer::announce(std::string) {}
int PageServer::descriptor() const {
  return -1;
}
void PageServer::answer(const std::function<std::string(const std::string&)>&) {}

}  // namespace shardlings::cli::live
