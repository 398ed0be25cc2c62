#include "grading/run/mpi_hosts.h"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "base/descriptor.h"
#include "base/file.h"
#include "base/text.h"

namespace shardlings::grading::run {
namespace {

constexpr int kMostSlots = 1 << 20;

/// -1 for what is no number of slots.
int slots_from(std::string_view text) {
  int slots = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), slots);
  const bool good = error == std::errc() && end == text.data() + text.size() && slots > 0 && slots <= kMostSlots;
  return good ? slots : -1;
}

/// "ada", "ada:2", "ada slots=2", "ada slots=2 max_slots=2". No slots: it cannot be read.
MpiHost host_from(const std::string& line) {
  std::istringstream words(line);
  MpiHost host;
  words >> host.name;
  if (const auto colon = host.name.find(':'); colon != std::string::npos) {
    host.slots = slots_from(std::string_view(host.name).substr(colon + 1));
    host.name.resize(colon);
  }
  for (std::string word; words >> word;) {
    const bool of_most = word.starts_with("max_slots=") || word.starts_with("max-slots=");
    if (word.starts_with("slots=")) {
      host.slots = slots_from(std::string_view(word).substr(6));
    } else if (!of_most) {
      host.slots = -1;
    }
  }
  if (host.name.empty() || host.name.find(',') != std::string::npos) host.slots = -1;
  return host;
}

void add(std::vector<MpiHost>& hosts, MpiHost host) {
  const auto known = std::find_if(hosts.begin(), hosts.end(), [&](const MpiHost& h) { return h.name == host.name; });
  if (known != hosts.end()) {
    known->slots += host.slots;
  } else {
    hosts.push_back(std::move(host));
  }
}

}  // namespace

std::vector<MpiHost> hosts_from(const std::string& text, const std::string& path) {
  std::vector<MpiHost> hosts;
  int number = 0;
  for (std::string line : lines_of(text)) {
    ++number;
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    MpiHost host = host_from(line);
    if (host.slots < 1) {
      throw std::runtime_error(fmt::format(
          "{}:{}: \"{}\" names no host. Write a name and how many processes it takes: \"ada slots=2\", as Open "
          "MPI does, or \"ada:2\", as MPICH does.",
          path, number, line));
    }
    add(hosts, std::move(host));
  }
  if (hosts.empty()) throw std::runtime_error(fmt::format("{} names no host.", path));
  return hosts;
}

std::vector<MpiHost> read_hosts(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw std::runtime_error(fmt::format("There is no file of hosts {}.", path));
  }
  return hosts_from(read_whole_file(path), path);
}

int slots_of(const std::vector<MpiHost>& hosts) {
  int slots = 0;
  for (const MpiHost& host : hosts) slots += host.slots;
  return slots;
}

std::vector<MpiHost> with_this_host_first(std::vector<MpiHost> hosts, const std::string& path,
                                          const std::function<bool(const std::string&)>& is_here) {
  const auto here = std::find_if(hosts.begin(), hosts.end(), [&](const MpiHost& host) { return is_here(host.name); });
  if (here == hosts.end()) {
    throw std::runtime_error(fmt::format(
        "{} does not name this host, on which the command runs: the first process is beside it. Add a line for it.",
        path));
  }
  std::rotate(hosts.begin(), here, here + 1);
  return hosts;
}

bool is_this_host(const std::string& name) {
  char own[256] = {};
  if (gethostname(own, sizeof own - 1) == 0 && name == own) return true;
  addrinfo* found = nullptr;
  addrinfo wanted{};
  wanted.ai_family = AF_INET;
  if (getaddrinfo(name.c_str(), nullptr, &wanted, &found) != 0) return false;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  // Only an address of one's own can be bound to.
  const Descriptor probe(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return bind(probe.get(), found->ai_addr, found->ai_addrlen) == 0;
}

std::string to_text(const std::vector<MpiHost>& hosts) {
  std::string text;
  for (const MpiHost& host : hosts) text += fmt::format("{}{}:{}", text.empty() ? "" : ",", host.name, host.slots);
  return text;
}

}  // namespace shardlings::grading::run
