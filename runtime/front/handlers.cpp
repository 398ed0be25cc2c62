#include "front/handlers.h"

namespace shardlings::front {

Handler handler_of(detail::Verb verb) {
  static constexpr Handler kHandlers[] = {
#define VERB(verb, word, by, ...) handle::verb,
#include "api/verbs.def"
  };
  return kHandlers[static_cast<std::size_t>(verb)];
}

}  // namespace shardlings::front
