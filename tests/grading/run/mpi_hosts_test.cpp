// Files of hosts, in the forms of both MPIs.
#include "grading/run/mpi_hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace shardlings::grading::run {
namespace {

using testing::HasSubstr;

std::string refused(const std::string& text) {
  try {
    hosts_from(text, "hosts");
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(MpiHosts, BothFormsAreRead) {
  const auto hosts = hosts_from("# two of them\nada slots=2\n\n  grace:3   # the large one\n10.0.0.7\n", "hosts");
  EXPECT_EQ(to_text(hosts), "ada:2,grace:3,10.0.0.7:1");
  EXPECT_EQ(slots_of(hosts), 6);
}

TEST(MpiHosts, AHostThatIsNamedAgainHasMoreSlots) {
  EXPECT_EQ(to_text(hosts_from("ada\ngrace\nada\n", "hosts")), "ada:2,grace:1");
}

TEST(MpiHosts, MostSlotsAreNoSlots) {
  EXPECT_EQ(to_text(hosts_from("ada slots=2 max_slots=4\n", "hosts")), "ada:2");
}

TEST(MpiHosts, WhatCannotBeReadIsToldWithItsLine) {
  EXPECT_THAT(refused("ada\ngrace slots=none\n"), HasSubstr("hosts:2: \"grace slots=none\" names no host"));
  EXPECT_THAT(refused("ada:0\n"), HasSubstr("hosts:1:"));
  EXPECT_THAT(refused("ada:2:3\n"), HasSubstr("hosts:1:"));
  EXPECT_THAT(refused("ada grace\n"), HasSubstr("hosts:1:"));
  EXPECT_THAT(refused("ada,grace\n"), HasSubstr("hosts:1:"));
  EXPECT_THAT(refused("ada slots=99999999999999\n"), HasSubstr("hosts:1:"));
}

TEST(MpiHosts, AFileWithoutHostsIsRefused) {
  EXPECT_EQ(refused("# nothing\n\n"), "hosts names no host.");
  EXPECT_THROW(read_hosts("/no/such/file"), std::runtime_error);
}

TEST(MpiHosts, ThisHostComesFirst) {
  const auto hosts = hosts_from("ada\ngrace\njoan\n", "hosts");
  const auto on = [&](const std::string& name) {
    return to_text(with_this_host_first(hosts, "hosts", [&](const std::string& host) { return host == name; }));
  };
  EXPECT_EQ(on("ada"), "ada:1,grace:1,joan:1");
  EXPECT_EQ(on("joan"), "joan:1,ada:1,grace:1");
  EXPECT_THROW(on("nobody"), std::runtime_error);
}

TEST(MpiHosts, ThisHostIsKnownByItsAddress) {
  EXPECT_TRUE(is_this_host("127.0.0.1"));
  EXPECT_TRUE(is_this_host("localhost"));
  EXPECT_FALSE(is_this_host("192.0.2.1"));  // for documentation: nobody's
}

}  // namespace
}  // namespace shardlings::grading::run
