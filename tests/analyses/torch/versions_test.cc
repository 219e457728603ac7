#include "analyses/torch/versions.h"

#include <gtest/gtest.h>

namespace tbtrace {
namespace {

TEST(TorchVersions, EachHasItsOwnRowAndName) {
  for (const TorchVersion version :
       {TorchVersion::v2_13, TorchVersion::v2_14, TorchVersion::v2_15}) {
    EXPECT_EQ(analyses::torch_rules(version).version, version);
    EXPECT_EQ(torch_version_named(torch_version_name(version)), version);
  }
  EXPECT_EQ(torch_version_name(kNewestTorch), "2.15");
  for (const char* const unknown : {"", "2", "2.1", "2.140", "2.16"}) {
    EXPECT_EQ(torch_version_named(unknown), std::nullopt) << unknown;
  }
}

}  // namespace
}  // namespace tbtrace
