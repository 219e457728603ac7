#include "recorder/window/call_stacks.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/operators.h>

#include "recorder/window/hand_written.h"
#include "recorder/window/read_window.h"

namespace program {
[[gnu::noinline]] void* here() { return __builtin_return_address(0); }
[[gnu::noinline]] void* outer() {
  void* const address = here();
  asm volatile("" ::: "memory");
  return address;
}
}  // namespace program

namespace tbtrace::recorder {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

TEST(CallStacks, OfRecordsWithoutOneAreEmpty) {
  CallStacks stacks;
  EXPECT_EQ(stacks.add({}, {}), 0);
  EXPECT_EQ(stacks.text(0), "");
}

TEST(CallStacks, AreKeptOnce) {
  CallStacks stacks;
  const std::string script = "net.py(3): forward;";
  const std::string other = "net.py(4): forward;";
  const std::array<void*, 1> frames = {program::outer()};
  const std::uint32_t both = stacks.add(script, frames);
  EXPECT_EQ(stacks.add(script, frames), both);
  EXPECT_NE(stacks.add(other, frames), both);
  EXPECT_NE(stacks.add(script, {}), both);
}

TEST(CallStacks, HaveTorchScriptsFramesBeforeThoseOfTheProgram) {
  CallStacks stacks;
  const std::string script = "net.py(3): forward;net.py(9): main;";
  const std::array<void*, 2> frames = {program::outer(), program::outer()};
  const std::string text = stacks.text(stacks.add(script, frames));
  EXPECT_THAT(text, StartsWith("net.py(3): forward;net.py(9): main;"));
  EXPECT_EQ(std::count(text.begin(), text.end(), ';'), 4);
  // The file where the build has debug information, else the program.
  EXPECT_THAT(text, AnyOf(HasSubstr("call_stacks_test.cc("), HasSubstr("recorder_tests(")));
}

TEST(CallStacks, OfMachineryAloneAreNone) {
  CallStacks stacks;
  const std::array<void*, 1> frames = {reinterpret_cast<void*>(&std::getenv)};
  EXPECT_EQ(stacks.add({}, frames), 0);
}

TEST(CallStacks, ComeBackFromTheFile) {
  HandWritten recording({.with_stack = true, .with_modules = true});
  auto thread = recording.thread();
  thread.range(
      10, 20, "aten::relu",
      {.script_stack = thread.log()->names().find("a\"b.py(3): forward;c.py(9): main;"),
       .script_modules = thread.log()->names().find("TOP(Net)::forward.inner(Inner)::forward.")});
  thread.range(30, 40, "aten::add");
  const auto window = recording.window();
  const std::string text = text_of(window);
  EXPECT_THAT(text, HasSubstr(R"("Module Hierarchy":"TOP(Net)::forward.inner(Inner)::forward.")"));
  EXPECT_THAT(text, HasSubstr(R"("Call stack":"a\"b.py(3): forward;c.py(9): main;")"));
  EXPECT_EQ(text.find("Call stack"), text.rfind("Call stack"));
  const Trace trace = read(window);
  EXPECT_EQ(events(trace)[0].stack.size(), 2);
}

}  // namespace
}  // namespace tbtrace::recorder
