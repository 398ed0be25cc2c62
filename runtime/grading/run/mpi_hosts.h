/// \file
/// Files that name hosts: as Open MPI writes them ("ada slots=2") and as MPICH does ("ada:2").
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace shardlings::grading::run {

struct MpiHost {
  std::string name;
  int slots = 1;  ///< how many processes it takes
};

/// Both forms alike; # begins a comment. A host without a number has one slot, and one that is named again has more.
/// Throws std::runtime_error with the line that cannot be read, or if no host is named. `path` is for what is said.
std::vector<MpiHost> hosts_from(const std::string& text, const std::string& path);
/// Of a file; also throws if it cannot be read.
std::vector<MpiHost> read_hosts(const std::string& path);

/// Of all of them.
int slots_of(const std::vector<MpiHost>& hosts);
/// The host on which this process is comes first: the first process of a run is beside the command. Throws
/// std::runtime_error if it is none of them. `is_here` says which are; is_this_host() knows by name and by address.
std::vector<MpiHost> with_this_host_first(std::vector<MpiHost> hosts, const std::string& path,
                                          const std::function<bool(const std::string&)>& is_here);
bool is_this_host(const std::string& name);
/// "ada:2,grace:2", which both launchers understand.
std::string to_text(const std::vector<MpiHost>& hosts);

}  // namespace shardlings::grading::run
