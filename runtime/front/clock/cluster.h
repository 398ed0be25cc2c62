/// \file
/// A cluster as data: how fast its devices compute and its links transfer.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "front/trace/lanes.h"

namespace shardlings {
class TomlSection;
}  // namespace shardlings

namespace shardlings::front {

/// A class of links: alpha (latency per message) and bandwidth.
struct LinkSpeed {
  Nanos latency;
  double bytes_per_second = 1e9;
  bool reduces = false;  ///< its switch adds up what several ranks send, and gives all of them the sum
};

/// Fixed costs per call of the model, so that timelines read like a textbook; everything else on the device is free.
struct CallTable {
  Nanos forward;
  Nanos backward;
  Nanos loss;
  Nanos update;
  /// What backward_weights takes of `backward`; backward_input has the rest. Without a number it is half of it: of a
  /// layer's products, which are most of the work, backward has each twice.
  std::optional<Nanos> backward_weights{};
  bool per_sequence = false;  ///< forward and backward cost that much for each sequence of their micro-batch

  Nanos weights_part() const { return backward_weights.value_or(Nanos(backward.value() / 2)); }
};

/// What a device can do, for the roofline (Williams et al. 2009): time = max(flops/peak, bytes/bandwidth) + launch.
struct Roofline {
  double flops_per_second = 1e12;       ///< f32
  double flops_per_second_bf16 = 1e12;  ///< matrix products of bf16
  double memory_bytes_per_second = 1e12;
  Nanos launch;
};

/// What programs reach of the peaks, as measured; without a number, all of it.
struct Efficiency {
  std::optional<double> matmul;      ///< of the peaks for operations
  std::optional<double> memory;      ///< of the memory's bandwidth
  std::optional<double> intra_node;  ///< of the links' bandwidths, in collectives and messages
  std::optional<double> inter_node;
};

/// Algorithms beside the ring, of which a collective takes the fastest. A cluster without these numbers has rings
/// alone, each hop of which takes as long as the slowest.
struct Trees {
  std::optional<Nanos> hop_inside;   ///< of a tree's hop inside a node; such hops stream what they pass on
  std::optional<Nanos> hop_between;  ///< and of one between nodes
  std::optional<double> bandwidth;   ///< what a tree reaches of a ring's

  bool known() const { return hop_inside && hop_between && bandwidth; }
};

/// The host's processor and memory, as far as they are one rank's.
struct Host {
  Bytes memory{std::int64_t{1} << 40};
  double bytes_per_second = 1e9;  ///< read and written by work such as Adam's, which its memory limits
};

/// The store that all ranks share, as far as it is one rank's. Few clusters' files say something of it.
struct StoreSpeed {
  /// Of one write or read, and of a question. Without a number 1 ms, about what an operation on the names of a parallel
  /// file system takes; a round number.
  std::optional<Nanos> latency;
  /// In either direction. Without a number 0.122 GB/s: Llama 3's storage "supports a sustainable throughput of 2 TB/s
  /// and a peak throughput of 7 TB/s", out of 7,500 servers, and 16,384 GPUs share it: 2e12 / 16,384 = 0.1221e9
  /// (Grattafiori et al. 2024, The Llama 3 Herd of Models, arXiv 2407.21783, section 3.3.1, "Storage"). Sustained,
  /// since all ranks write at once; at the peak it would be 0.427 GB/s.
  std::optional<double> bytes_per_second;
};

struct Cluster {
  std::string name = "classroom";
  std::string source;  ///< where the numbers come from
  int ranks_per_node = 8;
  Bytes device_memory{std::int64_t{1} << 40};
  bool uses_table = true;
  CallTable table;
  Roofline roofline;
  std::array<LinkSpeed, kLinks> links{};  ///< by Link
  Host host;
  std::array<LinkSpeed, kHostLinks> host_links{};  ///< by HostLink
  StoreSpeed store;
  /// What any collective takes, whatever its size and its group's; if there is none, alpha-beta costs by `links`.
  std::optional<Nanos> collective;
  Trees trees;
  Efficiency efficiency;
  /// What activations weigh, and what of a message crosses a link, where the ranks of a tensor-parallel group share
  /// them (front/clock/cost.h); without a number, all of it.
  std::optional<double> activation_share, message_share;
  bool f32_gradients = false;  ///< of mixed precision: gradients keep 32 bits in memory
  bool mixed = false;  ///< tensors of f32 weigh what they do in mixed precision (precision.h), and so are computed
};

/// Reads a cluster's TOML text (see clusters/*.toml): every number, of `table` and `roofline` those of one. Throws
/// std::runtime_error naming the key at fault.
Cluster parse_cluster(const std::string& toml, const std::string& name);
/// Whether times follow the makers' peaks, as puzzles have it so that closed forms hold, or what was measured.
enum class Speeds : std::uint8_t { peak, measured };
/// Reads `clusters/<name>.toml` of the folder; its efficiencies only if they are wanted. Throws std::runtime_error
/// listing the clusters there are.
Cluster load_cluster(const std::string& folder, const std::string& name, Speeds speeds = Speeds::peak);

/// The keys of all numbers and sections, as change_cluster takes them.
std::vector<std::string> cluster_keys();
/// Puts the numbers that the section has in the place of the cluster's, under the keys of the cluster's file; `link` is
/// both `intra_node` and `inter_node`, `host_link` both `to_host` and `to_device`. Throws std::runtime_error naming the
/// key at fault.
void change_cluster(TomlSection& section, Cluster& cluster);

}  // namespace shardlings::front
