#include "base/rights.h"

#include <grp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

namespace shardlings {

bool set_limit(int resource, std::int64_t soft, std::int64_t hard) {
  const rlimit values{static_cast<rlim_t>(soft), static_cast<rlim_t>(hard)};
  return setrlimit(static_cast<__rlimit_resource>(resource), &values) == 0;
}

bool become_user(uid_t user) {
  return setgroups(0, nullptr) == 0 && setresgid(user, user, user) == 0 && setresuid(user, user, user) == 0;
}

bool refuse_new_privileges() {
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

bool die_with_parent() {
  return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0;
}

}  // namespace shardlings
