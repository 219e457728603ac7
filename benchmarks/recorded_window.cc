// How long it takes, and how much memory, to make a trace of a recorded window, and to write it as
// a file and into a log directory with its summaries. All in one run, in processes of their own.
#include "live/recorded_window.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recorder/log/inputs.h"
#include "recorder/log/record.h"
#include "recorder/log/recording.h"

namespace {

using namespace tbtrace;

/// A training loop: operators in operators, with shapes that come again.
std::shared_ptr<const recorder::Recording> record(std::uint64_t operators) {
  recorder::RecordingOptions options{.record_shapes = true, .element_types = {"float"}};
  auto recording = std::make_shared<recorder::Recording>(std::move(options));
  recording->start();
  const auto log =
      recording->add_thread({.system_id = ::getpid(), .logical_id = 1, .name = "main"});
  std::array<recorder::InputsWriter, 50> inputs;
  std::array<recorder::NameNumber, 50> names;
  for (std::int64_t layer = 0; layer < 50; ++layer) {
    const std::array<std::int64_t, 2> sizes = {32, 64 + layer};
    const std::array<std::int64_t, 2> strides = {64 + layer, 1};
    recorder::InputsWriter& of_layer = inputs[static_cast<std::size_t>(layer)];
    of_layer.tensor(0, sizes, strides);
    of_layer.tensor(0, sizes, strides);
    of_layer.integer(1);
    names[static_cast<std::size_t>(layer)] =
        log->names().find("aten::operator_" + std::to_string(layer));
  }
  for (std::uint64_t number = 0; number < operators; number += 2) {
    const std::size_t layer = number / 2 % 50;
    recorder::BeginRecord begin{.ticks = recorder::ticks(), .name = names[layer], .key = 1};
    begin.sequence_number = static_cast<std::int64_t>(number);
    begin.inputs = inputs[layer].data();
    begin.inputs_size = static_cast<std::uint32_t>(inputs[layer].size());
    write(*log, begin);
    begin.key = 2;
    begin.ticks = recorder::ticks();
    write(*log, begin);
    write(*log, recorder::EndRecord{.ticks = recorder::ticks(), .key = 2});
    write(*log, recorder::EndRecord{.ticks = recorder::ticks(), .key = 1});
  }
  recording->close();
  return recording;
}

struct Cost {
  double seconds = 0;    // of the processor
  double mebibytes = 0;  // at its peak, with the recording
};

/// Of `work` in a child.
Cost cost(const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  int status = 0;
  rusage usage = {};
  if (::wait4(child, &status, 0, &usage) != child || status != 0) std::abort();
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return {.seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime),
          .mebibytes = static_cast<double>(usage.ru_maxrss) / 1024};
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t operators = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  const std::string folder = argc > 2 ? argv[2] : "/tmp";
  // The recording alone first: what a process of its own holds besides.
  const double without = cost([] {}).mebibytes;
  const auto recording = record(operators);
  const auto expect = [](bool is_right) {
    if (!is_right) std::abort();
  };
  const live::LogFileName name{.directory = folder, .worker = "recorded_window", .time_ns = 1};
  struct Way {
    const char* name;
    std::function<void()> run;
  };
  const std::array<Way, 4> ways = {{
      {"nothing", [] {}},
      {"trace",
       [&] {
         const Result<Trace> trace = live::read_recording(recording);
         expect(trace.ok() && trace->events().size() == operators + 1);
       }},
      {"Kineto's JSON",
       [&] {
         const std::string path = folder + "/recorded_window.json";
         expect(live::write_recording(recording, path, Dialect::kineto, true).ok());
         std::filesystem::remove(path);
       }},
      {"log directory",
       [&] {
         live::RecordedSummaries summaries(folder, "recorded_window");
         const auto written = live::write_log_file(recording, name, Dialect::plugin, &summaries);
         expect(written.ok() && written->summaries.ok());
         std::filesystem::remove(written->path);
         std::filesystem::remove_all(folder + "/recorded_window");
       }},
  }};
  std::array<std::vector<double>, ways.size()> seconds;
  std::array<double, ways.size()> mebibytes = {};
  for (int round = 0; round < 5; ++round) {
    for (std::size_t way = 0; way < ways.size(); ++way) {
      const Cost one = cost(ways[way].run);
      seconds[way].push_back(one.seconds);
      mebibytes[way] = std::max(mebibytes[way], one.mebibytes);
    }
  }
  const double window = mebibytes[0] - without;
  std::printf("window: %.0f MiB, %.1f bytes an operator\n", window,
              window * 1048576 / static_cast<double>(operators));
  for (std::size_t way = 1; way < ways.size(); ++way) {
    std::sort(seconds[way].begin(), seconds[way].end());
    std::printf(
        "%s: %.3f us of processor time an operator, %.0f MiB at the peak, %.2f times the window\n",
        ways[way].name, seconds[way][2] * 1e6 / static_cast<double>(operators),
        mebibytes[way] - without, (mebibytes[way] - without) / window);
  }
}
