#include "back/engine/fibers/context.h"

#include <cstdint>

namespace shardlings::back {

#if SHARDLINGS_BOOST_CONTEXT

namespace context = boost::context::detail;

/// Who jumps where: the one that arrives notes where the other can be gone on from.
struct Context::Jump {
  Context* from;
  Context* to;
};

void Context::begin_at(void* stack, std::size_t size, Entry entry, void* argument) {
  entry_ = entry;
  argument_ = argument;
  at_ = context::make_fcontext(static_cast<std::byte*>(stack) + size, size, &Context::enter);
}

void Context::enter(context::transfer_t transfer) {
  const Jump jump = *static_cast<Jump*>(transfer.data);
  jump.from->at_ = transfer.fctx;
  jump.to->entry_(jump.to->argument_);
}

void Context::go(Context& from) {
  Jump jump{&from, this};
  const context::transfer_t back = context::jump_fcontext(at_, &jump);
  static_cast<Jump*>(back.data)->from->at_ = back.fctx;
}

#else

void Context::begin_at(void* stack, std::size_t size, Entry entry, void* argument) {
  entry_ = entry;
  argument_ = argument;
  getcontext(&at_);
  at_.uc_stack.ss_sp = stack;
  at_.uc_stack.ss_size = size;
  // makecontext passes ints only: the address comes in two of them.
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  makecontext(&at_, reinterpret_cast<void (*)()>(&Context::enter), 2, static_cast<unsigned>(self >> 32U),
              static_cast<unsigned>(self));
}

void Context::enter(unsigned high, unsigned low) {
  auto* self = reinterpret_cast<Context*>((std::uintptr_t{high} << 32U) | low);  // NOLINT(performance-no-int-to-ptr)
  self->entry_(self->argument_);
}

void Context::go(Context& from) {
  swapcontext(&from.at_, &at_);
}

#endif

}  // namespace shardlings::back
