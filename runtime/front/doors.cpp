#include "front/doors.h"

#include <fmt/format.h>

#include <new>

#include "api/validate.h"
#include "base/text.h"
#include "front/rank_front.h"

namespace shardlings::front {

using detail::Call;
using detail::Caller;
using detail::ErrorKind;
using detail::Reply;

namespace {

bool is_verb(const Call& call) {
  return static_cast<int>(call.verb) < detail::kVerbs;
}

/// A destructor's, which frees memory whatever has happened.
bool is_released(const Call& call) {
  return is_verb(call) && detail::spec_of(call.verb).released;
}

}  // namespace

Reply Doors::answer(const Call& call, Caller caller) {
  if (refused_ && !is_released(call)) return *refused_;
  const int depth = front_.rank().calls().depth();
  try {
    if (depth == 0) check(call, caller);  // else it is the front's own, inside a layer's call
    return front_.handle(call);
  } catch (const std::exception&) {
    const Reply reply = refusal();
    front_.rank().calls().break_off(depth);
    const bool is_nobodys = reply.error == ErrorKind::aborted || reply.error == ErrorKind::peer_failed;
    const bool is_judged = caller == Caller::learner && front_.is_measuring() && !is_nobodys;
    if (is_judged) refused_ = reply;
    return reply;
  }
}

// What the table says of a call is known without looking at the rank; that its texts exist, and its right, is added
// here.
void Doors::check(const Call& call, Caller caller) const {
  if (const auto problem = detail::validate(call)) refuse(call, *problem);
  if (!front_.rank().texts().has(call.at.file) || !front_.rank().texts().has(call.text))
    refuse(call, "a text has an unknown number");
  if (caller == Caller::learner && detail::spec_of(call.verb).by == Caller::harness) {
    refuse(call, "only a harness may ask for this");
  }
}

void Doors::refuse(const Call& call, const std::string& why) const {
  const Location at = front_.rank().texts().has(call.at.file) ? front_.rank().place(call) : Location{};
  throw InvalidArgument(fmt::format("{}: rank {}: {}: {}", to_text(at), front_.rank().id(),
                                    is_verb(call) ? detail::name_of(call.verb) : "a call", why)
                            .c_str(),
                        at);
}

/// The exception that is being handled, as a reply.
Reply Doors::refusal() {
  Reply reply;
  const auto tell = [&](ErrorKind kind, const Error& error) {
    reply.error = kind;
    reply.at = {define(error.where().file), error.where().line};
    error_ = error.what();
  };
  try {
    throw;
  } catch (const MisuseError& error) {
    reply.misuse = error.misuse();
    tell(ErrorKind::misuse, error);
  } catch (const OutOfMemory& error) {
    tell(ErrorKind::out_of_memory, error);
  } catch (const InvalidArgument& error) {
    tell(ErrorKind::invalid_argument, error);
  } catch (const Aborted& error) {
    tell(ErrorKind::aborted, error);
  } catch (const PeerFailed& error) {
    tell(ErrorKind::peer_failed, error);
  } catch (const Error& error) {
    tell(ErrorKind::other, error);
  } catch (const std::bad_alloc&) {
    reply.error = ErrorKind::no_host_memory;
  } catch (const std::exception& error) {
    reply.error = ErrorKind::foreign;
    error_ = error.what();
  }
  return reply;
}

detail::TextId Doors::define(std::string_view text) {
  return front_.rank().texts().define(text);
}

std::string Doors::text_of(detail::TextId id) const {
  return front_.rank().texts().has(id) ? front_.rank().texts().text(id) : "";
}

std::vector<float> Doors::Harness::values_of(const detail::Ref& ref) {
  Call call;
  call.verb = detail::Verb::publish;
  call.tensor[0] = ref;
  RankMemory& memory = doors_.front_.memory();
  return memory.download(memory.find(call, {.index = 0}));
}

void Doors::Harness::check(const detail::Ref& ref) const {
  Call call;
  call.verb = detail::Verb::publish;
  call.num_tensors = 1;
  call.tensor[0] = ref;
  doors_.check(call, Caller::harness);
  if (!doors_.front_.memory().holds(ref)) doors_.refuse(call, "it is about a tensor that the rank does not have");
}

bool Doors::Harness::computes() const {
  return doors_.front_.rank().device().computes();
}

bool Doors::Harness::measures() const {
  return doors_.front_.is_measuring();
}

Nanos Doors::Harness::now() const {
  return doors_.front_.rank().now();
}

Location Doors::Harness::last_place() const {
  return doors_.front_.rank().calls().last_place();
}

}  // namespace shardlings::front
