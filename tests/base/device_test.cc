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

}  // namespace
}  // namespace tbtrace
