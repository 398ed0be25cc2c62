/// \file
/// The table of verbs (verbs.def) as data: enumeration, names, rights, and the fields of each call.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace shardlings::detail {

/// What a Call asks for.
enum class Verb : std::uint8_t {
#define VERB(name, word, by, ...) name,
#include "api/verbs.def"
  count_  // how many there are
};

inline constexpr int kVerbs = static_cast<int>(Verb::count_);

/// On whose behalf a call is made. The harness may ask for everything.
enum class Caller : std::uint8_t { learner, harness };

/// What a call has; each word is explained in verbs.def.
// clang-format off
enum class FieldKind : std::uint8_t {
  reads, writes, may_read, may_write, takes, made_like, parts,
  number, bits, flag, integer, range, choice,
  scalar,
  in_group, of_model, work, saved, text, lent,
  async, released, uncounted
};
// clang-format on

/// One field of a call.
struct Field {
  FieldKind kind{};
  const char* name = "";
  int choices = 0;        ///< of a choice: how many there are
  const char* type = "";  ///< of a choice: the enumeration's name
};

/// One row of the table.
struct VerbSpec {
  const char* name = "";  ///< what the learner writes
  Caller by = Caller::learner;
  std::span<const Field> fields;
  bool released = false;
  bool uncounted = false;
};

/// The row of a verb, which must be one of the table.
const VerbSpec& spec_of(Verb verb);
/// The verb as the learner writes it: "matmul", "all_reduce".
const char* name_of(Verb verb);

}  // namespace shardlings::detail
