// What a made-up training run does, step by step: the rows of a trace before they are text.
// A model owns its state; one thread at a time. Equal seeds give equal rows on every machine:
// all arithmetic is on integers, and times are in nanoseconds.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "random.h"

namespace tbtrace::benchmarks {

/// Which arguments an operator takes, for its shapes.
enum class Inputs : std::uint8_t { none, unary, binary, matmul, addmm, view, strided, fill, empty };

enum class Thread : std::uint8_t { main, backward };

enum class Stream : std::uint8_t { compute, all_reduce };

struct Operator {
  std::string_view name;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t external_id = 0;
  std::int64_t sequence_number = 0;  ///< 0: none
  std::int64_t step = -1;            ///< of a `ProfilerStep#N`, whose name is its number
  int rows = 0;                      ///< of its first input
  int columns = 0;
  Inputs inputs = Inputs::none;
  Thread thread = Thread::main;
  bool annotation = false;
  bool linked = false;  ///< forward and backward, by an arrow
};

/// A call of the runtime, and what it made a device do.
struct Launch {
  enum class Work : std::uint8_t { none, kernel, copy, fill };

  std::string_view name = {};
  int callback_id = 0;
  Thread thread = Thread::main;
  Work work = Work::none;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t external_id = 0;
  std::int64_t correlation = 0;
  // Of the work.
  std::string_view kernel = {};
  std::int64_t work_start_ns = 0;
  std::int64_t work_end_ns = 0;
  std::int64_t bytes = 0;
  std::array<int, 3> grid = {1, 1, 1};
  std::array<int, 3> block = {1, 1, 1};
  Stream stream = Stream::compute;
};

struct MemoryChange {
  std::int64_t time_ns = 0;
  std::int64_t address = 0;
  std::int64_t bytes = 0;
  std::int64_t total_bytes = 0;
  Thread thread = Thread::main;
};

struct StepRows {
  std::vector<Operator> operators;
  std::vector<Launch> launches;
  std::vector<MemoryChange> memory;
};

class TrainingRun {
 public:
  /// A model of `blocks` blocks, each with eight parameters.
  TrainingRun(std::uint64_t seed, int blocks);

  /// Simulates one step into `rows`, which are cleared first.
  void step(StepRows& rows);

  std::int64_t now_ns() const { return now_ns_; }
  static constexpr std::int64_t kReservedBytes = std::int64_t{12} << 30;

 private:
  struct Allocation {
    std::int64_t address = 0;
    std::int64_t bytes = 0;
  };

  void spend(std::int64_t least_ns, std::int64_t more_ns) {
    now_ns_ += least_ns + random_.below(more_ns);
  }
  template <typename Body>
  void run(std::string_view name, Inputs inputs, Body body);
  void run(std::string_view name, Inputs inputs);
  template <typename Body>
  void annotate(std::string_view name, Body body);

  Launch& call(std::string_view name, int callback_id);
  void launch(std::string_view kernel, Stream stream = Stream::compute);
  void copy();
  void synchronize();
  void allocate();
  void free_oldest(std::size_t kept);

  void transpose();
  void clone();
  void zero();
  void multiply(std::string_view name);
  void elementwise(std::string_view name, std::size_t kernel);
  void activation(bool backward);
  void shape(int block);
  void forward(int block);
  void backward(int block);
  void reduce_gradient();

  Random random_;
  int blocks_;
  std::int64_t now_ns_ = 0;
  std::int64_t external_id_ = 2048;
  std::int64_t correlation_ = 70'000;
  std::int64_t sequence_number_ = 1;
  std::int64_t step_sequence_ = 1;
  std::int64_t step_ = 1;
  std::array<std::int64_t, 2> stream_free_ns_ = {};
  std::vector<Allocation> live_;
  std::size_t oldest_ = 0;
  std::int64_t next_address_ = 0;
  std::int64_t total_bytes_ = std::int64_t{6} << 30;
  Thread thread_ = Thread::main;
  std::int64_t operator_id_ = 0;  // of the innermost open operator
  int height_ = 64;               // of the block that runs
  int width_ = 64;
  StepRows* rows_ = nullptr;
};

}  // namespace tbtrace::benchmarks
