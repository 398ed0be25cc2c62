#include "front/group/ring_traffic.h"

#include "base/dtype.h"
#include "base/parts.h"

namespace shardlings::front {

RingTraffic ring_traffic_of(const back::Signature& signature, int member) {
  using back::Collective;
  const int n = signature.members;
  // Of this member and its neighbours.
  const auto part = [&](int r) { return part_of(signature.count, n, r < 0 ? r + n : r < n ? r : r - n).size(); };
  const auto bytes = [&](Count elements) { return bytes_of(elements, signature.dtype); };
  const Count whole = signature.count;
  if (n == 1) return {};
  const int from_root = member - signature.root + (member < signature.root ? n : 0);  // in the chain from the root on
  // Of gather and scatter only the root knows the whole; the others give minus the size of their own part.
  if (whole < 0)
    return signature.kind == Collective::gather ? RingTraffic{bytes(-whole), Bytes(0)}
                                                : RingTraffic{Bytes(0), bytes(-whole)};
  switch (signature.kind) {
    case Collective::reduce_scatter: return {bytes(whole - part(member)), bytes(whole - part(member - 1))};
    case Collective::all_gather: return {bytes(whole - part(member + 1)), bytes(whole - part(member))};
    case Collective::all_reduce:
      return {bytes(2 * whole - part(member) - part(member + 1)), bytes(2 * whole - part(member - 1) - part(member))};
    case Collective::broadcast: return {bytes(from_root == n - 1 ? 0 : whole), bytes(from_root == 0 ? 0 : whole)};
    case Collective::reduce: return {bytes(from_root == 0 ? 0 : whole), bytes(from_root == n - 1 ? 0 : whole)};
    case Collective::gather:
      return member == signature.root ? RingTraffic{Bytes(0), bytes(whole - part(member))}
                                      : RingTraffic{bytes(part(member)), Bytes(0)};
    case Collective::scatter:
      return member == signature.root ? RingTraffic{bytes(whole - part(member)), Bytes(0)}
                                      : RingTraffic{Bytes(0), bytes(part(member))};
    case Collective::all_to_all: return {bytes(whole - part(member)), bytes((n - 1) * part(member))};
    case Collective::send_recv:
      return member == 0 ? RingTraffic{bytes(whole), Bytes(0)} : RingTraffic{Bytes(0), bytes(whole)};
    case Collective::barrier:
    case Collective::split: return {};
  }
  return {};
}

int receiver_of(const back::Signature& signature, int member) {
  using back::Collective;
  const int n = signature.members;
  if (n == 1) return -1;
  const int from_root = ((member - signature.root) % n + n) % n;
  switch (signature.kind) {
    case Collective::reduce_scatter:
    case Collective::all_gather:
    case Collective::all_reduce: return (member + 1) % n;
    case Collective::broadcast: return from_root == n - 1 ? -1 : (member + 1) % n;
    case Collective::reduce: return from_root == 0 ? -1 : (member - 1 + n) % n;
    case Collective::gather: return from_root == 0 ? -1 : signature.root;
    case Collective::send_recv: return member == 0 ? 1 : -1;
    case Collective::scatter:
    case Collective::all_to_all:
    case Collective::barrier:
    case Collective::split: return -1;
  }
  return -1;
}

}  // namespace shardlings::front
