#include "chrome/anonymise/anonymous_texts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chrome/anonymise/public_words.h"
#include "fixtures/random_choices.h"
#include "fixtures/random_rounds.h"

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

TEST_F(AnonymousTextsTest, ReplacePathsAndAddressesWhole) {
  EXPECT_EQ(of("open /home/host/train.py", Kind::words), "open /[home]/[host]/[train].py");
  EXPECT_EQ(of("kaiser Grace ada", Kind::words), "[kaiser] [Grace] [ada]");
  EXPECT_EQ(of("aten::kaiser_window", Kind::words), "aten::kaiser_window");
  EXPECT_EQ(of("/srv/train_model.py:12", Kind::frames), "/[srv]/[train_model].py:12");
  EXPECT_EQ(of("File \"/srv/a.py\", line 3, in do_work", Kind::frames),
            "File \"/[srv]/[a].py\", line 3, in [do_work]");
}

TEST_F(AnonymousTextsTest, OfFramesKeepWhatTellsWhoseTheyAre) {
  EXPECT_EQ(of("<frozen runpy>(88): _run_code", Kind::frames), "<frozen runpy>(88): _run_code");
  EXPECT_EQ(of("<frozen zebra>(88): run_it", Kind::frames), "<frozen [zebra]>(88): [run_it]");
  EXPECT_EQ(of("<ipython-input-3-3f2a9c1d>(1): train_it", Kind::frames),
            "<ipython-input-3-[3f2a9c1d]>(1): [train_it]");
}

TEST_F(AnonymousTextsTest, OfEncodedNamesReplaceTheReadableOnes) {
  EXPECT_EQ(of("_ZN2at6native3addEv", Kind::words), "_ZN2at6native3addEv");
  EXPECT_EQ(of("_ZN5zebra3addEv", Kind::words), "[zebra]::add()");
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

TEST_F(AnonymousTextsTest, KeepSpecialMethodsOfPublicWords) {
  for (const std::string_view method :
       {"__init__", "__post_init__", "__torch_function__", "__a_b__", "__getitem__"}) {
    const std::string frame = "net.py(3): " + std::string(method);
    EXPECT_EQ(of(frame, Kind::frames), "[net].py(3): " + std::string(method));
  }
  EXPECT_EQ(of("net.py(3): __zebra_init__", Kind::frames), "[net].py(3): __[zebra_init]__");
}

// Whatever a text is: this ends, and what it gives stays as it is.
TEST(AnonymousTexts, OfRandomTextsDoNotChangeTwice) {
  constexpr auto kParts = std::to_array<std::string_view>({"a",
                                                           "Z",
                                                           "0",
                                                           "9",
                                                           "_",
                                                           "__",
                                                           ".",
                                                           "/",
                                                           "\\",
                                                           ":",
                                                           ";",
                                                           "(",
                                                           ")",
                                                           "<",
                                                           ">",
                                                           "[",
                                                           "{",
                                                           "\"",
                                                           "'",
                                                           " ",
                                                           ",",
                                                           "-",
                                                           "@",
                                                           "%",
                                                           "$",
                                                           "\n",
                                                           "ü",
                                                           "\xff",
                                                           "acme",
                                                           "Gemm",
                                                           "GEMM",
                                                           "forward",
                                                           "0x1f",
                                                           "10.0.3.17",
                                                           ".py(3): ",
                                                           "nn.Module: ",
                                                           "<module>",
                                                           "<frozen ",
                                                           "::",
                                                           "/lib/python3.10/",
                                                           "site-packages/",
                                                           "torch/",
                                                           "random.py",
                                                           "12ab34",
                                                           "550e8400-e29b-41d4-a716-446655440000"});
  fixtures::RandomChoices choices(11);
  for (int round = 0; round < fixtures::random_rounds(20'000); ++round) {
    std::string text;
    for (auto left = choices.below(12); left > 0; --left) text += choices.one_of(kParts);
    for (const Kind kind : {Kind::words, Kind::frames, Kind::module}) {
      KeyedWords words("a key of sixteen bytes");
      const std::string once = AnonymousTexts(words).of(text, kind);
      KeyedWords others("another key of many bytes");
      ASSERT_EQ(AnonymousTexts(others).of(once, kind), once) << text;
    }
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
