// Records steps of a training in both dialects, with what makes files hard to show: ranges that
// cross threads and each other, several threads, memory, shapes, names of any kind.
//   record_dialects FOLDER   writes FOLDER/plugin/ and FOLDER/kineto/, a run of one window each
#include <iostream>
#include <string>
#include <thread>
#include <utility>

#include <torch/torch.h>

#include <tbtrace/profiler.h>

#include "libtorch/record/training_step.h"

namespace {

using tbtrace::async_range;
using tbtrace::record_function;

void work_beside() {
  for (int times = 0; times < 20; ++times) {
    const record_function range("\"beside\" \\ <b>\n\xf0\x9f\x94\xa5");
    torch::ones({64}).mul_(2).sum();
  }
}

void step(tbtrace::testing::TrainingStep& training) {
  async_range request("request");
  async_range other("crosses the other");
  std::thread beside([ended = std::move(request)]() mutable {
    work_beside();
    ended.end();
  });
  training.run();
  other.end();
  async_range last("ends elsewhere");
  beside.join();
  std::thread([ended = std::move(last)]() mutable { ended.end(); }).join();
}

tbtrace::Status record(const std::string& folder, const tbtrace::TensorboardOptions& options) {
  tbtrace::Profiler profiler(
      {.activities = {tbtrace::Activity::cpu},
       .schedule = tbtrace::schedule({.warmup = 1, .active = 3, .repeat = 1}),
       .on_trace_ready = tbtrace::tensorboard_trace_handler(folder, options),
       .record_shapes = true,
       .profile_memory = true,
       .with_flops = true,
       .all_threads = true});
  tbtrace::testing::TrainingStep training;
  {
    const auto recording = profiler.record();
    for (int number = 0; number < 4; ++number) {
      step(training);
      profiler.step();
    }
  }
  return profiler.wait_for_exports();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = argv[1];
  for (const bool kineto : {false, true}) {
    const tbtrace::Status written =
        record(folder + (kineto ? "/kineto" : "/plugin"),
               {.worker_name = "worker0",
                .use_gzip = kineto,
                .dialect = kineto ? tbtrace::Dialect::kineto : tbtrace::Dialect::plugin});
    if (written.ok()) continue;
    std::cerr << written.message() << '\n';
    return 1;
  }
  return 0;
}
