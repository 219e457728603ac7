#include "chrome/anonymise/anonymous_texts.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chrome/anonymise/public_words.h"

namespace tbtrace::chrome {
namespace {

using Kind = AnonymousTexts::Kind;

class AnonymousTextsTest : public testing::Test {
 protected:
  /// With what was replaced in square brackets.
  std::string of(std::string_view text, Kind kind) {
    KeyedWords words("a key of sixteen bytes");
    std::string result = AnonymousTexts(words).of(text, kind);
    for (const auto& [word, replacement] : words.replacements()) {
      for (std::size_t at = 0; (at = result.find(replacement, at)) != std::string::npos;) {
        result.replace(at, replacement.size(), "[" + word + "]");
        at += word.size();
      }
    }
    return result;
  }
};

TEST_F(AnonymousTextsTest, KeepNamesOfTorchAndVendors) {
  for (const std::string_view name :
       {"aten::mm", "cudaLaunchKernel", "ProfilerStep#12", "Memcpy HtoD (Pageable -> Device)",
        "autograd::engine::evaluate_function: AddmmBackward0", "Optimizer.step#SGD.step", "ac2g",
        "ampere_sgemm_128x64_tn", "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
        "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >",
        "triton_poi_fused_add_relu_0", "nvjet_tst_128x128_64x6_2x1_v_bz_NNN", "[memory]",
        "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "nccl:all_reduce"}) {
    EXPECT_EQ(of(name, Kind::words), name);
  }
}

TEST_F(AnonymousTextsTest, ReplaceWordByWord) {
  EXPECT_EQ(of("acme::zebra_attention", Kind::words), "[acme]::[zebra]_attention");
  EXPECT_EQ(of("AcmeGEMMKernel<Zebra, 128>", Kind::words), "[Acme]GEMMKernel<[Zebra], 128>");
  EXPECT_EQ(of("zebra step 12", Kind::words), "[zebra] step 12");
  EXPECT_EQ(of("rank0 of 10.0.3.17", Kind::words), "rank0 of [10.0.3.17]");
  EXPECT_EQ(of("s3cr3t 3f2a9c1d", Kind::words), "[s3cr3t] [3f2a9c1d]");
  EXPECT_EQ(of("größe", Kind::words), "[größe]");
}

TEST_F(AnonymousTextsTest, OfFramesKeepWhatIsOfLibraries) {
  EXPECT_EQ(of("torch/nn/modules/module.py(12): _call_impl", Kind::frames),
            "torch/nn/modules/module.py(12): _call_impl");
  EXPECT_EQ(of("/home/ann/venv/lib/python3.11/site-packages/torch/_ops.py(3): f", Kind::frames),
            "/[home]/[ann]/[venv]/lib/python3.11/site-packages/torch/_ops.py(3): f");
  EXPECT_EQ(of("/home/ann/torch/train.py(7): add_loss", Kind::frames),
            "/[home]/[ann]/[torch]/[train].py(7): [add_loss]");
  EXPECT_EQ(of("net.py(7): forward;net.py(1): <module>", Kind::frames),
            "[net].py(7): forward;[net].py(1): <module>");
  EXPECT_EQ(of("nn.Module: ZebraLinear_3", Kind::frames), "nn.Module: [ZebraLinear]_3");
  EXPECT_EQ(of("nn.Module: Linear_3", Kind::frames), "nn.Module: Linear_3");
}

TEST_F(AnonymousTextsTest, OfModulesReplaceNameByName) {
  EXPECT_EQ(of("net.layers.0.Conv2d", Kind::module), "[net].[layers].0.Conv2d");
}

TEST_F(AnonymousTextsTest, DoNotChangeTwice) {
  for (const Kind kind : {Kind::words, Kind::frames, Kind::module}) {
    KeyedWords words("a key of sixteen bytes");
    AnonymousTexts texts(words);
    const std::string once = texts.of("/srv/Zebra4/run_it.py(3): do_it x86 AcmeGEMM_1", kind);
    KeyedWords none("another key of many bytes");
    EXPECT_EQ(AnonymousTexts(none).of(once, kind), once);
  }
}

TEST(PublicWords, AreSorted) {
  EXPECT_TRUE(std::ranges::is_sorted(public_words()));
  EXPECT_TRUE(std::ranges::is_sorted(public_classes()));
  EXPECT_TRUE(is_public_word("GEMM"));
  EXPECT_FALSE(is_public_word("zebra"));
  EXPECT_TRUE(is_public_class("Conv2d"));
  EXPECT_FALSE(is_public_class("conv2d"));
}

}  // namespace
}  // namespace tbtrace::chrome
