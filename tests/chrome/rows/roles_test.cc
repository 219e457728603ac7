#include "chrome/rows/roles.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "fixtures/trace_rows.h"

namespace tbtrace::chrome {
namespace {

using fixtures::add;
using fixtures::finished;
using fixtures::Range;

/// What a single range is and becomes.
struct WrittenRole {
  Role role;
  std::string plugin;
  std::string kineto;
};

WrittenRole written_role(const Range& range, std::uint8_t flags = 0,
                         std::string_view framework = "") {
  TraceBuilder builder;
  EventRow row;
  row.duration_ns = range.duration;
  row.name = builder.intern(range.name);
  row.track = fixtures::track(builder, 1, 1);
  row.category = builder.category(builder.intern(range.category));
  row.flags = flags;
  const EventId event = builder.add_event(row);
  if (!framework.empty()) builder.set_metadata("Framework", framework);
  const Trace trace = finished(builder);
  const Roles plugin(trace, Dialect::plugin);
  const Roles kineto(trace, Dialect::kineto);
  EXPECT_EQ(plugin.role(event), kineto.role(event)) << "a role does not depend on the dialect";
  return {plugin.role(event), std::string(plugin.category(event)),
          std::string(kineto.category(event))};
}

void expect_outcome(const WrittenRole& got, Role role, std::string_view plugin,
                    std::string_view kineto) {
  EXPECT_EQ(static_cast<int>(got.role), static_cast<int>(role));
  EXPECT_EQ(got.plugin, plugin);
  EXPECT_EQ(got.kineto, kineto);
}

TEST(Roles, OfOperatorsOfAllYears) {
  for (const std::string_view category : {"cpu_op", "Operator", "operator", ""}) {
    expect_outcome(written_role({.category = category, .name = "aten::mm", .duration = 5}),
                   Role::op, "cpu_op", "cpu_op");
  }
}

TEST(Roles, OfStepsNeedANumberAndALength) {
  for (const std::string_view category : {"cpu_op", "user_annotation"}) {
    const Range step = {.category = category, .name = "ProfilerStep#3", .duration = 5};
    expect_outcome(written_role(step), Role::step, category, category);
    Range empty = step;
    empty.duration = 0;
    expect_outcome(written_role(empty), Role::annotation, "annotation", category);
    Range unsound = step;
    unsound.name = "ProfilerStep#x";
    expect_outcome(written_role(unsound), Role::annotation, "annotation", category);
  }
}

TEST(Roles, OfAnnotations) {
  const auto annotation = [](std::string_view name) {
    return written_role({.category = "user_annotation", .name = name, .duration = 5});
  };
  expect_outcome(annotation("mine"), Role::annotation, "user_annotation", "user_annotation");
  for (const std::string_view name : {"enumerate(DataLoader)#x.__next__", "Optimizer.step#SGD.step",
                                      "DataParallel.forward", "DistributedDataParallel.forward"}) {
    expect_outcome(annotation(name), Role::annotation_node, "cpu_op", "user_annotation");
  }
  for (const std::string_view name : {"nccl:all_reduce", "nccl:_all_gather_base"}) {
    expect_outcome(annotation(name), Role::collective, "user_annotation", "user_annotation");
  }
  expect_outcome(annotation("nccl:send"), Role::annotation, "user_annotation", "user_annotation");
}

TEST(Roles, OfLightningNeedItsFramework) {
  const Range range = {.category = "user_annotation", .name = "[pl][profile]x", .duration = 5};
  expect_outcome(written_role(range), Role::annotation, "user_annotation", "user_annotation");
  expect_outcome(written_role(range, 0, "\"pytorch-lightning\""), Role::annotation_node, "cpu_op",
                 "user_annotation");
  expect_outcome(written_role(range, 0, "\"other\""), Role::annotation, "user_annotation",
                 "user_annotation");
}

TEST(Roles, OfDistributedDataParallelGiveWayToNccl) {
  TraceBuilder builder;
  const EventId event = add(
      builder,
      {.category = "user_annotation", .name = "DistributedDataParallel.forward", .duration = 5});
  add(builder, {.name = "nccl:send"});
  const Trace trace = finished(builder);
  EXPECT_EQ(Roles(trace, Dialect::plugin).category(event), "user_annotation");
}

TEST(Roles, OfPythonFrames) {
  const Range frame = {.category = "python_function", .name = "a.py(1): f", .duration = 5};
  const auto got = [&](std::uint8_t flags, std::string_view framework = "") {
    return written_role(frame, flags, framework);
  };
  expect_outcome(got(Events::kPythonFrame), Role::frame, "python_function", "python_function");
  expect_outcome(got(Events::kPythonFrame | Events::kModule), Role::module, "python_function",
                 "python_function");
  expect_outcome(got(0), Role::annotation, "python_function", "python_function");
  expect_outcome(got(Events::kPythonFrame | Events::kModule, "\"pytorch-lightning\""), Role::frame,
                 "python_function", "python_function");
}

TEST(Roles, OfLaunchesOfAllMakers) {
  for (const std::string_view category :
       {"cuda_runtime", "cuda_driver", "xpu_runtime", "xpu_driver", "privateuse1_runtime",
        "privateuse1_driver", "mtia_runtime", "glow_runtime"}) {
    expect_outcome(written_role({.category = category, .name = "l"}), Role::launch, "Runtime",
                   category);
  }
  expect_outcome(written_role({.category = "Runtime", .name = "l"}), Role::launch, "Runtime",
                 "cuda_runtime");
}

TEST(Roles, OfWorkOfAllMakers) {
  expect_outcome(written_role({.category = "kernel", .name = "k"}), Role::work, "kernel", "kernel");
  expect_outcome(written_role({.category = "Kernel", .name = "k"}), Role::work, "kernel", "kernel");
  expect_outcome(written_role({.category = "mtia_ccp_events", .name = "k"}), Role::work, "kernel",
                 "mtia_ccp_events");
  expect_outcome(written_role({.category = "hpu_op", .name = "k"}), Role::work, "kernel", "hpu_op");
  for (const std::string_view category : {"Memcpy", "gpu_memcpy"}) {
    expect_outcome(written_role({.category = category, .name = "m"}), Role::work, "gpu_memcpy",
                   "gpu_memcpy");
  }
  for (const std::string_view category : {"Memset", "gpu_memset"}) {
    expect_outcome(written_role({.category = category, .name = "m"}), Role::work, "gpu_memset",
                   "gpu_memset");
  }
}

TEST(Roles, HideShadowsFromThePlugin) {
  expect_outcome(written_role({.category = "gpu_user_annotation", .name = "ProfilerStep#1"}),
                 Role::shadow, "gpu_annotation", "gpu_user_annotation");
}

TEST(Roles, HideWhatThePluginLooksInto) {
  for (const std::string_view category : {"memory", "Memory", "forward_backward"}) {
    expect_outcome(written_role({.category = category, .name = "o"}), Role::other, "annotation",
                   category);
  }
  expect_outcome(
      written_role({.category = "python_function", .name = "nn.Module: A_0"}, Events::kModule),
      Role::annotation, "annotation", "python_function");
}

TEST(Roles, OfPythonRowsThatAreNoFrames) {
  for (const std::string_view category : {"python", "Python"}) {
    expect_outcome(written_role({.category = category, .name = "a.py(1): f"}),
                   Role::annotation_node, category, category);
  }
}

TEST(Roles, LeaveOtherCategoriesAlone) {
  for (const std::string_view category : {"overhead", "cuda_sync", "my \"own\""}) {
    expect_outcome(written_role({.category = category, .name = "o"}), Role::other, category,
                   category);
  }
  expect_outcome(written_role({.category = "trace", .name = "PyTorch Profiler (0)"}), Role::span,
                 "Trace", "Trace");
}

TEST(Roles, SayWhoGivesWay) {
  TraceBuilder builder;
  const EventId op = add(builder, {.name = "aten::mm", .duration = 5});
  const EventId kernel = add(builder, {.category = "kernel", .name = "k"});
  const EventId launch = add(builder, {.category = "cuda_runtime", .name = "l"});
  const EventId annotation = add(builder, {.category = "user_annotation", .name = "mine"});
  const EventId shadow = add(builder, {.category = "gpu_user_annotation", .name = "mine"});
  const EventId step =
      add(builder, {.category = "user_annotation", .name = "ProfilerStep#1", .duration = 5});
  const Trace trace = finished(builder);
  for (const Dialect dialect : {Dialect::plugin, Dialect::kineto}) {
    const Roles roles(trace, dialect);
    EXPECT_LT(roles.rank(op), roles.rank(launch));
    EXPECT_LT(roles.rank(op), roles.rank(step));
    EXPECT_LT(roles.rank(op), roles.rank(annotation));
    EXPECT_LE(roles.rank(step), roles.rank(annotation));
    EXPECT_LT(roles.rank(kernel), roles.rank(shadow));
  }
}

}  // namespace
}  // namespace tbtrace::chrome
