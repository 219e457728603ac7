#include "symbols/addresses/frame_text.h"

#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace tbtrace::symbols {
namespace {

TEST(FunctionName, IsWhatStandsBeforeTheParameters) {
  EXPECT_EQ(function_name("main"), "main");
  EXPECT_EQ(function_name("Net::forward(at::Tensor)"), "Net::forward");
  EXPECT_EQ(function_name("Net::forward(std::function<int (int)>) const"), "Net::forward");
  EXPECT_EQ(function_name("f(int (*)(char)) [clone .part.0]"), "f");
  EXPECT_EQ(function_name(""), "");
}

TEST(FunctionName, LeavesTheReturnTypeOut) {
  EXPECT_EQ(function_name("at::Tensor Net::forward<int>(int)"), "Net::forward");
  EXPECT_EQ(function_name("unsigned long f<int>(int)"), "f");
  EXPECT_EQ(function_name("std::vector<int, std::allocator<int> > g<int>()"), "g");
}

TEST(FunctionName, KnowsReturnTypesWithBrackets) {
  EXPECT_EQ(function_name("decltype(auto) f<int>(int)"), "f");
  EXPECT_EQ(function_name("decltype (x+x) A::f<int>(int)"), "A::f");
  EXPECT_EQ(function_name("auto f<int>(int)->decltype(x+x)"), "f");
  EXPECT_EQ(function_name("void (*foo<int>(int))(int)"), "foo");
  EXPECT_EQ(function_name("decltype(auto) (anonymous namespace)::f<int>(int)"),
            "(anonymous namespace)::f");
}

TEST(FunctionName, KeepsTheArgumentsOfClassesButNotItsOwn) {
  EXPECT_EQ(function_name("void Net<4, (char)65>::forward<at::Tensor&>(at::Tensor&)"),
            "Net<4, (char)65>::forward");
  EXPECT_EQ(function_name("Pair<a, b>::Pair(a, b)"), "Pair<a, b>::Pair");
}

TEST(FunctionName, KnowsOperators) {
  EXPECT_EQ(function_name("bool operator< <int>(A<int>, A<int>)"), "operator<");
  EXPECT_EQ(function_name("A::operator()(int) const"), "A::operator()");
  EXPECT_EQ(function_name("A::operator[](int)"), "A::operator[]");
  EXPECT_EQ(function_name("A::operator->() const"), "A::operator->");
  EXPECT_EQ(function_name("A::operator std::string() const"), "A::operator std::string");
  EXPECT_EQ(function_name("operator new(unsigned long)"), "operator new");
  EXPECT_EQ(function_name("operator\"\" _km(long double)"), "operator\"\" _km");
  EXPECT_EQ(function_name("A::operators(int)"), "A::operators");
  EXPECT_EQ(function_name("A::my_operator(int)"), "A::my_operator");
}

TEST(FunctionName, KeepsWhatAFunctionIsIn) {
  EXPECT_EQ(function_name("(anonymous namespace)::f(int)"), "(anonymous namespace)::f");
  EXPECT_EQ(function_name("main::{lambda(int)#1}::operator()(int) const"),
            "main::{lambda(int)#1}::operator()");
  EXPECT_EQ(function_name("f(int)::Local::g()"), "f(int)::Local::g");
  EXPECT_EQ(function_name("A::f() const::{lambda()#1}::operator()() const"),
            "A::f() const::{lambda()#1}::operator()");
  EXPECT_EQ(function_name("A::f() const &::{lambda()#1}::operator()() const"),
            "A::f() const &::{lambda()#1}::operator()");
  EXPECT_EQ(function_name("A::f() volatile &&::Local::g()"), "A::f() volatile &&::Local::g");
}

TEST(FunctionName, EndsForAnyText) {
  for (const char* const text :
       {"(", ")", "<", ">", "operator", "operator(", "f<(", "{[<(", "a )", "operator ", " ", "f(",
        "f()::", "()::()::", "(*", "(*)(", "operator\"\" ", "() ("}) {
    EXPECT_LE(function_name(text).size(), std::string(text).size()) << text;
  }
}

TEST(FrameText, IsFileLineAndFunction) {
  EXPECT_EQ(frame_text({.function = "Net::forward(at::Tensor)",
                        .file = "/home/me/net.cc",
                        .line = 12,
                        .object = "/home/me/train",
                        .offset = 1}),
            "/home/me/net.cc(12): Net::forward");
}

TEST(FrameText, SaysWhatItKnows) {
  const CodePlace no_file = {.function = "train(int)", .file = "", .line = 0, .object = "/a/prog"};
  EXPECT_EQ(frame_text(no_file), "prog(0): train");
  const CodePlace nothing = {
      .function = "", .file = "", .line = 0, .object = "/a/prog", .offset = 0x1f};
  EXPECT_EQ(frame_text(nothing), "prog(0): +0x1f");
  EXPECT_EQ(frame_text({}), std::nullopt);
}

TEST(FrameText, HoldsNoSemicolon) {
  EXPECT_EQ(frame_text({.function = "f", .file = "/a;b/c.cc", .line = 1, .object = "prog"}),
            "/a,b/c.cc(1): f");
}

std::optional<std::string> frame(const char* function, const char* object = "/usr/bin/prog") {
  return frame_text({.function = function, .file = "", .line = 0, .object = object});
}

TEST(FrameText, LeavesMachineryOut) {
  EXPECT_EQ(frame("at::relu(at::Tensor const&)"), std::nullopt);
  EXPECT_EQ(frame("void c10::function_ref<void ()>::callback_fn<int>(long)"), std::nullopt);
  EXPECT_EQ(frame("std::thread::_Invoker<int>::operator()()"), std::nullopt);
  EXPECT_EQ(frame("torch::autograd::Engine::evaluate()"), std::nullopt);
  EXPECT_EQ(frame("torch::nn::ModuleHolder<Net>::operator()(int)"), std::nullopt);
  EXPECT_EQ(frame("torch::nn::AnyModule::any_forward<int>(int&&)"), std::nullopt);
  EXPECT_EQ(frame("_start"), std::nullopt);
  EXPECT_EQ(frame("anything", "/lib/x86_64-linux-gnu/libc.so.6"), std::nullopt);
  EXPECT_EQ(frame("__interceptor_malloc", "/lib/x86_64-linux-gnu/libasan.so.8"), std::nullopt);
  EXPECT_EQ(frame("", "/opt/torch/lib/libtorch_cpu.so"), std::nullopt);
}

TEST(FrameText, KnowsHeadersWhereNamesTellNothing) {
  const auto inlined = [](const char* function, const char* file) {
    return frame_text({.function = function, .file = file, .line = 126, .object = "prog"});
  };
  EXPECT_EQ(inlined("forward", "/opt/torch/include/torch/csrc/api/include/torch/nn/pimpl.h"),
            std::nullopt);
  EXPECT_EQ(inlined("operator()", "/usr/include/c++/12/bits/std_function.h"), std::nullopt);
  EXPECT_TRUE(inlined("torch::nn::SequentialImpl::forward(int)",
                      "/opt/torch/include/torch/csrc/api/include/torch/nn/pimpl.h"));
  EXPECT_TRUE(inlined("forward", "/home/me/torch/net.h"));
}

TEST(FrameText, ShowsTheProgramAndLibTorchsModules) {
  EXPECT_TRUE(frame("main"));
  EXPECT_TRUE(frame("atom::split(int)"));
  EXPECT_TRUE(frame("at_once(int)"));
  EXPECT_TRUE(frame("train()", "/home/me/libtorch_example"));
  EXPECT_TRUE(frame("torch::nn::LinearImpl::forward(at::Tensor const&)", "libtorch_cpu.so"));
  EXPECT_TRUE(frame("torch::optim::SGD::step(std::function<at::Tensor ()>)", "libtorch.so.1.13"));
  EXPECT_TRUE(frame("my::layer(int)", "/opt/mine/libmine.so"));
}

}  // namespace
}  // namespace tbtrace::symbols
