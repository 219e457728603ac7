#include "analyses/kernels/copy_names.h"

#include <gtest/gtest.h>

namespace tbtrace::analyses {
namespace {

TEST(CopyNames, HaveADirection) {
  for (const char* const name : {"Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Host -> Device)",
                                 "CopyHostToDevice", "[CUDA memcpy Host-to-Device]", "MEMCPYHtoD",
                                 "MemcpyH2D", "MEMORY_COPY_HOST_TO_DEVICE", "Memcpy M2D"}) {
    EXPECT_EQ(copy_direction(name), CopyDirection::to_device) << name;
  }
  for (const char* const name : {"Memcpy DtoH (Device -> Pinned)", "CopyDeviceToHost", "MemcpyD2H",
                                 "zeCommandListAppendMemoryCopy(D2M)"}) {
    EXPECT_EQ(copy_direction(name), CopyDirection::to_host) << name;
  }
  EXPECT_EQ(copy_direction("Memcpy DtoD (Device -> Device)"), CopyDirection::on_device);
  EXPECT_EQ(copy_direction("CopyDeviceToDevice"), CopyDirection::on_device);
  EXPECT_EQ(copy_direction("Memcpy PtoP (Device -> Device)"), CopyDirection::between_devices);
  EXPECT_EQ(copy_direction("Memcpy"), CopyDirection::unknown);
  EXPECT_EQ(copy_direction(""), CopyDirection::unknown);
}

TEST(CopyNames, TellPinnedMemoryIfTheyNameIt) {
  EXPECT_EQ(host_memory_of_copy("Memcpy HtoD (Pageable -> Device)"), HostMemory::pageable);
  EXPECT_EQ(host_memory_of_copy("Memcpy DtoH (Device -> Pinned)"), HostMemory::pinned);
  EXPECT_EQ(host_memory_of_copy("CopyHostToDevice"), HostMemory::unknown);
}

}  // namespace
}  // namespace tbtrace::analyses
