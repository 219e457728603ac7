#include "analyses/stacks/frame_noise.h"

#include <string_view>

#include <gtest/gtest.h>

namespace tbtrace::analyses {
namespace {

TEST(FrameNoise, CallsOfModulesAndContainersOnlyPassOn) {
  for (const std::string_view frame :
       {"torch/nn/modules/module.py(1518): _wrapped_call_impl",
        "/usr/lib/python3/torch/nn/modules/module.py(1527): _call_impl",
        "torch/nn/modules/module.py(1): _slow_forward",
        "torch/nn/modules/container.py(215): forward",
        "/usr/include/torch/nn/modules/container/sequential.h(125): "
        "torch::nn::SequentialImpl::forward"}) {
    EXPECT_TRUE(only_passes_on(frame)) << frame;
  }
}

TEST(FrameNoise, OtherFunctionsAreKept) {
  for (const std::string_view frame :
       {"torch/nn/modules/module.py(1601): __getattr__", "torch/nn/modules/linear.py(114): forward",
        "torch/nn/modules/container.py(310): append", "mytorch/nn/modules/module.py(3): _call_impl",
        "module.py(3): _call_impl", "_call_impl",
        "torch/nn/modules/module.py(1527): ", "torch/nn/modules/module.py: _call_impl",
        "torch/nn/modules/module.py(1): x(2): _call_impl", ""}) {
    EXPECT_FALSE(only_passes_on(frame)) << frame;
  }
}

TEST(FrameNoise, AddressesAreLeftOut) {
  EXPECT_EQ(without_addresses("<built-in method run_backward of torch._C._EngineBase object at "
                              "0x7f2a1c0b4c50>"),
            "<built-in method run_backward of torch._C._EngineBase object>");
  EXPECT_EQ(without_addresses("<f at 0xAB> of <g at 0x12>"), "<f> of <g>");
  EXPECT_EQ(without_addresses("ends at 0x7f"), "ends");
}

TEST(FrameNoise, OtherNamesStayAsTheyAre) {
  for (const std::string_view frame : {"", "aten::mm", "at 0x7f", "look at 0x", "look at 0xyz",
                                       "libnet.so(0): +0x1234", " at 0x at 0x"}) {
    EXPECT_EQ(without_addresses(frame), frame);
  }
}

}  // namespace
}  // namespace tbtrace::analyses
