#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <tbtrace/summary_tensor.h>

#include "fixtures/scratch_folder.h"

namespace tbtrace {
namespace {

/// Two writers told the same get the same bytes, but for times and names.
std::string written(const std::function<void(SummaryWriter&)>& add) {
  const fixtures::ScratchFolder folder;
  SummaryWriter writer({.log_dir = folder.root()});
  const std::string file = [&] {
    for (const std::string& name : folder.names()) {
      if (name.find("tfevents") != std::string::npos) return folder.path(name);
    }
    return std::string();
  }();
  add(writer);
  EXPECT_TRUE(writer.close().ok());
  std::ifstream stream(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  constexpr std::size_t kFirstRecord = 16 + 9 + 15 + 11;  // with the time of opening
  return text.substr(std::min(kFirstRecord, text.size()));
}

constexpr double kTime = 5;

TEST(SummaryTensor, ScalarsOfAnyTypeAreTheirValue) {
  const std::string expected = written([](auto& writer) { writer.add_scalar("a", 3, 1, kTime); });
  EXPECT_GT(expected.size(), 40);
  for (const auto type : {torch::kFloat, torch::kDouble, torch::kInt, torch::kHalf, torch::kByte}) {
    EXPECT_EQ(written([&](auto& writer) {
                add_scalar(writer, "a", torch::full({1, 1}, 3, type), 1, kTime);
              }),
              expected);
    EXPECT_EQ(
        written([&](auto& writer) { writer.add_scalar("a", torch::full({}, 3, type), 1, kTime); }),
        expected);
  }
}

TEST(SummaryTensor, HistogramsHaveAllElementsInAnyLayout) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const std::string expected =
      written([&](auto& writer) { writer.add_histogram("a", values, 1, {}, kTime); });
  EXPECT_GT(expected.size(), 100);
  const torch::Tensor tensor = torch::arange(1, 7, torch::kFloat).view({2, 3}).requires_grad_(true);
  for (const torch::Tensor& form : {tensor, tensor.t(), tensor.detach().to(torch::kLong),
                                    tensor.detach().to(torch::kBFloat16)}) {
    EXPECT_EQ(written([&](auto& writer) { add_histogram(writer, "a", form, 1, {}, kTime); }),
              expected);
  }
}

TEST(SummaryTensor, PicturesAreTheirSamplesWhateverTheFormat) {
  const std::vector<std::uint8_t> samples = {0, 51, 102, 153, 204, 255, 0, 51, 102, 153, 204, 255};
  const std::string expected = written([&](auto& writer) {
    writer.add_image("a", {.width = 2, .height = 2, .channels = 3, .samples = samples}, 1, kTime);
  });
  const torch::Tensor bytes = torch::tensor(samples, torch::kByte).view({2, 2, 3});
  const auto picture = [&](const torch::Tensor& tensor, const char* format) {
    return written([&](auto& writer) { add_image(writer, "a", tensor, 1, format, kTime); });
  };
  EXPECT_EQ(picture(bytes, "HWC"), expected);
  EXPECT_EQ(picture(bytes.permute({2, 0, 1}), "CHW"), expected);
  // Half a step more, as 0.2 is not quite a fifth of 255.
  EXPECT_EQ(picture((bytes.to(torch::kFloat) + 0.5) / 255, "HWC"), expected);
  EXPECT_EQ(picture(torch::tensor({{-1.F, 2.F}}), "HW"),
            picture(torch::tensor({{0.F, 1.F}}), "HW"));
}

TEST(SummaryTensor, RefusesWhatIsNone) {
  const fixtures::ScratchFolder folder;
  SummaryWriter writer({.log_dir = folder.root()});
  EXPECT_THROW(add_scalar(writer, "a", torch::ones({2})), std::invalid_argument);
  EXPECT_THROW(writer.add_scalar("a", torch::ones({2})), std::invalid_argument);
  EXPECT_THROW(writer.add_scalar("a", torch::Tensor()), std::invalid_argument);
  EXPECT_THROW(writer.add_scalar("a", torch::ones({}, torch::kComplexFloat)),
               std::invalid_argument);
  EXPECT_THROW(add_scalar(writer, "a", torch::Tensor()), std::invalid_argument);
  EXPECT_THROW(add_scalar(writer, "a", torch::ones({1}, torch::kComplexFloat)),
               std::invalid_argument);
  EXPECT_THROW(add_histogram(writer, "a", torch::ones({0})), std::invalid_argument);
  EXPECT_THROW(add_image(writer, "a", torch::ones({2, 2})), std::invalid_argument);
  EXPECT_THROW(add_image(writer, "a", torch::ones({7, 2, 2})), std::invalid_argument);
  EXPECT_THROW(add_image(writer, "a", torch::ones({2, 2}), 0, "XY"), std::invalid_argument);
}

}  // namespace
}  // namespace tbtrace
