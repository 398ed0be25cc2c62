#include "base/machine_fault.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "base/mutex.h"

namespace shardlings {
namespace {

struct First {
  Mutex lock;
  std::string what GUARDED_BY(lock);
};

First& first() {
  static First first;
  return first;
}

}  // namespace

MachineFault::MachineFault(const std::string& what) : std::runtime_error(what) {
  note_machine_fault(what);
}

void note_machine_fault(const std::string& what) {
  const MutexLock guard(first().lock);
  if (first().what.empty()) first().what = what;
}

std::string first_machine_fault() {
  const MutexLock guard(first().lock);
  return first().what;
}

void forget_machine_faults() {
  const MutexLock guard(first().lock);
  first().what.clear();
}

std::string advice_on(int error) {
  switch (error) {
    case EAGAIN:
      return "No more processes or threads are allowed here: end other programs, or raise the limit (ulimit -u, or "
             "that "
             "of the container).";
    case EMFILE:
    case ENFILE: return "No more files may be open here: end other programs, or raise the limit (ulimit -n).";
    case ENOMEM:
      return "The machine has no memory left: end other programs, or raise the limit (ulimit -v, or that of the "
             "container).";
    case ENOSPC:
    case EDQUOT: return "The disk is full: make room on it.";
    case EFBIG: return "Files may not become larger here: raise the limit (ulimit -f).";
    case EROFS:
    case EACCES:
    case EPERM: return "Give this account the right to do that.";
    default: return "";
  }
}

std::string advice_in(std::string_view text) {
  for (const int error : {EAGAIN, EMFILE, ENFILE, ENOMEM, ENOSPC, EDQUOT, EFBIG, EROFS, EACCES, EPERM}) {
    if (text.find(std::strerror(error)) != std::string_view::npos) return advice_on(error);
  }
  return "";
}

std::string with_advice(const std::string& what, int error) {
  const std::string advice = advice_on(error);
  return fmt::format("{}: {}.{}{}", what, std::strerror(error), advice.empty() ? "" : " ", advice);
}

}  // namespace shardlings
