/// \file
/// The arguments of each verb as a type, made of the table (verbs.def). `args::adam{.w = w, …}` packs a Call, in which
/// nothing can be left out or stand in another's place; `unpacked::adam(call)` gives them back by the same names.
#pragma once

#include <initializer_list>
#include <type_traits>

#include "api/call.h"
#include "shardlings/group.h"
#include "shardlings/ops.h"
#include "shardlings/tensor.h"

namespace shardlings::detail {

/// Shape and type of what a call shall make.
struct MadeLike {
  Shape shape;
  DType dtype = DType::f32;
};

template <FieldKind kind, FieldKind... kinds>
concept OneOf = ((kind == kinds) || ...);

/// The C++ type of an argument of each kind.
/// @{
template <FieldKind kind>
struct Given {
  using Type = const ConstView&;
};
template <FieldKind kind>
requires OneOf<kind, FieldKind::writes, FieldKind::may_write>
struct Given<kind> {
  using Type = const View&;
};
template <>
struct Given<FieldKind::made_like> {
  using Type = MadeLike;
};
template <>
struct Given<FieldKind::parts> {
  using Type = std::initializer_list<ConstView>;
};
template <>
struct Given<FieldKind::number> {
  using Type = std::int64_t;
};
template <>
struct Given<FieldKind::flag> {
  using Type = bool;
};
template <>
struct Given<FieldKind::integer> {
  using Type = int;
};
template <FieldKind kind>
requires OneOf<kind, FieldKind::in_group, FieldKind::of_model>
struct Given<kind> {
  using Type = std::uint32_t;
};
template <FieldKind kind>
requires OneOf<kind, FieldKind::bits, FieldKind::work, FieldKind::saved, FieldKind::lent>
struct Given<kind> {
  using Type = std::uint64_t;
};
template <>
struct Given<FieldKind::text> {
  using Type = const char*;
};
/// @}

/// The type in which a call carries it.
template <FieldKind kind>
using Number = std::conditional_t<kind == FieldKind::text, TextId, typename Given<kind>::Type>;

/// The arguments of each verb, to be packed.
namespace args {
#define VERB(verb, word, by, ...)             \
  struct verb {                               \
    static constexpr Verb kVerb = Verb::verb; \
    __VA_ARGS__                               \
  };
#define TENSOR(kind, name) Given<FieldKind::kind>::Type name;
#define NUMBER(kind, name) Given<FieldKind::kind>::Type name;
#define RANGE(name) Range name;
#define CHOICE(name, type) type name;
#define SCALAR(name) float name;
#define NAMED(kind, name) Given<FieldKind::kind>::Type name;
#include "api/verbs.def"
}  // namespace args

/// Hands each of the arguments to `packer`, in the order of the table.
#define VERB(verb, word, by, ...)                                                        \
  template <class Packer>                                                                \
  void pack([[maybe_unused]] Packer& packer, [[maybe_unused]] const args::verb& given) { \
    __VA_ARGS__                                                                          \
  }
#define TENSOR(kind, name) packer.add_tensor(given.name);
#define NUMBER(kind, name) packer.add_number(static_cast<std::int64_t>(given.name));
#define RANGE(name) packer.add_number(given.name.begin), packer.add_number(given.name.end);
#define CHOICE(name, type) packer.add_number(static_cast<std::int64_t>(given.name));
#define SCALAR(name) packer.add_scalar(given.name);
#define NAMED(kind, name) packer.add_##kind(given.name);
#include "api/verbs.def"

/// Which tensor of a call an argument is, and what the call does with it.
template <FieldKind kind>
struct Argument {
  int index = 0;
  const char* name = "";
};

/// Positions of each verb's tensors.
namespace position {
#define VERB(verb, word, by, ...)               \
  struct verb {                                 \
    enum : std::uint8_t { __VA_ARGS__ count_ }; \
  };
#define TENSOR(kind, name) name,
#include "api/verbs.def"
}  // namespace position

/// Reads numbers and scalars in the order of the table.
class ArgumentReader {
 public:
  explicit ArgumentReader(const Call& call) : call_(call) {}

 protected:
  std::int64_t next_number() { return call_.number[numbers_++]; }
  float next_scalar() { return call_.scalar[scalars_++]; }
  Range next_range() {
    const std::int64_t begin = next_number();
    return {begin, next_number()};
  }
  /// What the runtime keeps under this number.
  template <FieldKind kind>
  auto named() const {
    if constexpr (kind == FieldKind::in_group) return call_.group;
    if constexpr (kind == FieldKind::of_model) return call_.model;
    if constexpr (kind == FieldKind::text) return call_.text;
    if constexpr (kind == FieldKind::work || kind == FieldKind::saved || kind == FieldKind::lent) return call_.id;
  }

 private:
  const Call& call_;
  int numbers_ = 0;
  int scalars_ = 0;
};

/// The arguments of a call that has passed validate(): numbers and scalars as they were given, of tensors the place.
namespace unpacked {
#define VERB(verb, word, by, ...)                             \
  struct verb : private ArgumentReader {                      \
    static constexpr Verb kVerb = Verb::verb;                 \
    using Position = position::verb;                          \
    explicit verb(const Call& call) : ArgumentReader(call) {} \
    __VA_ARGS__                                               \
  };
#define TENSOR(kind, name) static constexpr Argument<FieldKind::kind> name{Position::name, #name};
#define NUMBER(kind, name) Given<FieldKind::kind>::Type name = static_cast<Given<FieldKind::kind>::Type>(next_number());
#define RANGE(name) Range name = next_range();
#define CHOICE(name, type) type name = static_cast<type>(next_number());
#define SCALAR(name) float name = next_scalar();
#define NAMED(kind, name) Number<FieldKind::kind> name = named<FieldKind::kind>();
#include "api/verbs.def"
}  // namespace unpacked

}  // namespace shardlings::detail
