// The command with all of its verbs.

#include "cli/app.h"
#include "cli/verbs/verbs.h"

namespace shardlings::cli {

int run_app(const std::string& program, const std::vector<std::string>& arguments, std::ostream& out,
            std::ostream& err) {
  return run_app_of(verbs::add_all, program, arguments, out, err);
}

}  // namespace shardlings::cli
