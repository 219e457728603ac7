#include <gtest/gtest.h>

#include <tbtrace/device.h>

namespace tbtrace {
namespace {

TEST(DeviceType, HasANameOrIsTellableByItsNumber) {
  EXPECT_EQ(device_type_name(DeviceType::cuda), "CUDA");
  EXPECT_EQ(device_type_name(DeviceType{9}), "");
  EXPECT_EQ(device_type_key(DeviceType::cuda), "cuda");
  EXPECT_EQ(device_type_key(DeviceType::privateuse1), "privateuse1");
  EXPECT_EQ(device_type_key(DeviceType{9}), "type9");
  EXPECT_EQ(device_type_key(DeviceType{-1}), "type-1");
}

TEST(NumberInName, IsTheLastWordsNumber) {
  for (const std::string_view name : {"7", "stream 7", "Stream 7", "cuda:7", "GPU7"}) {
    EXPECT_EQ(number_in_name(name), 7) << name;
  }
  EXPECT_EQ(number_in_name("-1"), -1);
  for (const std::string_view name : {"", "cpu", "stream", "stream 7a", "0x7f07", "a7", "GPU-1",
                                      "7.5", "stream 99999999999999999999"}) {
    EXPECT_EQ(number_in_name(name), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace tbtrace
