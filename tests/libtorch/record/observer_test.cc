#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ATen/record_function.h>
#include <c10/core/TensorImpl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <tbtrace/operators.h>
#include <tbtrace/profiler.h>

#include "libtorch/record/recorded.h"
#include "libtorch/record/torch_version.h"

namespace tbtrace {
namespace {

using ::testing::Contains;

// Live recordings know overloads, although their files name operators as torch does by default.
TEST(Observer, OperatorsOfALiveRecordingCanBeGroupedByOverload) {
  Profiler profiler({.activities = {Activity::cpu}});
  profiler.start();
  const torch::Tensor one = torch::ones({2});
  for (int times = 0; times < 3; ++times) one.add(1);
  one.add(one);
  profiler.stop();
  std::vector<std::string> rows;
  for (const OperatorRow& row : profiler.key_averages({.group_by_overload_name = true}).rows()) {
    if (row.key != "aten::add" && row.key != "aten::empty") continue;
    rows.push_back(row.key + "." + row.overload_name + " " + std::to_string(row.count));
  }
  EXPECT_THAT(rows, Contains("aten::empty.memory_format 1"));
  EXPECT_THAT(rows, Contains("aten::add.Scalar 3"));
  EXPECT_THAT(rows, Contains("aten::add.Tensor 1"));
  EXPECT_EQ(testing::count(profiler, "aten::add"), 4);

  const testing::Folder folder;
  ASSERT_TRUE(profiler.export_chrome_trace(folder / "trace.json").ok());
  const Result<Trace> trace = read_trace(folder / "trace.json");
  ASSERT_TRUE(trace.ok());
  std::vector<std::string> names;
  for (std::uint32_t event = 0; event < trace->events().size(); ++event) {
    names.emplace_back(trace->string(trace->events().name(EventId{event})));
  }
  EXPECT_THAT(names, Contains("aten::add"));
}

/// A tensor of the program's own, which runs an operator when it is asked for its sizes.
class AskingTensor final : public c10::TensorImpl {
 public:
  AskingTensor()
      : TensorImpl(c10::DispatchKeySet(c10::DispatchKey::CPU), caffe2::TypeMeta::Make<float>(),
                   c10::Device(c10::kCPU)) {
#if TBTRACE_TORCH_AT_LEAST(2, 0)
    set_custom_sizes_strides(SizesStridesPolicy::CustomSizes);
#endif
  }
  c10::IntArrayRef sizes_custom() const override {
    torch::relu(torch::ones({5, 5}));
    return TensorImpl::sizes_default();
  }
};

TEST(Observer, OperatorsMayRunWhileInputsAreRecorded) {
  Profiler profiler({.activities = {Activity::cpu}, .record_shapes = true});
  const auto asking = at::Tensor(c10::make_intrusive<AskingTensor>());
  const torch::Tensor plain = torch::ones({3, 4});
  const std::array<c10::IValue, 3> inputs = {plain, asking, plain};
  profiler.start();
  for (int times = 0; times < 2000; ++times) {
    const auto schema = c10::Dispatcher::singleton().findSchema({"aten::cat", ""});
    at::RecordFunction range(at::RecordScope::FUNCTION);
    range.before(std::cref(schema->schema()),
                 c10::ArrayRef<const c10::IValue>(inputs.data(), inputs.size()));
  }
  profiler.stop();
  const EventList events = profiler.events();
  int ranges = 0;
  int operators = 0;
  for (const FunctionEvent& event : events) {
    if (event.key == "aten::cat") {
      ++ranges;
      EXPECT_EQ(event.input_shapes, "[[3, 4], [0], [3, 4]]");
    } else if (event.key == "aten::relu") {
      ++operators;
    }
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_EQ(ranges, 2000);
#if TBTRACE_TORCH_AT_LEAST(2, 0)
  EXPECT_GE(operators, 2000);
#endif
}

TEST(Observer, RangesMayNestAndEndInAnyOrder) {
  Profiler profiler({.activities = {Activity::cpu}});
  profiler.start();
  std::vector<std::unique_ptr<at::RecordFunction>> open;
  for (int depth = 0; depth < 200; ++depth) {
    open.push_back(std::make_unique<at::RecordFunction>(at::RecordScope::FUNCTION));
    open.back()->before("range " + std::to_string(depth));
  }
  for (int first = 0; first < 100; ++first) open[static_cast<std::size_t>(first)].reset();
  while (!open.empty()) open.pop_back();
  profiler.stop();
  const EventList events = profiler.events();
  EXPECT_EQ(events.size(), 200U);
}

}  // namespace
}  // namespace tbtrace
