#include "api/verbs.h"

#include "api/arguments.h"
#include "api/enums.h"

namespace shardlings::detail {
namespace {

// Each verb's fields in an array of its own; the last element is none, since no array may be empty.
#define VERB(verb, word, by, ...) constexpr Field kFieldsOf_##verb[] = {__VA_ARGS__ Field{}};
#define TENSOR(kind, name) Field{FieldKind::kind, #name},
#define NUMBER(kind, name) Field{FieldKind::kind, #name},
#define RANGE(name) Field{FieldKind::range, #name},
#define CHOICE(name, type) Field{FieldKind::choice, #name, choices_of<type>(), #type},
#define SCALAR(name) Field{FieldKind::scalar, #name},
#define NAMED(kind, name) Field{FieldKind::kind, #name},
#define MARK(kind) Field{FieldKind::kind},
#include "api/verbs.def"

constexpr VerbSpec spec(const char* name, Caller by, std::span<const Field> fields) {
  VerbSpec spec{name, by, fields};
  for (const Field& field : fields) {
    if (field.kind == FieldKind::released) spec.released = true;
    if (field.kind == FieldKind::uncounted) spec.uncounted = true;
  }
  return spec;
}

constexpr VerbSpec kSpecs[] = {
#define VERB(verb, word, by, ...) spec(word, Caller::by, {kFieldsOf_##verb, std::size(kFieldsOf_##verb) - 1}),
#include "api/verbs.def"
};

static_assert(std::size(kSpecs) == kVerbs);

}  // namespace

const VerbSpec& spec_of(Verb verb) {
  return kSpecs[static_cast<std::size_t>(verb)];
}

const char* name_of(Verb verb) {
  return spec_of(verb).name;
}

const char* name_of(const Call& call) {
  if (call.verb != Verb::allocate) return name_of(call.verb);
  const unpacked::allocate given(call);
  if (given.on_host) return given.zeros ? "host_zeros" : "host_empty";
  return given.zeros ? "zeros" : "empty";
}

}  // namespace shardlings::detail
