// docs/reference/calls.md has the table of verbs as it is.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "api/verbs.h"

namespace shardlings::detail {
namespace {

/// One word or more for each field, by the column that it stands in.
struct Columns {
  std::string tensors, values, things, marks;
};

void append(std::string& list, const std::string& item) {
  list += (list.empty() ? "" : ", ") + item;
}

void add(Columns& columns, const Field& field) {
  const std::string name = field.name;
  switch (field.kind) {
    case FieldKind::reads: return append(columns.tensors, "reads " + name);
    case FieldKind::writes: return append(columns.tensors, "writes " + name);
    case FieldKind::may_read: return append(columns.tensors, "may read " + name);
    case FieldKind::may_write: return append(columns.tensors, "may write " + name);
    case FieldKind::takes: return append(columns.tensors, "takes " + name);
    case FieldKind::made_like: return append(columns.tensors, "makes " + name);
    case FieldKind::parts: return append(columns.tensors, "reads up to 8 " + name);
    case FieldKind::range: return append(columns.values, name + " (range)");
    case FieldKind::choice: return append(columns.values, name + " (" + field.type + ")");
    case FieldKind::flag: return append(columns.values, name + " (yes or no)");
    case FieldKind::number:
    case FieldKind::bits:
    case FieldKind::integer:
    case FieldKind::scalar: return append(columns.values, name);
    case FieldKind::in_group: return append(columns.things, name == "group" ? name : "group " + name);
    case FieldKind::of_model: return append(columns.things, "model");
    case FieldKind::work: return append(columns.things, name == "work" ? "Work" : "Work " + name);
    case FieldKind::saved: return append(columns.things, "Saved");
    case FieldKind::text: return append(columns.things, "text " + name);
    case FieldKind::lent: return append(columns.things, "lent " + name);
    case FieldKind::async: return append(columns.marks, "may go on beside the program");
    case FieldKind::released: return append(columns.marks, "from destructors");
    case FieldKind::uncounted: return append(columns.marks, "has no number");
  }
}

std::string table() {
  std::string rows = "| call | by | tensors | values | by number | |\n|---|---|---|---|---|---|\n";
  for (int v = 0; v < kVerbs; ++v) {
    const VerbSpec& spec = spec_of(static_cast<Verb>(v));
    Columns columns;
    for (const Field& field : spec.fields) add(columns, field);
    rows +=
        fmt::format("| {} | {} | {} | {} | {} | {} |\n", spec.name, spec.by == Caller::harness ? "harness" : "learner",
                    columns.tensors, columns.values, columns.things, columns.marks);
  }
  return rows;
}

TEST(CallsPage, HasTheTable) {
  std::ifstream file(SHARDLINGS_CALLS_PAGE);
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(page.find(table()), std::string::npos) << SHARDLINGS_CALLS_PAGE << " should have this table:\n\n"
                                                   << table();
}

}  // namespace
}  // namespace shardlings::detail
