#include "analyses/torch/names.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "fixtures/trace_rows.h"

namespace tbtrace::analyses {
namespace {

class TorchNamesTest : public testing::Test {
 protected:
  TorchName make(std::string_view raw, bool overloads = true) {
    return names_.make(raw, overloads);
  }
  std::string shown(std::string_view raw, bool overloads = true) {
    return std::string(names_.text(make(raw, overloads).name));
  }
  std::string overload(std::string_view raw, bool overloads = true) {
    return std::string(names_.text(make(raw, overloads).overload));
  }

 private:
  TraceBuilder builder_;
  Trace trace_ = fixtures::finished(builder_);
  TorchNames names_ = TorchNames(trace_);
};

TEST_F(TorchNamesTest, AreSplitFromTheirOverload) {
  EXPECT_EQ(shown("aten::add.Tensor"), "aten::add");
  EXPECT_EQ(overload("aten::add.Tensor"), "Tensor");
  EXPECT_EQ(shown("my_lib::op_2.out_1"), "my_lib::op_2");
  EXPECT_EQ(overload("aten::add"), "");
}

TEST_F(TorchNamesTest, KeepADotThatStartsNoOverload) {
  for (const std::string_view name :
       {"a.b", "aten::add.", "aten::.Tensor", "aten::add.Tensor.out", "aten::add.Ten sor",
        "::add.Tensor", "a.b::c", "torch::nn::f.x", "aten::add Tensor.x", "main.py(3): f::g.h"}) {
    EXPECT_EQ(shown(name), name);
    EXPECT_EQ(overload(name), "") << name;
  }
}

TEST_F(TorchNamesTest, OfAnnotationsAreNotSplit) {
  EXPECT_EQ(shown("aten::like.Tensor", false), "aten::like.Tensor");
}

TEST_F(TorchNamesTest, AreDemangled) {
  EXPECT_EQ(shown("_Z3foov"), "foo()");
  EXPECT_EQ(shown("Pf"), "float*") << "a type is a mangled name too";
  EXPECT_EQ(shown("f"), "f") << "but no single letter";
  EXPECT_EQ(shown("_Zbroken"), "_Zbroken");
}

TEST_F(TorchNamesTest, OfStepsAreOne) {
  EXPECT_EQ(shown("ProfilerStep#12"), "ProfilerStep*");
  EXPECT_EQ(shown("ProfilerStep#"), "ProfilerStep*");
  EXPECT_EQ(shown("ProfilerStep"), "ProfilerStep");
}

TEST_F(TorchNamesTest, OfTheProfilersOwnCallsAreLeftOut) {
  for (const std::string_view name :
       {"[memory]", "[OutOfMemory]", "profiler::_record_function_enter",
        "profiler::_record_function_enter_new", "profiler::_record_function_exit", "aten::is_leaf",
        "aten::output_nr", "aten::_version", "aten::is_leaf.out"}) {
    EXPECT_TRUE(make(name).is_left_out) << name;
  }
  EXPECT_FALSE(make("aten::is_leaf.out", false).is_left_out);
  EXPECT_FALSE(make("aten::is_leaf2").is_left_out);
  EXPECT_TRUE(make("[memory]").is_memory);
  EXPECT_FALSE(make("[memory]").is_out_of_memory);
  EXPECT_TRUE(make("[OutOfMemory]").is_out_of_memory);
}

TEST(TorchNames, AreTheSameForTheSameTextOfATrace) {
  TraceBuilder builder;
  const StringId split = builder.intern("aten::add.Tensor");
  const StringId plain = builder.intern("aten::add");
  const Trace trace = fixtures::finished(builder);
  TorchNames names(trace);
  const auto name = [&](StringId id, bool overloads) { return names.get(id, overloads).name; };
  EXPECT_EQ(name(split, true), name(plain, true));
  EXPECT_NE(name(split, false), name(plain, false));
  EXPECT_EQ(name(plain, false), name(plain, true));
}

}  // namespace
}  // namespace tbtrace::analyses
