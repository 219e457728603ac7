#include "symbols/addresses/code_places.h"

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

// Outside of our namespace, as a program's code is.
namespace program {

[[gnu::noinline]] const void* where_it_returns_to() { return __builtin_return_address(0); }

constexpr int kLineOfCall = __LINE__ + 2;
[[gnu::noinline]] const void* calls() {
  const void* const address = where_it_returns_to();
  asm volatile("" ::: "memory");  // so that the call is not a jump
  return address;
}

// Its name is also the encoding of `float`.
extern "C" [[gnu::noinline]] const void* f() {
  const void* const address = where_it_returns_to();
  asm volatile("" ::: "memory");
  return address;
}

}  // namespace program

namespace tbtrace::symbols {
namespace {

TEST(CodePlaces, OfNobodysAddressKnowNothing) {
  for (const CodePlace& place : code_places(nullptr)) {
    EXPECT_EQ(place.function, "");
    EXPECT_EQ(place.file, "");
    EXPECT_EQ(place.line, 0);
  }
}

TEST(CodePlaces, NameTheObject) {
  const std::vector<CodePlace> places = code_places(program::calls());
  ASSERT_FALSE(places.empty());
  EXPECT_TRUE(places.back().object.ends_with("symbols_tests")) << places.back().object;
  EXPECT_GT(places.back().offset, 0);
}

#ifdef TBTRACE_KNOWS_LINES

TEST(CodePlaces, AreOfTheCall) {
  const std::vector<CodePlace> places = code_places(program::calls());
  ASSERT_EQ(places.size(), 1);
  EXPECT_EQ(places[0].function, "program::calls()");
  EXPECT_TRUE(places[0].file.ends_with("code_places_test.cc")) << places[0].file;
  EXPECT_EQ(places[0].line, program::kLineOfCall);
}

TEST(CodePlaces, OfFunctionsOfCHaveTheirNames) {
  const std::vector<CodePlace> places = code_places(program::f());
  ASSERT_EQ(places.size(), 1);
  EXPECT_EQ(places[0].function, "f");
}

TEST(CodePlaces, AreTheSameOnAllThreads) {
  const void* const address = program::calls();
  std::vector<std::string> functions(4);
  std::vector<std::thread> threads;
  for (std::string& function : functions) {
    threads.emplace_back([&] { function = code_places(address).at(0).function; });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::count(functions.begin(), functions.end(), "program::calls()"), 4);
}

#endif

}  // namespace
}  // namespace tbtrace::symbols
