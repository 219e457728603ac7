#include "recorder/memory/timeline.h"

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recorder/log/inputs.h"
#include "recorder/window/hand_written.h"

namespace tbtrace {

void PrintTo(const MemoryTimelineRow& row, std::ostream* out) {
  *out << static_cast<int>(row.action) << ' ' << row.bytes << ' '
       << memory_category_name(row.category);
}

namespace recorder {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using enum MemoryAction;
using enum MemoryCategory;

struct Tensor {
  std::uint64_t address;
  std::int64_t bytes;
};

constexpr std::uint64_t kTick = 100;  // so that all have times of their own

/// Rows without their times.
MemoryTimelineRow row(MemoryAction action, std::int64_t bytes, MemoryCategory category) {
  return {.time_ns = 0, .action = action, .bytes = bytes, .category = category};
}

class MemoryTimelineTest : public ::testing::Test {
 protected:
  void begin(std::uint64_t at, std::uint64_t key, std::string_view name,
             const std::vector<Tensor>& tensors, Scope scope = Scope::function) {
    InputsWriter inputs;
    std::vector<std::uint64_t> storages;
    for (const Tensor& tensor : tensors) {
      inputs.tensor(0, std::vector{tensor.bytes}, std::vector<std::int64_t>{1});
      storages.push_back(tensor.address);
    }
    thread.begin(kTick * at, key, name,
                 {.scope = scope,
                  .inputs = inputs.data(),
                  .inputs_size = static_cast<std::uint32_t>(inputs.size()),
                  .storages = storages});
  }
  void end(std::uint64_t at, std::uint64_t key) { thread.end(kTick * at, key); }
  void memory(std::uint64_t at, std::int64_t bytes, std::uint64_t address) {
    thread.memory(kTick * at, bytes, address);
  }
  void run(std::uint64_t from, std::uint64_t to, std::string_view name,
           const std::vector<Tensor>& tensors) {
    begin(from, 7, name, tensors);
    end(to, 7);
  }
  /// As of the recording's end.
  void know(const Tensor& tensor, bool is_gradient = false) {
    while (ticks() < written.recording->started().ticks + kTick * 500) {
    }
    written.recording->add_known_tensors({{.address = tensor.address,
                                           .bytes = static_cast<std::uint64_t>(tensor.bytes),
                                           .is_gradient = is_gradient}});
  }

  MemoryTimeline timeline(MemoryDevice device = MemoryDevice::cpu()) {
    using InputType = SchemaArgument::Type;
    const SchemaArgument tensor{InputType::tensor};
    const SchemaArgument changed{InputType::tensor, false, true};
    const std::map<std::string, std::vector<Schema>> known = {
        {"aten::mm", {{tensor, tensor}}},
        {"aten::add_", {{changed, tensor}}},
        {"aten::detach", {{tensor}}},
        {"aten::clone", {{tensor}}},
        {"aten::relu_", {{changed}}},
        {"aten::relu", {{tensor}}},
        {"aten::empty", {{}}},
    };
    OperatorSchemas schemas([&](const std::string& name) {
      const auto found = known.find(name);
      return found == known.end() ? std::vector<Schema>() : found->second;
    });
    MemoryTimeline rows = memory_timeline(*written.window(), schemas, device);
    for (std::size_t at = 1; at < rows.size(); ++at) {
      EXPECT_LE(rows[at - 1].time_ns, rows[at].time_ns);
    }
    for (MemoryTimelineRow& row : rows) {
      EXPECT_EQ(row.time_ns == -1, row.action == preexisting);
      row.time_ns = 0;
    }
    return rows;
  }

