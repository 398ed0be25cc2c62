#include "grading/build/source_place.h"

#include <gtest/gtest.h>

#include <string>

namespace shardlings {
namespace {

namespace build = grading::build;

std::string variable(const std::string& source, const std::string& name) {
  return build::place_of_variable({"", "p.cpp", source}, name);
}

std::string use(const std::string& source, const std::string& name) {
  return build::place_of_use({"", "p.cpp", source}, name);
}

TEST(SourcePlace, NamesAreCutToTheirLastPart) {
  EXPECT_EQ(build::last_part("f(int, std::vector<int>)::calls"), "calls");
  EXPECT_EQ(build::last_part("f()::{lambda(int)#1}::operator()(int) const::kept"), "kept");
  EXPECT_EQ(build::last_part("(anonymous namespace)::counter"), "counter");
  EXPECT_EQ(build::last_part("name[abi:cxx11]"), "name");
  EXPECT_EQ(build::last_part("std::chrono::_V2::steady_clock::now()"), "now");
}

TEST(SourcePlace, OfVariables) {
  EXPECT_EQ(variable("// counter\nint f(int counter);\nint counter = 0;\n", "counter"), "p.cpp:3");
  EXPECT_EQ(variable("namespace {\nint a = 1,\nb = a;\n}\n", "(anonymous namespace)::b"), "p.cpp:3");
  EXPECT_EQ(variable("int g(int n) { return n; }\nint n{3};\n", "n"), "p.cpp:2");
  EXPECT_EQ(variable("struct S {\n static int kept;\n};\nint S::kept = 1;\n", "S::kept"), "p.cpp:4");
  EXPECT_EQ(variable("void f() {\n int n = 0;\n static int m = n;\n thread_local int k;\n}\n", "f()::m"), "p.cpp:3");
}

TEST(SourcePlace, OfVariablesIsLeftOutWhereItIsNotCertain) {
  EXPECT_EQ(variable("void f() { static int n = 0; }\nvoid g() { static int n = 0; }\n", "f()::n"), "p.cpp");
  EXPECT_EQ(variable("#define KEEP static int n\nvoid f() { KEEP; int n = 1; }\n", "f()::n"), "p.cpp");
  EXPECT_EQ(variable("", "f()::n"), "p.cpp");
}

TEST(SourcePlace, OfInstantiations) {
  const auto place = [](const std::string& source) { return build::place_of_instantiation({"", "p.cpp", source}); };
  EXPECT_EQ(place("#include <string>\n\ntemplate class std::basic_string<char>;\n"), "p.cpp:3");
  EXPECT_EQ(place("template <class T> T f(T);\ntemplate int f<int>(int);\n"), "") << "not the library's";
  EXPECT_EQ(place("extern template class std::vector<int>;\nvoid f() { x.template g<std::string>(); }\n"), "");
}

TEST(SourcePlace, OfUses) {
  EXPECT_EQ(use("void f() {\n world.send(x, 1);\n send(3, x);\n}\n", "send"), "p.cpp:3");
  EXPECT_EQ(use("void f() {\n p->read(x);\n \"rand\";\n std::rand();\n}\n", "rand"), "p.cpp:4");
  EXPECT_EQ(use("void f() {\n scanf(a);\n}\n", "__isoc99_scanf"), "p.cpp:2");
  EXPECT_EQ(use("void f() {}\n", "std::basic_ofstream<char, std::char_traits<char> >::basic_ofstream()"), "p.cpp");
}

}  // namespace
}  // namespace shardlings
