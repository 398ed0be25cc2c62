// What a source may say, and what a compiler could read differently than a person.
#include "grading/build/source_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grading/build/source_tokens.h"

namespace shardlings::grading::build {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string checked(const std::string& source) {
  return check_source(source, "p.cpp");
}

std::vector<std::string> names_in(const std::string& source) {
  const SourceTokens read = read_tokens(source);
  std::vector<std::string> names;
  for (const SourceToken& token : read.tokens) {
    if (token.kind == SourceToken::Kind::name) names.push_back(token.text + ":" + std::to_string(token.line));
  }
  if (read.problem) names.push_back("problem:" + std::to_string(read.problem->line));
  return names;
}

TEST(SourceTokens, CommentsAndLiteralsAreNoNames) {
  EXPECT_THAT(names_in("a /* b \n c */ d // e \\\n f\n g"), ElementsAre("a:1", "d:2", "g:4"));
  EXPECT_THAT(names_in("a \"b \\\" c\" 'd' '\\'' e"), ElementsAre("a:1", "e:1"));
  EXPECT_THAT(names_in("a 1'000 0x1p-3f 1.5e+3L .5f b"), ElementsAre("a:1", "b:1"));
  EXPECT_THAT(names_in("a \"//\" b \"/*\" c"), ElementsAre("a:1", "b:1", "c:1"));
}

TEST(SourceTokens, JoinedLinesAreOne) {
  EXPECT_THAT(names_in("ab\\\ncd \\  \r\n e"), ElementsAre("abcd:1", "e:3"));
  EXPECT_THAT(names_in("/\\\n/ a\nb"), ElementsAre("b:3"));
}

TEST(SourceTokens, WhatCouldBeReadInTwoWaysIsAProblem) {
  for (const char* odd : {"R\"(x)\"", "u8R\"(x)\"", "LR\"a(x)a\"", "\"open\n\"", "'a\n'",      "/* open", "\\u0061",
                          "%:x",      "<% %>",      "a<:1:>",      "\?\?=x",     "a\vb",       "a\fb",    "a\rb",
                          "// \x01",  "\x7f",       "int a$b;",    "1$'b /*'",   "1'0$'b /*'", ".1$'x"}) {
    EXPECT_TRUE(read_tokens(odd).problem) << odd;
  }
  EXPECT_TRUE(read_tokens(std::string("a\0b", 3)).problem);
  for (const char* plain :
       {"FOOR\"x\"", "std::vector<::View> v;", "a ? b : c", "a\r\nb", "\"what\?\"", "\xEF\xBB\xBFint a;"}) {
    EXPECT_FALSE(read_tokens(plain).problem) << plain;
  }
}

TEST(SourceCheck, LightHeadersOnly) {
  EXPECT_EQ(checked("#include <shardlings/puzzle.h>\n  # include \"shardlings/ops.h\"\n#include <vector> // x\n"), "");
  EXPECT_EQ(
      checked("\n#include <thread>\n"),
      "p.cpp:2: #include <thread>: a puzzle includes <shardlings/puzzle.h> and light headers of the standard "
      "library (<vector>, <algorithm>, <cmath>, <iostream>, …) only. Ranks are the only threads, and meet through a "
      "Group: leave it out.");
  EXPECT_THAT(checked("#include <shardlings/../api/call.h>\n"), StartsWith("p.cpp:1: "));
  EXPECT_THAT(checked("#include <shardlings/..h>\n"), StartsWith("p.cpp:1: "));
  EXPECT_THAT(checked("#include HEADER\n"), StartsWith("p.cpp:1: #include HEADER"));
  EXPECT_THAT(checked("%:include <unistd.h>\n"), StartsWith("p.cpp:1: "));
  EXPECT_THAT(checked("#include <vector\n"), StartsWith("p.cpp:1: "));
  EXPECT_THAT(checked("#include \"\"\n"), StartsWith("p.cpp:1: "));
  EXPECT_THAT(checked("#include"), StartsWith("p.cpp:1: "));
  EXPECT_THAT(checked("#include <vector> <thread>\n"), HasSubstr("something stands behind"));
  EXPECT_EQ(checked("// #include <thread>\n#define X 1\n"), "");
}

TEST(SourceCheck, WhatToDoInsteadOfAHeaderIsSaid) {
  EXPECT_THAT(checked("#include <chrono>\n"), HasSubstr(" only. Time is virtual"));
  EXPECT_THAT(checked("#include <stdlib.h>\n"), HasSubstr(" only. Write <cstdlib>."));
  EXPECT_THAT(checked("#include \"helper.h\"\n"), HasSubstr(" only. A puzzle is one file"));
  EXPECT_THAT(checked("#include <any>\n"), HasSubstr(" only. Leave it out."));
}

TEST(SourceCheck, LinesWithOtherWordsAreNamed) {
  for (const char* line :
       {"#line 3", "# 1 \"x\"", "#pragma GCC poison x", "#pragma weak a", "#ident \"x\"", "#embed \"x\"",
        "#include_next <vector>", "#import <vector>", "#assert x(y)", "#sccs \"x\""}) {
    EXPECT_THAT(checked(std::string("\n") + line + "\n"), StartsWith("p.cpp:2: #")) << line;
  }
  EXPECT_EQ(checked("#pragma once\n#if 1\n#elif 2\n#else\n#endif\n#ifdef A\n#endif\n#ifndef A\n#endif\n#undef A\n#\n"),
            "");
}

TEST(SourceCheck, NamesOfTheCompilersAreRefused) {
  EXPECT_THAT(checked("int a __attribute__((unused));"), HasSubstr("[[maybe_unused]]"));
  EXPECT_THAT(checked("int __a;"), StartsWith("p.cpp:1: __a belongs to the compiler"));
  EXPECT_THAT(checked("int a__b;"), HasSubstr("belongs to the compiler"));
  EXPECT_THAT(checked("\n_Pragma(\"x\")"), StartsWith("p.cpp:2: _Pragma belongs"));
  EXPECT_THAT(checked("void f() { asm(\"nop\"); }"), StartsWith("p.cpp:1: assembly is not for puzzles"));
  EXPECT_THAT(checked("[[gnu::noinline]] void f();"), HasSubstr("attributes of the compiler's"));
  EXPECT_THAT(checked("#define A(x) x##1\n"), StartsWith("p.cpp:1: ## makes names"));
  EXPECT_EQ(checked("int a_, _b; const char* f = __FILE__; int l = __LINE__; auto s = __func__; // __x asm"), "");
}

TEST(SourceCheck, ArithmeticOfTheCompilersIsThatOfTheLibrary) {
  EXPECT_EQ(checked("float f(float x) { return __builtin_sqrtf(__builtin_fabsf(x)); }"), "");
  EXPECT_EQ(checked("int f(unsigned x) { return __builtin_popcount(x); }"), "");
  EXPECT_THAT(checked("\nvoid* f() { return __builtin_frame_address(0); }"),
              StartsWith("p.cpp:2: __builtin_frame_address is a function of the compiler's that is not for puzzles."));
}

TEST(SourceCheck, TheRuntimesInsideIsRefused) {
  for (const char* source :
       {"auto p = v.port_;", "using ConstView::ref_;", "shardlings::detail::Port* p;", "namespace shardlings {}",
        "namespace shardlings::x {}", "#define N shardlings\n", "template struct T<&Group::id_>;", "#define M id_\n",
        "detail::Ref r;", "#define N namespace\n", "#define NS(x) namespace x {\n", "#define private public\n",
        "#define std x\n"}) {
    EXPECT_THAT(checked(source), StartsWith("p.cpp:1: ")) << source;
  }
  EXPECT_THAT(checked("#define Access A\n#include <shardlings/puzzle.h>\n"), StartsWith("p.cpp:2: "));
  EXPECT_EQ(checked("using namespace shardlings; namespace s = shardlings; shardlings::View v; int id_, detail;"), "");
}

}  // namespace
}  // namespace shardlings::grading::build
