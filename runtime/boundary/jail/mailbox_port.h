/// \file
/// The port of a rank whose runtime is in another process.
#pragma once

#include "api/port.h"
#include "boundary/mailbox.h"

namespace shardlings::boundary {

class MailboxPort final : public detail::Port {
 public:
  explicit MailboxPort(Mailbox& mailbox) : mailbox_(mailbox) {}

 protected:
  detail::Reply answer(const detail::Call& call) override;
  detail::TextId define(std::string_view text) override;
  std::string text_of(detail::TextId id) override;
  std::string error_text() override;

 private:
  void await_answer();

  Mailbox& mailbox_;
};

}  // namespace shardlings::boundary
