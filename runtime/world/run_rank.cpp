#include "world/run_rank.h"

#include <fmt/format.h>

#include <new>

#include "api/access.h"
#include "base/text.h"
#include "base/thrown_words.h"
#include "shardlings/error.h"

namespace shardlings::world {

using front::Failure;
using front::FailureKind;
using front::RankFront;

namespace {

FailureKind kind_of(Misuse misuse) {
  switch (misuse) {
    case Misuse::mismatch: return FailureKind::mismatch;
    case Misuse::deadlock: return FailureKind::deadlock;
    case Misuse::desertion: return FailureKind::desertion;
    case Misuse::race: return FailureKind::race;
    case Misuse::leak: return FailureKind::leak;
  }
  return FailureKind::exception;
}

Failure failure_of(const RankFront& front, FailureKind kind, const std::string& message, Location at) {
  return {kind, front.rank().id(), message, std::string(base_name(at.file)), at.line, front.rank().now()};
}

std::string after(const RankFront& front) {
  if (front.rank().calls().last()[0] == '\0') return fmt::format("rank {}, before its first call", front.rank().id());
  return fmt::format("rank {}, after {} at {}", front.rank().id(), front.rank().calls().last(),
                     to_text(front.rank().calls().last_place()));
}

// A rank that throws that by itself would not be asked for its part of the result.
std::optional<Failure> stopped(const RankFront& front) {
  if (front.rank().aborted()) return std::nullopt;
  return failure_of(front, FailureKind::exception,
                    fmt::format("Aborted was thrown on {}, though no other rank had failed", after(front)),
                    front.rank().calls().last_place());
}

// Runs the function; what it throws becomes a Failure. Nothing if it returned, or only stopped because others failed.
std::optional<Failure> attempt(RankFront& front, Rank& rank, const std::function<void(Rank&)>& body) {
  try {
    body(rank);
    if (!front.rank().doom().died()) front.check_end();
  } catch (const front::Died&) {
    return std::nullopt;
  } catch (const PeerFailed& error) {
    return failure_of(front, FailureKind::peer_failed, error.what(), error.where());
  } catch (const Aborted&) {
    return stopped(front);
  } catch (const MisuseError& error) {
    return failure_of(front, kind_of(error.misuse()), error.what(), error.where());
  } catch (const OutOfMemory& error) {
    return failure_of(front, FailureKind::out_of_memory, error.what(), error.where());
  } catch (const NotImplemented& error) {
    return failure_of(front, FailureKind::not_implemented, error.what(), error.where());
  } catch (const InvalidArgument& error) {
    return failure_of(front, FailureKind::invalid_argument, error.what(), error.where());
  } catch (const Error& error) {
    const FailureKind kind = front.rank().endless() ? FailureKind::endless_loop : FailureKind::exception;
    return failure_of(front, kind, error.what(), error.where());
  } catch (const std::bad_alloc&) {
    Failure failure = failure_of(front, FailureKind::exception,
                                 fmt::format("{}, threw std::bad_alloc, and nothing caught it", after(front)),
                                 front.rank().calls().last_place());
    failure.no_memory = memory_limits_here();
    return failure;
  } catch (...) {
    return failure_of(front, FailureKind::exception,
                      fmt::format("an exception that nothing caught: {}, threw {}", after(front), words_of_thrown()),
                      front.rank().calls().last_place());
  }
  return std::nullopt;
}

}  // namespace

front::RankReport run_rank(RankFront& front, front::Control& control, const std::function<void(Rank&)>& body) {
  const int ranks = static_cast<int>(control.world(front.rank().id()).group->members->size());
  Rank rank = detail::Access::rank(&front.port(), detail::Access::group(&front.port(), 0, front.rank().id(), ranks));
  const std::optional<Failure> failure = attempt(front, rank, body);
  if (front.rank().doom().died()) return front.take_report();  // whatever its code has done about it
  control.finish(front.rank().id(), failure, front.rank().calls().last(), front.rank().calls().last_place());
  return front.take_report();
}

}  // namespace shardlings::world
