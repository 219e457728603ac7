// Random recordings, small and full of ties: ranges that nest and ranges that only overlap,
// launches and kernels, memory, ranges that never ended. A seed gives the same one with every
// compiler: no expression draws twice where the order is the compiler's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string_view>
#include <utility>

#include <tbtrace/trace.h>

#include "fixtures/trace_rows.h"
#include "trace/trace_builder.h"

namespace tbtrace::analyses {

class RandomRecording {
 public:
  struct Options {
    int ranges = 14;
    int longest = 40;  ///< instants
    int threads = 3;
    bool devices = true;
    bool shadows = false;  ///< annotations on devices
    bool memory = true;
    bool unfinished = false;
    bool odd_names = true;   ///< names that torch treats in a way of their own
    bool arguments = false;  ///< shapes and stacks
  };

  RandomRecording(unsigned seed, const Options& options) : random_(seed), options_(options) {
    constexpr std::array<std::int64_t, 4> kScales = {1, 10, 333, 1000};
    scale_ = kScales[below(kScales.size())];
    broken_ids_ = below(4) == 0;
  }

  Trace make() {
    for (std::size_t root = 1 + below(3); root > 0; --root) {
      const int start = number(options_.longest / 2);
      const int end = start + number(options_.longest);
      nest(number(options_.threads), start, end, 3);
    }
    while (ranges_ < options_.ranges) {
      const int thread = number(options_.threads);
      const int start = time();
      add_range(thread, start, time());
    }
    if (options_.devices) add_devices();
    for (std::size_t record = options_.memory ? below(8) : 0; record > 0; --record) add_memory();
    return fixtures::finished(builder_);
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }
  int number(int limit) { return static_cast<int>(below(static_cast<std::size_t>(limit))); }
  int time() { return number(options_.longest); }

  /// A range with ranges in it.
  void nest(int thread, int start, int end, int depth) {
    if (ranges_ >= options_.ranges) return;
    add_range(thread, start, end - start);
    int at = start;
    for (std::size_t child = depth > 0 ? below(3) : 0; child > 0 && at <= end; --child) {
      const int child_start = at + number(end - at + 1) / 2;
      const int child_end = child_start + number(end - child_start + 1);
      nest(thread, child_start, child_end, depth - 1);
      at = child_end;
    }
  }

  std::string_view name() {
    constexpr std::array<std::string_view, 4> kPlain = {"a", "b", "c", "d"};
    constexpr std::array<std::string_view, 8> kOdd = {
        "ProfilerStep#1", "ProfilerStep#2", "[memory]",         "[OutOfMemory]",
        "aten::is_leaf",  "_Z3foov",        "aten::add.Tensor", "nccl:all_reduce"};
    return options_.odd_names && below(6) == 0 ? kOdd[below(kOdd.size())]
                                               : kPlain[below(kPlain.size())];
  }

  void add_range(int thread, int start, int duration) {
    ++ranges_;
    constexpr std::array<std::string_view, 6> kCategories = {
        "cpu_op", "cpu_op", "cpu_op", "user_annotation", "python_function", "overhead"};
    const std::string_view category = kCategories[below(kCategories.size())];
    if (below(5) == 0) duration = 0;
    EventRow row = row_of(category, name(), thread, start, duration);
    // torch's own events bear their rank, and no two the same.
    if (category != "overhead") row.rank = rank_ += 1;
    if (category == "cpu_op" || category == "user_annotation") row.external_id = ++last_id_;
    if (category == "python_function") row.flags |= Events::kPythonFrame;
    if (options_.unfinished && below(6) == 0) row.flags |= Events::kUnfinished;
    const EventId event = builder_.add_event(row);
    if (options_.arguments && category == "cpu_op") add_arguments(event);
  }

  void add_arguments(EventId event) {
    constexpr std::array<std::string_view, 3> kDims = {"[[2, 3], [3, 4]]", "[[4, 4], [4, 4]]",
                                                       "[]"};
    constexpr std::array<std::string_view, 3> kStacks = {"f;main;", "g;main;", "f;other;"};
    if (below(3) > 0) {
      const StringId dims = builder_.intern(kDims[below(kDims.size())]);
      builder_.add_argument(event, Argument::input_dims, dims);
      builder_.add_argument(event, Argument::input_types, builder_.intern(R"(["float", "float"])"));
    }
    if (below(3) > 0) {
      builder_.add_argument(event, Argument::call_stack,
                            builder_.intern(kStacks[below(kStacks.size())]));
    }
  }

  EventRow row_of(std::string_view category, std::string_view name, int thread, int start,
                  int duration, std::int64_t process = 1) {
    EventRow row;
    row.start_ns = scale_ * start;
    row.duration_ns = scale_ * duration;
    row.name = builder_.intern(name);
    row.track = fixtures::track(builder_, process, thread);
    row.category = builder_.category(builder_.intern(category));
    return row;
  }

  /// Launches and work, mixed in the file.
  void add_devices() {
    for (std::size_t row = below(16); row > 0; --row) {
      if (below(2) == 0) {
        add_launch();
      } else {
        add_work();
      }
    }
  }

  void add_launch() {
    const int thread = number(options_.threads);
    const int start = time();
    EventRow row = row_of("cuda_runtime", "launch", thread, start, number(4));
    row.correlation = 100 + number(8);
    row.external_id = external_id(row.correlation);
    builder_.add_event(row);
  }

  void add_work() {
    constexpr std::array<std::string_view, 5> kWork = {"kernel", "kernel", "gpu_memcpy",
                                                       "gpu_memset", "cuda_sync"};
    const bool shadow = options_.shadows && below(3) == 0;
    const std::string_view category = shadow ? "gpu_user_annotation" : kWork[below(kWork.size())];
    const int stream = 7 + number(2);
    const int start = time();
    EventRow row = row_of(category, "gemm", stream, start, number(12), 0);
    row.correlation = shadow ? 0 : 100 + number(10);
    row.external_id = external_id(row.correlation);
    builder_.add_event(row);
  }

  std::int64_t external_id(std::int64_t correlation) {
    if (broken_ids_) return correlation;
    return static_cast<std::int64_t>(below(static_cast<std::size_t>(last_id_) + 2));
  }

  void add_memory() {
    constexpr std::array kDevices = {DeviceType::cpu, DeviceType::cpu, DeviceType::cuda,
                                     DeviceType::privateuse1, DeviceType{9}};
    MemoryRecord record;
    record.time_ns = scale_ * time();
    record.time_ns += scale_ * number(options_.longest);
    record.bytes = number(200) - 60;
    record.device_type = kDevices[below(kDevices.size())];
    record.track = fixtures::track(builder_, 1, number(options_.threads));
    record.event_rank = ++rank_;
    record.out_of_memory = below(8) == 0;
    builder_.add_memory(record);
  }

  std::mt19937 random_;
  Options options_;
  TraceBuilder builder_;
  std::int64_t scale_ = 1;
  bool broken_ids_ = false;
  int ranges_ = 0;
  std::uint32_t rank_ = 0;
  std::int64_t last_id_ = 0;
};

}  // namespace tbtrace::analyses
