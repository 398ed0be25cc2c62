#include "submission/crew_pulse.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <string>

#include "submission/crash_notes.h"
#include "submission/wire/process_words.h"
#include "world/mpi_surroundings.h"

namespace shardlings::submission {
namespace {

/// Of a process that nobody hears. Nothing is tidied up: ranks may be anywhere, and MPI may never answer.
constexpr int kAlone = 86;

/// For the handlers of crashes, which have no argument, on any thread. Set while a case is under way.
std::atomic<world::pulse::Client*> g_client = nullptr;

/// The launcher's helper on a host that was cut off from it waits for minutes, as TCP does. It serves this run alone.
void end_helper() {
  std::ifstream file("/proc/" + std::to_string(getppid()) + "/comm");
  std::string name;
  std::getline(file, name);
  if (name == "orted" || name == "prted" || name == "hydra_pmi_proxy") kill(getppid(), SIGKILL);
}

[[noreturn]] void end_alone(world::pulse::Loss loss) {
  if (loss == world::pulse::Loss::silent) end_helper();
  _exit(kAlone);
}

std::string name_of_host() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "a host without a name";
}

}  // namespace

CrewPulse::CrewPulse() : host_(name_of_host()) {
  const char* address = std::getenv("SHARDLINGS_PULSE");
  if (address == nullptr) return;
  ::signal(SIGTERM, SIG_IGN);
  client_ = std::make_unique<world::pulse::Client>(
      address, world::mpi_surroundings(&std::getenv).number,
      world::pulse::Client::Told{.say = [this] { return say(); }, .lost = end_alone});
}

CrewPulse::~CrewPulse() {
  tell_of_none();
}

void CrewPulse::tell_of(wire::MappedFile& file, int first_rank, int ranks) {
  {
    const MutexLock lock(mutex_);
    file_ = &file;
    first_ = first_rank;
    ranks_ = ranks;
  }
  g_client = client_.get();
  tell_of_crashes([] {
    if (world::pulse::Client* client = g_client.load()) client->hurry();
  });
}

void CrewPulse::tell_of_none() {
  tell_of_crashes(nullptr);
  g_client = nullptr;
  const MutexLock lock(mutex_);
  file_ = nullptr;
}

void CrewPulse::tell_at_once() {
  if (client_) client_->hurry();
}

void CrewPulse::farewell() {
  if (client_) client_->farewell();
}

void CrewPulse::tell_fault(const std::string& why) {
  {
    const MutexLock lock(mutex_);
    fault_ = why;
  }
  tell_at_once();
}

std::string CrewPulse::say() {
  const MutexLock lock(mutex_);
  wire::ProcessWords words;
  words.host = host_;
  words.pid = getpid();
  if (file_ != nullptr) words = wire::words_of(host_, *file_, first_, ranks_);
  if (words.fault.empty()) words.fault = fault_;
  return wire::pack_words(words);
}

}  // namespace shardlings::submission