  /// A forward, a backward and the step of an optimizer with momentum.
  void train() {
    begin(10, 1, "aten::mm", {x, w});
    memory(12, 32, y.address);
    end(20, 1);
    begin(30, 1, "autograd::engine::evaluate_function: MmBackward0", {});
    begin(31, 2, "MmBackward0", {y}, Scope::backward_function);
    begin(32, 3, "aten::mm", {x, y});
    memory(33, 24, g.address);
    end(34, 3);
    memory(35, 8, 0x5000);
    run(36, 37, "aten::relu", {{0x5000, 8}});
    memory(38, -8, 0x5000);
    memory(39, 16, d.address);
    run(40, 41, "aten::relu", {d});
    end(42, 2);
    end(43, 1);
    begin(50, 1, "torch::autograd::AccumulateGrad", {g}, Scope::backward_function);
    run(51, 52, "aten::detach", {g});
    end(53, 1);
    begin(60, 1, "aten::clone", {g});
    memory(61, 24, momentum.address);
    end(62, 1);
    run(63, 64, "aten::add_", {momentum, g});
    run(65, 66, "aten::add_", {w, momentum});
  }

  const Tensor x{0x1000, 40};
  const Tensor w{0x2000, 24};
  const Tensor y{0x3000, 32};
  const Tensor g{0x4000, 24};
  const Tensor d{0x6000, 16};
  const Tensor momentum{0x7000, 24};
  HandWritten written{{.record_shapes = true,
                       .profile_memory = true,
                       .with_stack = true,
                       .element_types = {"char"},
                       .element_bytes = {1}}};
  HandWritten::Thread thread = written.thread();
};

TEST_F(MemoryTimelineTest, OfATrainingStepHasEachCategory) {
  know(w);
  train();
  EXPECT_THAT(
      timeline(),
      ElementsAre(row(preexisting, 40, input), row(preexisting, 24, parameter),
                  row(create, 32, activation), row(create, 24, gradient), row(create, 8, temporary),
                  row(destroy, -8, temporary), row(create, 16, autograd_detail),
                  row(create, 24, optimizer_state), row(increment_version, -24, optimizer_state),
                  row(increment_version, 24, optimizer_state),
                  row(increment_version, -24, parameter), row(increment_version, 24, parameter)));
}

TEST_F(MemoryTimelineTest, AWholeStepShowsWhatParametersAre) {
  train();
  EXPECT_THAT(timeline(),
              IsSupersetOf({row(preexisting, 24, parameter), row(preexisting, 40, input),
                            row(create, 32, activation), row(create, 24, optimizer_state)}));
}

TEST_F(MemoryTimelineTest, AForwardAloneShowsNothingOfAModelThatIsNotKnown) {
  begin(10, 1, "aten::mm", {x, w});
  memory(12, 32, y.address);
  end(20, 1);
  EXPECT_THAT(timeline(), ElementsAre(row(preexisting, 40, unknown), row(preexisting, 24, unknown),
                                      row(create, 32, unknown)));
}

TEST_F(MemoryTimelineTest, AForwardOfAKnownModelHasInputsAndActivations) {
  know(w);
  begin(10, 1, "aten::mm", {x, w});
  memory(12, 32, y.address);
  end(20, 1);
  run(21, 22, "aten::relu_", {y});
  EXPECT_THAT(timeline(),
              ElementsAre(row(preexisting, 40, input), row(preexisting, 24, parameter),
                          row(create, 32, activation), row(increment_version, -32, activation),
                          row(increment_version, 32, activation)));
}

TEST_F(MemoryTimelineTest, KnownGradientsAreGradients) {
  know(g, true);
  EXPECT_THAT(timeline(), ElementsAre(row(preexisting, 24, gradient)));
}

TEST_F(MemoryTimelineTest, AccumulatedGradientsAreKnownByTheAddition) {
  begin(50, 1, "torch::autograd::AccumulateGrad", {d}, Scope::backward_function);
  run(51, 52, "aten::add_", {g, d});
  end(53, 1);
  EXPECT_THAT(timeline(), ElementsAre(row(preexisting, 16, input), row(preexisting, 24, gradient),
                                      row(increment_version, -24, gradient),
                                      row(increment_version, 24, gradient)));
}

TEST_F(MemoryTimelineTest, OfADeviceHasItsTensors) {
  const auto on_gpu = [](const Tensor& tensor) {
    return Tensor{storage_key(tensor.address, MemoryDevice::cuda(1)), tensor.bytes};
  };
  know(on_gpu(w));
  begin(10, 1, "aten::mm", {x, on_gpu(w)});
  memory(12, 32, y.address);
  memory(13, 48, on_gpu(y).address);
  memory(14, 8, on_gpu(d).address);
  end(20, 1);
  run(21, 22, "aten::relu", {on_gpu(y)});
  memory(30, -48, on_gpu(y).address);
  EXPECT_THAT(timeline(MemoryDevice::cuda(1)),
              ElementsAre(row(preexisting, 24, parameter), row(create, 48, activation),
                          row(create, 8, unknown), row(destroy, -48, activation)));
}

TEST_F(MemoryTimelineTest, OfTheCpuHasNothingOfDevices) {
  const auto on_gpu = [](const Tensor& tensor) {
    return Tensor{storage_key(tensor.address, MemoryDevice::cuda(0)), tensor.bytes};
  };
  begin(10, 1, "aten::mm", {x, on_gpu(w)});
  memory(12, 48, on_gpu(y).address);
  end(20, 1);
  EXPECT_THAT(timeline(), ElementsAre(row(preexisting, 40, unknown)));
}

TEST_F(MemoryTimelineTest, WhatCouldNotBeAllocatedIsNoMemory) {
  DeviceMemory memory;
  memory.add({.kind = AllocatorEvent::Kind::out_of_memory, .requested = 1 << 30}, {},
             written.start() + 50, thread.log());
  written.recording->add_device_memory(std::move(memory));
  run(10, 20, "aten::relu", {x});
  EXPECT_THAT(timeline(), ElementsAre(row(preexisting, 40, unknown)));
}

TEST_F(MemoryTimelineTest, BlocksThatNobodyTakesAreUnknown) {
  memory(10, 100, 0x8000);
  memory(11, -100, 0x8000);
  memory(12, -50, 0x9000);
  EXPECT_THAT(timeline(), ElementsAre(row(preexisting, 50, unknown), row(create, 100, unknown),
                                      row(destroy, -100, unknown), row(destroy, -50, unknown)));
}

TEST_F(MemoryTimelineTest, ABlockWhoseAddressIsUsedAgainIsGone) {
  run(10, 11, "aten::relu", {x});
  memory(20, 16, x.address);
  run(30, 31, "aten::relu", {{x.address, 16}});
  EXPECT_THAT(timeline(), ElementsAre(row(preexisting, 40, unknown), row(create, 16, unknown),
                                      row(destroy, -40, unknown)));
}

TEST_F(MemoryTimelineTest, WhatAnOperatorDoesWithinCountsAsItsOwn) {
  begin(10, 1, "a range", {});
  begin(11, 2, "aten::mm", {x, w});
  begin(12, 3, "aten::empty", {});
  memory(13, 32, y.address);
  end(14, 3);
  run(15, 16, "aten::relu_", {y});
  run(17, 18, "aten::some", {y});  // without a schema, but one that has one was seen
  memory(19, -32, y.address);
  end(20, 2);
  end(21, 1);
  EXPECT_THAT(timeline(), ElementsAre(row(preexisting, 40, unknown), row(preexisting, 24, unknown),
                                      row(create, 32, temporary), row(destroy, -32, temporary)));
}

TEST_F(MemoryTimelineTest, WithoutASchemaAnOperatorMayHaveWritten) {
  begin(10, 1, "SomeBackward0", {}, Scope::backward_function);
  run(11, 12, "mine", {x});
  end(20, 1);
  EXPECT_THAT(timeline(),
              ElementsAre(row(preexisting, 40, unknown), row(increment_version, -40, unknown),
                          row(increment_version, 40, autograd_detail)));
}

TEST_F(MemoryTimelineTest, OfNothingIsEmpty) { EXPECT_THAT(timeline(), IsEmpty()); }

}  // namespace
}  // namespace recorder
}  // namespace tbtrace
