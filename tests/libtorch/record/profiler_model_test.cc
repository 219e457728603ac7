// Random calls of a profiler, held against a model of a few lines that says what each of them does.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <c10/core/CPUAllocator.h>
#include <gtest/gtest.h>

#include <tbtrace/profiler.h>

#include "fixtures/random_rounds.h"
#include "libtorch/record/recorded.h"

namespace tbtrace {
namespace {

struct Thrown : std::runtime_error {
  Thrown() : std::runtime_error("thrown by the handler") {}
};

/// What a profiler is asked to do when it hands over a window.
enum class InHandler : std::uint8_t { nothing, start, step, stop, fail, read };

/// How many steps of a cycle do what. If none is active, there is no schedule and everything is
/// recorded.
struct Steps {
  int wait = 0;
  int warmup = 0;
  int active = 0;

  int all() const { return wait + warmup + active; }
};

/// What one profiler should be like.
class Model {
 public:
  explicit Model(const Steps& steps) : steps_(steps) {}

  bool has_schedule() const { return steps_.active > 0; }
  bool is_recording() const {
    return running_ && (!has_schedule() || position() >= steps_.wait + steps_.warmup);
  }

  void work() {
    if (is_recording() && !is_paused_) ++marks_;
  }
  void toggle(bool enable) {
    if (!is_recording()) return warn();
    is_paused_ = !enable;
  }
  void start() {
    if (running_) return warn();
    running_ = true;
    handed_over_ = is_prepared_ = false;
    prepare();
  }
  void step(InHandler in_handler) {
    if (!running_) return warn();
    const bool ends = has_schedule() && position() == steps_.all() - 1;
    if (ends) hand_over(in_handler);
    ++step_;
    if (ends && in_handler == InHandler::stop) {
      running_ = false;
      return;
    }
    prepare();
  }
  void stop(InHandler in_handler) {
    if (!running_) return warn();
    const bool was_recording = is_recording();
    running_ = false;
    if (was_recording) hand_over(in_handler);
    if (has_schedule() && !handed_over_) warn();
    // A stop() from the handler of a stop() finds the profiler stopped.
  }
  void destroy(InHandler in_handler) {
    if (!running_) return;
    const int before = windows_;
    stop(in_handler);
    if (windows_ > before && in_handler == InHandler::fail) warn();  // a destructor throws nothing
  }

  std::int64_t step_num() const { return step_; }
  std::int64_t results() const { return results_; }
  int handed_over() const { return windows_; }
  int warnings() const { return warnings_; }

 private:
  int position() const { return static_cast<int>(step_ % steps_.all()); }
  void warn() { ++warnings_; }
  /// With the warm-up, or the window if there is none, what the window before gave is gone.
  void prepare() {
    if (is_prepared_ || (has_schedule() && position() < steps_.wait)) return;
    is_prepared_ = true;
    is_paused_ = false;
    marks_ = results_ = 0;
  }
  void hand_over(InHandler in_handler) {
    ++windows_;
    handed_over_ = true;
    is_prepared_ = false;
    results_ = marks_;
    if (in_handler == InHandler::start || in_handler == InHandler::step) warn();
    if (in_handler == InHandler::stop && !running_) warn();
  }

  Steps steps_;
  bool running_ = false;
  bool is_prepared_ = false;
  bool is_paused_ = false;
  bool handed_over_ = false;  // since the start
  std::int64_t step_ = 0;
  std::int64_t marks_ = 0;
  std::int64_t results_ = 0;
  int windows_ = 0;
  int warnings_ = 0;
};

constexpr const char* kMark = "mark";

/// A profiler and its model, to which all is done alike.
class Pair {
 public:
  Pair(std::mt19937& random, bool all_threads) : steps_(random_steps(random)), model_(steps_) {
    ProfilerOptions options = {.activities = {Activity::cpu},
                               .profile_memory = random() % 2 == 0,
                               .all_threads = all_threads};
    if (steps_.active > 0) {
      options.schedule = [steps = steps_](std::int64_t step) {
        const int at = static_cast<int>(step % steps.all());
        if (at < steps.wait) return ProfilerAction::none;
        if (at < steps.wait + steps.warmup) return ProfilerAction::warmup;
        return at == steps.all() - 1 ? ProfilerAction::record_and_save : ProfilerAction::record;
      };
    }
    options.on_trace_ready = [this](Profiler& profiler) { handle(profiler); };
    options.experimental.on_warning = [this](std::string_view sentence) {
      if (sentence.starts_with("Warning: Profiler clears events")) return;
      if (sentence == "nothing was recorded yet" || sentence.starts_with("nothing ran")) return;
      ++warnings_;
    };
    profiler_.emplace(options);
  }

