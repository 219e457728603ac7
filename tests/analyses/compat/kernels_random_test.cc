#include <cstdint>

#include <gtest/gtest.h>

#include <tbtrace/kernels.h>

#include "analyses/compat/plugin/kernels.h"
#include "analyses/kernels/random_kernels.h"
#include "fixtures/random_rounds.h"

namespace tbtrace::analyses {
namespace {

/// The plugin's figures have no definition of their own here (they are held against the plugin),
/// but they must take any trace.
TEST(PluginKernels, AddUpOnRandomTraces) {
  for (unsigned seed = 0; seed < fixtures::random_rounds(500u); ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = RandomKernels(seed).make();
    for (const KernelSummary& summary :
         {*plugin_kernel_summary(trace),
          *plugin_kernel_summary(trace, {.group_by = KernelGrouping::launch})}) {
      std::uint64_t count = 0;
      for (const KernelGroup& group : summary.groups) count += group.count;
      ASSERT_EQ(count, summary.all.count);
    }
    const std::uint64_t all = (*kernel_summary(trace)).all.count;
    ASSERT_EQ((*plugin_kernel_summary(trace)).all.count, all);
  }
}

}  // namespace
}  // namespace tbtrace::analyses
