#include "writers/flame/frame_color.h"

#include <cmath>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace tbtrace::writers {
namespace {

TEST(FrameColorTest, KindsOfNames) {
  const std::vector<std::pair<std::string_view, FrameKind>> cases = {
      {"aten::add_", FrameKind::op},
      {"autograd::engine::evaluate_function: AddmmBackward0", FrameKind::op},
      {"AddmmBackward0", FrameKind::op},
      {"CudnnConvolutionBackward", FrameKind::op},
      {"nccl:all_reduce", FrameKind::op},
      {"torch/nn/modules/module.py(1782): _call_impl", FrameKind::python},
      {"<frozen importlib._bootstrap>(241): _call_with_frames_removed", FrameKind::python},
      {"<built-in method run_backward of X object at 0x7f>", FrameKind::python},
      {"<eval_with_key>.3(5): forward", FrameKind::python},
      {"<stdin>(1): <module>", FrameKind::python},
      {"bin/train(12): main", FrameKind::python},
      {"net.py(0): a::b", FrameKind::python},
      {"/src/net.cpp(42): NetImpl::forward", FrameKind::cpp},
      {"net.h(7): forward", FrameKind::cpp},
      {"kernels.cu(9): launch", FrameKind::cpp},
      {"libnet.so(0): +0x1234", FrameKind::cpp},
      {"train(0): main", FrameKind::cpp},
      {"generated(3): net::forward", FrameKind::cpp},
      {"nn.Module: Linear_0", FrameKind::module},
      {"cudaLaunchKernel", FrameKind::runtime},
      {"cuLaunchKernelEx", FrameKind::runtime},
      {"hipMemcpyAsync", FrameKind::runtime},
      {"void at::native::vectorized_elementwise_kernel<4>(int)", FrameKind::device},
      {"cask_cudnn::computeOffsetsKernel(cask_cudnn::ComputeOffsetsParams)", FrameKind::device},
      {"Memcpy HtoD (Pinned -> Device)", FrameKind::device},
      {"Memset (Device)", FrameKind::device},
      {"volta_sgemm_128x32_nt", FrameKind::device},
      {"sm80_xmma_gemm_f16f16", FrameKind::device},
      {"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*)", FrameKind::device},
      {"triton_poi_fused_add_0", FrameKind::device},
      {"ProfilerStep#3", FrameKind::other},
      {"Optimizer.step#SGD.step", FrameKind::other},
      {"cuda", FrameKind::other},
      {"cudnn", FrameKind::other},
      {"sm", FrameKind::other},
      {"(): ", FrameKind::other},
      {"): ", FrameKind::other},
      {":", FrameKind::other},
      {"12345", FrameKind::other},
      {"", FrameKind::other},
      {"\xff\xfe", FrameKind::other},
  };
  for (const auto& [name, kind] : cases) EXPECT_EQ(frame_kind(name), kind) << name;
}

TEST(FrameColorTest, StaysTheSameOnEveryMachine) {
  EXPECT_EQ(frame_color("aten::add"), "#ffcf77");
  EXPECT_EQ(frame_color("nn.Module: Linear_0"), "#d7c9f9");
  EXPECT_EQ(frame_color(""), "#dbd7cb");
}

TEST(FrameColorTest, DifferentNamesOfAKindDifferInShade) {
  std::set<std::string> colors;
  for (int number = 0; number < 100; ++number) {
    colors.insert(frame_color("aten::op" + std::to_string(number)));
  }
  EXPECT_GT(colors.size(), 50u);
}

/// Relative luminance as WCAG 2 defines it.
double luminance(const std::string& color) {
  const auto channel = [&](std::size_t at) {
    const double value = std::stoi(color.substr(at, 2), nullptr, 16) / 255.0;
    return value <= 0.03928 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
}

TEST(FrameColorTest, DarkTextIsReadableOnAll) {
  const double text = luminance("#1c1c1c");
  const std::vector<std::string> stems = {"aten::x", "f.py(1): x", "f.cc(1): x", "nn.Module: x",
                                          "cudaX",   "void x",     "x"};
  for (const std::string& stem : stems) {
    for (int number = 0; number < 500; ++number) {
      const std::string color = frame_color(stem + std::to_string(number));
      ASSERT_EQ(color.size(), 7u);
      EXPECT_GT((luminance(color) + 0.05) / (text + 0.05), 7) << color;
    }
  }
}

}  // namespace
}  // namespace tbtrace::writers
