#include "recorder/memory/observed_inputs.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "recorder/log/inputs.h"

namespace tbtrace::recorder {
namespace {

using Kind = ObservedInput::Kind;
using Sizes = std::vector<std::int64_t>;

const std::vector<std::uint8_t> kElementBytes = {1, 8, 4};

std::vector<ObservedInput> read(const InputsWriter& writer,
                                const std::vector<std::uint64_t>& addresses = {}) {
  return observed_inputs({writer.data(), writer.size()}, addresses, kElementBytes);
}

std::uint64_t bytes_of(std::uint8_t type, const Sizes& sizes, const Sizes& strides) {
  InputsWriter writer;
  writer.tensor(type, sizes, strides);
  return read(writer, {1}).at(0).tensors.at(0).bytes;
}

TEST(ObservedInputs, HaveKindsInTheirOrder) {
  InputsWriter writer;
  writer.nothing();
  writer.integer(-300);
  writer.boolean(true);
  writer.real(0.5);
  writer.complex(1, 2);
  writer.list(2);
  writer.integer(1);
  writer.real(2);
  writer.tensor(2, Sizes{}, Sizes{});
  std::vector<Kind> kinds;
  for (const ObservedInput& input : read(writer, {1})) kinds.push_back(input.kind);
  EXPECT_EQ(kinds, (std::vector{Kind::nothing, Kind::integer, Kind::boolean, Kind::real,
                                Kind::complex, Kind::nothing, Kind::tensor}));
}

TEST(ObservedInputs, ATensorReachesToItsLastElement) {
  EXPECT_EQ(bytes_of(2, {3, 5}, {5, 1}), 60U);
  EXPECT_EQ(bytes_of(1, {5, 3}, {1, 5}), 120U);
  EXPECT_EQ(bytes_of(0, {}, {}), 1U);           // a scalar
  EXPECT_EQ(bytes_of(2, {100}, {0}), 0U);       // torch's product of size and stride
  EXPECT_EQ(bytes_of(77, {100}, {1}), 0U);      // a type of another torch
  EXPECT_EQ(bytes_of(2, {0, 5}, {5, 1}), 20U);  // torch's, too
}

TEST(ObservedInputs, EachTensorHasItsAddress) {
  InputsWriter writer;
  writer.tensor(2, Sizes{2}, Sizes{1});
  writer.tensor_list(3);
  writer.tensor(2, Sizes{3}, Sizes{1});
  writer.nothing();
  writer.sparse_tensor(2, Sizes{4});
  writer.integer(1);
  writer.tensor(2, Sizes{5}, Sizes{1});
  const auto inputs = read(writer, {0x10, 0x20, 0, 0x40});
  ASSERT_EQ(inputs.size(), 4U);
  EXPECT_EQ(inputs[0].tensors.at(0).address, 0x10U);
  EXPECT_EQ(inputs[1].kind, Kind::tensor_list);
  EXPECT_TRUE(inputs[1].has_undefined);
  ASSERT_EQ(inputs[1].tensors.size(), 2U);
  EXPECT_EQ(inputs[1].tensors[0].address, 0x20U);
  EXPECT_EQ(inputs[1].tensors[0].bytes, 12U);
  EXPECT_EQ(inputs[1].tensors[1].address, 0U);
  EXPECT_EQ(inputs[1].tensors[1].bytes, 0U);
  EXPECT_EQ(inputs[3].tensors.at(0).address, 0x40U);
  EXPECT_EQ(inputs[3].tensors.at(0).bytes, 20U);
}

TEST(ObservedInputs, WithoutAddressesTensorsHaveNone) {
  InputsWriter writer;
  writer.tensor(2, Sizes{2}, Sizes{1});
  EXPECT_EQ(read(writer).at(0).tensors.at(0).address, 0U);
}

}  // namespace
}  // namespace tbtrace::recorder
