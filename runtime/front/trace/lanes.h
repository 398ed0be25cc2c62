/// \file
/// Where the time of a rank passes: its lanes, and the links that they stand for.
#pragma once

#include <cstdint>

namespace shardlings::front {

/// Where time passes on a rank: its program, its links (ranks inside a node are joined by other links than nodes are),
/// the two directions of its link with the host, the host's processor, and its way to the store that ranks share.
enum class Lane : std::uint8_t { compute, intra_node, inter_node, to_host, to_device, host, store };
inline constexpr int kLanes = 7;
/// The class of a link: which communication lane an operation uses.
enum class Link : std::uint8_t { intra_node, inter_node };
inline constexpr int kLinks = 2;
/// The direction of a copy between the device's memory and the host's.
enum class HostLink : std::uint8_t { to_host, to_device };
inline constexpr int kHostLinks = 2;
/// What a rank does with the store.
enum class StoreAccess : std::uint8_t { write, read };
inline constexpr int kStoreAccesses = 2;

}  // namespace shardlings::front
