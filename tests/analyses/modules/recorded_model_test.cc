// Models that torch recorded: figures of their modules against those of the models themselves.
#include <cstdint>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/modules.h>

namespace tbtrace {
namespace {

ModuleTree tree_of(const char* name) {
  const Result<Trace> trace =
      read_trace(std::string(TBTRACE_TRACES) + "/" + name, {.arguments = kModuleArguments});
  EXPECT_TRUE(trace.ok());
  return *module_tree(*trace);
}

// examples/record_traces.py, LanguageModel: 8 texts of 16 tokens, width 32, four heads, three
// layers, two steps.
constexpr std::uint64_t kTokens = 8 * 16;
constexpr std::uint64_t kWidth = 32;
constexpr std::uint64_t kSteps = 2;
constexpr std::uint64_t kProducts = kTokens * kWidth * 3 * kWidth + kTokens * kWidth * kWidth;
constexpr std::uint64_t kPairs = 8 * 4 * 16 * 16;  // of tokens in all heads
constexpr std::uint64_t kHead = kWidth / 4;
constexpr std::uint64_t kAttention = kProducts + kPairs * (kHead + kHead);
constexpr std::uint64_t kAttentionBackward = 2 * kProducts + kPairs * (3 * kHead + 2 * kHead);
constexpr std::uint64_t kWide = kTokens * kWidth * 4 * kWidth;

TEST(RecordedModel, OfATransformerHasItsParametersAndMultiplyAdds) {
  const ModuleTree tree = tree_of("transformer_modules.json.gz");
  std::map<std::string, const ModuleRow*> rows;
  for (const ModuleRow& row : tree.modules) rows[row.path] = &row;
  const auto expect = [&](const std::string& path, std::uint64_t parameters, std::uint64_t forward,
                          std::uint64_t backward) {
    ASSERT_TRUE(rows.contains(path)) << path;
    const ModuleRow& row = *rows[path];
    EXPECT_EQ(row.parameters, parameters) << path;
    EXPECT_EQ(row.macs - row.backward_macs, kSteps * forward) << path;
    EXPECT_EQ(row.backward_macs, kSteps * backward) << path;
    EXPECT_EQ(row.calls, kSteps) << path;
  };
  const std::uint64_t block_parameters = 2 * kWidth + (4 * kWidth * kWidth + 4 * kWidth) +
                                         (4 * kWidth * kWidth + 4 * kWidth) +
                                         (4 * kWidth * kWidth + kWidth);
  for (int layer = 0; layer < 3; ++layer) {
    const std::string block = "LanguageModel_0.Block_" + std::to_string(layer);
    expect(block, block_parameters, kAttention + 2 * kWide, kAttentionBackward + 4 * kWide);
    expect(block + ".LayerNorm_" + std::to_string(layer), 2 * kWidth, 0, 0);
    expect(block + ".MultiheadAttention_" + std::to_string(layer), 4 * kWidth * kWidth + 4 * kWidth,
           kAttention, kAttentionBackward);
    expect(block + ".Linear_" + std::to_string(2 * layer), 4 * kWidth * kWidth + 4 * kWidth, kWide,
           2 * kWide);
    expect(block + ".Linear_" + std::to_string(2 * layer + 1), 4 * kWidth * kWidth + kWidth, kWide,
           2 * kWide);
  }
  expect("LanguageModel_0.Embedding_0", 100 * kWidth, 0, 0);
  const std::uint64_t head = kTokens * kWidth * 10;
  expect("LanguageModel_0.Linear_6", kWidth * 10 + 10, head, 2 * head);
  expect("LanguageModel_0", 41'962, 3 * (kAttention + 2 * kWide) + head,
         3 * (kAttentionBackward + 4 * kWide) + 2 * head);
  EXPECT_EQ(tree.parameters, 41'962U) << "as the model counts them itself";
  EXPECT_EQ(tree.total.macs, rows["LanguageModel_0"]->macs);
}

TEST(RecordedModel, OfAResNet18HasItsParametersWithoutModules) {
  const ModuleTree tree = tree_of("resnet18_training.json.gz");
  EXPECT_TRUE(tree.modules.empty());
  // 11,689,512 with 1000 classes; this one has 10.
  EXPECT_EQ(tree.parameters, 11'689'512U - 512 * 990 - 990);
}

}  // namespace
}  // namespace tbtrace
