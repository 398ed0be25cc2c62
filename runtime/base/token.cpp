#include "base/token.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <stdexcept>

namespace shardlings {

std::string random_token() {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) throw std::runtime_error("The system has no random numbers.");
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

}  // namespace shardlings
