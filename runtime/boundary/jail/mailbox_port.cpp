#include "boundary/jail/mailbox_port.h"

#include <unistd.h>

namespace shardlings::boundary {

using detail::Reply;
using detail::TextId;

// Without its broker nobody has a use for what a jail does.
void MailboxPort::await_answer() {
  if (!mailbox_.await()) _exit(1);
}

Reply MailboxPort::answer(const detail::Call& call) {
  mailbox_.post_plain(Topic::call, call);
  await_answer();
  return mailbox_.plain<Reply>();
}

TextId MailboxPort::define(std::string_view text) {
  constexpr std::size_t kLongest = std::size_t{1} << 16U;  // longer ones have no number either
  mailbox_.post(Topic::define, text.substr(0, kLongest));
  await_answer();
  return mailbox_.plain<TextId>();
}

std::string MailboxPort::text_of(TextId id) {
  mailbox_.post_plain(Topic::text_of, id);
  await_answer();
  return mailbox_.bytes();
}

std::string MailboxPort::error_text() {
  mailbox_.post(Topic::error_text, {});
  await_answer();
  return mailbox_.bytes();
}

}  // namespace shardlings::boundary
