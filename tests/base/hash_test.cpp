#include "base/hash.h"

#include <gtest/gtest.h>

namespace shardlings {
namespace {

TEST(Hash, IsFnv1a) {
  // Values of the reference's test suite (test_fnv.c, 64-bit FNV-1a).
  EXPECT_EQ(hash_of(""), 0xcbf29ce484222325ULL);
  EXPECT_EQ(hash_of("a"), 0xaf63dc4c8601ec8cULL);
  EXPECT_EQ(hash_of("foobar"), 0x85944171f73967e8ULL);
  EXPECT_EQ(content_hash("foobar"), "85944171f73967e8");
}

TEST(Hash, GoesOnWhereItStopped) {
  EXPECT_EQ(hash_of("bar", hash_of("foo")), hash_of("foobar"));
}

TEST(Hash, OfAFileThatIsNotThereIsEmpty) {
  EXPECT_EQ(file_hash("/no/such/file"), "");
}

TEST(ContentKey, TellsWhereOneTextEndsAndTheNextBegins) {
  EXPECT_EQ(content_key({"a", "b"}), content_key({"a", "b"}));
  EXPECT_NE(content_key({"a", "b"}), content_key({"ab", ""}));
  EXPECT_NE(content_key({"a", "b"}), content_key({"b", "a"}));
  EXPECT_EQ(content_key({}).size(), 32U);
}

}  // namespace
}  // namespace shardlings