  void start() {
    may_throw([&] { profiler_->start(); });
    model_.start();
  }
  void step() {
    may_throw([&] { profiler_->step(); });
    model_.step(in_handler);
  }
  void stop() {
    may_throw([&] { profiler_->stop(); });
    model_.stop(in_handler);
  }
  void toggle(bool enable) {
    profiler_->toggle_collection_dynamic(enable, {Activity::cpu});
    model_.toggle(enable);
  }
  /// Nothing but compare() may follow.
  void destroy() {
    profiler_.reset();
    model_.destroy(in_handler);
  }
  void worked() { model_.work(); }

  void compare(std::uint32_t seed, int call) {
    const std::string where =
        "sequence " + std::to_string(seed) + ", call " + std::to_string(call) + ": ";
    ASSERT_EQ(windows_, model_.handed_over()) << where;
    ASSERT_EQ(warnings_, model_.warnings()) << where;
    if (!profiler_) return;
    ASSERT_EQ(profiler_->step_num(), model_.step_num()) << where;
    if (model_.handed_over() > 0) {
      ASSERT_EQ(testing::count(*profiler_, kMark), model_.results()) << where;
    }
  }

  InHandler in_handler = InHandler::nothing;

 private:
  static Steps random_steps(std::mt19937& random) {
    const auto below = [&](unsigned end) { return static_cast<int>(random() % end); };
    if (below(4) == 0) return {};
    return {.wait = below(3), .warmup = below(3), .active = 1 + below(2)};
  }

  void handle(Profiler& profiler) {
    ++windows_;
    switch (in_handler) {
      case InHandler::nothing:
        break;
      case InHandler::start:
        profiler.start();
        break;
      case InHandler::step:
        profiler.step();
        break;
      case InHandler::stop:
        profiler.stop();
        break;
      case InHandler::fail:
        throw Thrown();
      case InHandler::read:
        static_cast<void>(testing::count(profiler, kMark));
        break;
    }
  }

  void may_throw(const std::function<void()>& call) {
    const int before = windows_;
    try {
      call();
      EXPECT_FALSE(windows_ > before && in_handler == InHandler::fail);
    } catch (const Thrown&) {
      EXPECT_EQ(in_handler, InHandler::fail);
    }
  }

  Steps steps_;
  Model model_;
  int windows_ = 0;
  int warnings_ = 0;
  std::optional<Profiler> profiler_;
};

void work() {
  const record_function range(kMark);
  const c10::DataPtr block = c10::GetCPUAllocator()->allocate(64);
}

/// On this thread or, for calls that may come from any, on another one.
void call(bool elsewhere, const std::function<void()>& function) {
  if (elsewhere) {
    std::thread(function).join();
  } else {
    function();
  }
}

void run_sequence(std::uint32_t seed) {
  std::mt19937 random(seed);
  // Profilers of this thread are started and stepped by it; those of all threads by any.
  std::vector<std::unique_ptr<Pair>> pairs;
  std::vector<bool> all_threads;
  const std::size_t count = 1 + random() % 3;
  for (std::size_t number = 0; number < count; ++number) {
    all_threads.push_back(random() % 2 == 0);
    pairs.push_back(std::make_unique<Pair>(random, all_threads.back()));
  }
  const int calls = 4 + static_cast<int>(random() % 20);
  for (int number = 0; number < calls; ++number) {
    const std::size_t which = random() % count;
    Pair& pair = *pairs[which];
    pair.in_handler = static_cast<InHandler>(random() % 6);
    const bool elsewhere = random() % 4 == 0;
    switch (random() % 8) {
      case 0:
        call(elsewhere && all_threads[which], [&] { pair.start(); });
        break;
      case 1:
        call(elsewhere, [&] { pair.stop(); });
        break;
      case 2:
      case 3:
        call(elsewhere && all_threads[which], [&] { pair.step(); });
        break;
      case 4:
        call(elsewhere && all_threads[which],
             [&, enable = random() % 2 == 0] { pair.toggle(enable); });
        break;
      case 5:
        if (random() % 2 == 0) break;
        call(elsewhere, [&] { pair.destroy(); });
        pair.compare(seed, number);
        pairs[which] = std::make_unique<Pair>(random, all_threads[which]);
        break;
      default:
        work();
        for (const auto& each : pairs) each->worked();
        break;
    }
    for (const auto& each : pairs) {
      each->compare(seed, number);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(ProfilerModel, RandomCallsDoWhatTheModelSays) {
  const std::uint32_t sequences = fixtures::random_rounds(1500U);
  for (std::uint32_t seed = 1; seed <= sequences; ++seed) {
    run_sequence(seed);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace tbtrace
