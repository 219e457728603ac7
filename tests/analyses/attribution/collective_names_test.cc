#include "analyses/attribution/collective_names.h"

#include <gtest/gtest.h>

namespace tbtrace::analyses {
namespace {

TEST(CollectiveNames, AreABackendAndAnOperation) {
  for (const char* name : {"nccl:all_reduce", "gloo:send", "mpi:a", "ucc:a", "xccl:a", "hccl:a"}) {
    EXPECT_TRUE(is_collective_name(name)) << name;
  }
  for (const char* name : {"", "nccl", "nccl:", "ncclAllReduce", "tcp:a", " nccl:a", "NCCL:a"}) {
    EXPECT_FALSE(is_collective_name(name)) << name;
  }
  EXPECT_EQ(collective_backend("hccl:all_reduce")->prefix, "hccl:");
  EXPECT_TRUE(is_nccl_name("nccl:a"));
  EXPECT_FALSE(is_nccl_name("xccl:a"));
}

TEST(CollectiveNames, ThePluginKnowsTwoBackends) {
  EXPECT_TRUE(collective_backend("nccl:a")->known_to_plugin);
  EXPECT_TRUE(collective_backend("gloo:a")->known_to_plugin);
  for (const char* name : {"mpi:a", "ucc:a", "xccl:a", "hccl:a"}) {
    EXPECT_FALSE(collective_backend(name)->known_to_plugin) << name;
  }
}

}  // namespace
}  // namespace tbtrace::analyses
