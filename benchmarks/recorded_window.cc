// How long it takes, and how much memory, to make a trace of a recorded window: from its rows, and
// by writing and reading its text. Both in one run, in processes of their own.
#include "live/recorded_window.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "readers/formats/format.h"
#include "recorder/log/inputs.h"
#include "recorder/log/record.h"
#include "recorder/log/recording.h"
#include "recorder/window/text.h"
#include "recorder/window/window.h"

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
  double seconds = 0;
  double mebibytes = 0;  // at its peak, with the recording
};

/// Of `work` in a child, whose times come back through a pipe.
Cost cost(const std::function<void()>& work) {
  std::array<int, 2> ends = {};
  if (::pipe(ends.data()) != 0) std::abort();
  const pid_t child = ::fork();
  if (child == 0) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    const double seconds = took.count();
    ::_exit(::write(ends[1], &seconds, sizeof seconds) == sizeof seconds ? 0 : 1);
  }
  Cost cost;
  int status = 0;
  rusage usage = {};
  if (::read(ends[0], &cost.seconds, sizeof cost.seconds) != sizeof cost.seconds) std::abort();
  if (::wait4(child, &status, 0, &usage) != child || status != 0) std::abort();
  ::close(ends[0]);
  ::close(ends[1]);
  cost.mebibytes = static_cast<double>(usage.ru_maxrss) / 1024;
  return cost;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t operators = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  const auto recording = record(operators);
  const auto expect = [&](const Result<Trace>& trace) {
    if (!trace.ok() || trace->events().size() != operators + 1) std::abort();
  };
  const std::array<std::function<void()>, 3> ways = {
      [] {}, [&] { expect(live::read_recording(recording)); },
      [&] {
        const auto window = std::make_shared<const recorder::Window>(recording);
        Result<readers::Reading> reading = readers::read_source(
            std::make_unique<recorder::WindowText>(window, true), {.threads = 1});
        if (!reading.ok() || reading->trace.events().size() != operators + 1) std::abort();
      }};
  std::array<std::vector<double>, 3> seconds;
  std::array<double, 3> mebibytes = {};
  for (int round = 0; round < 5; ++round) {
    for (std::size_t way = 0; way < ways.size(); ++way) {
      const Cost one = cost(ways[way]);
      seconds[way].push_back(one.seconds);
      mebibytes[way] = std::max(mebibytes[way], one.mebibytes);
    }
  }
  for (std::vector<double>& of_way : seconds) std::sort(of_way.begin(), of_way.end());
  for (const auto& [name, way] : {std::pair("rows", 1), std::pair("text", 2)}) {
    const auto at = static_cast<std::size_t>(way);
    std::printf("%s: %.3f s, %.0f MiB besides the recording's %.0f\n", name, seconds[at][2],
                mebibytes[at] - mebibytes[0], mebibytes[0]);
  }
  std::printf("text / rows: %.2f times the time, %.2f times the memory\n",
              seconds[2][2] / seconds[1][2],
              (mebibytes[2] - mebibytes[0]) / (mebibytes[1] - mebibytes[0]));
}
