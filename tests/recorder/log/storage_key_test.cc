#include "recorder/log/storage_key.h"

#include <gtest/gtest.h>

namespace tbtrace::recorder {
namespace {

constexpr std::uint64_t kAddress = 0x7fff'1234'5678;

TEST(StorageKey, OfTheCpuIsTheAddress) {
  EXPECT_EQ(storage_key(kAddress, MemoryDevice::cpu()), kAddress);
  EXPECT_EQ(device_of(kAddress), MemoryDevice::cpu());
  EXPECT_EQ(device_of(kAddress).index(), -1);
}

TEST(StorageKey, HasBothParts) {
  for (const int index : {0, 1, 7, 200}) {
    const std::uint64_t key = storage_key(kAddress, MemoryDevice::cuda(index));
    EXPECT_EQ(address_of(key), kAddress);
    EXPECT_TRUE(device_of(key).is_cuda());
    EXPECT_EQ(device_of(key).index(), index);
    EXPECT_NE(device_of(key), MemoryDevice::cuda(index + 1));
  }
}

TEST(StorageKey, NoAddressIsNoKeyAnywhere) { EXPECT_EQ(storage_key(0, MemoryDevice::cuda(3)), 0U); }

TEST(StorageKey, OtherDevicesAreNoCudaDevices) {
  EXPECT_EQ(MemoryDevice::cuda(-1), MemoryDevice::other());
  EXPECT_EQ(MemoryDevice::cuda(254), MemoryDevice::other());
  EXPECT_FALSE(MemoryDevice::other().is_cuda());
  const std::uint64_t key = storage_key(kAddress, MemoryDevice::other());
  EXPECT_EQ(device_of(key), MemoryDevice::other());
  EXPECT_EQ(address_of(key), kAddress);
}

}  // namespace
}  // namespace tbtrace::recorder
