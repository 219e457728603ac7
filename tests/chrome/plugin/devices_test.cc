#include "chrome/plugin/devices.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "fixtures/trace_rows.h"

namespace tbtrace::chrome {
namespace {

using fixtures::add;
using fixtures::finished;

/// A kernel on each of these processes, and the file's list of devices.
Trace on_devices(const std::vector<std::int64_t>& processes, std::string_view properties = "") {
  TraceBuilder builder;
  for (const std::int64_t process : processes) {
    add(builder, {.category = "kernel", .name = "k", .thread = 7, .process = process});
  }
  if (!properties.empty()) builder.set_metadata("deviceProperties", properties);
  return finished(builder);
}

/// A stream of a device.
Track on_process(TrackKey process, std::int64_t stream = 7) {
  Track track;
  track.process = process;
  track.thread = {stream, StringId::empty};
  return track;
}

/// The numbers that the processes get, in their order.
std::vector<std::int64_t> numbers(const Devices& devices,
                                  const std::vector<std::int64_t>& processes) {
  std::vector<std::int64_t> numbers;
  for (const std::int64_t process : processes) {
    numbers.push_back(devices.number(on_process({process, StringId::empty})));
  }
  return numbers;
}

using Numbers = std::vector<std::int64_t>;

TEST(Devices, KeepTheNumbersThatTheListHas) {
  const Devices devices(on_devices({0, 1}, R"([{"id": 0, "name": "A"}, {"id": 1, "name": "B"}])"));
  EXPECT_EQ(numbers(devices, {0, 1}), (Numbers{0, 1}));
  EXPECT_EQ(devices.renumbered(), 0u);
  EXPECT_EQ(devices.properties(), R"([{"id": 0, "name": "A"}, {"id": 1, "name": "B"}])");
}

TEST(Devices, KeepTheirNumbersWithoutAList) {
  const Devices devices(on_devices({3, 5}));
  EXPECT_EQ(numbers(devices, {3, 5}), (Numbers{3, 5}));
  EXPECT_EQ(devices.renumbered(), 0u);
  EXPECT_EQ(devices.properties(), "");
}

TEST(Devices, OfRocmGetTheNumbersOfTheList) {
  // Two processors are devices 0 and 1 of the system, so the first GPU is 2.
  const std::string list = R"([{"id": 0, "name": "A"}, {"id": 1, "name": "B"}])";
  const Devices one(on_devices({2}, list));
  EXPECT_EQ(numbers(one, {2}), (Numbers{0}));
  EXPECT_EQ(one.renumbered(), 1u);
  const Devices both(on_devices({2, 3}, list));
  EXPECT_EQ(numbers(both, {2, 3}), (Numbers{0, 1}));
  const Devices mixed(on_devices({0, 9}, list));
  EXPECT_EQ(numbers(mixed, {0, 9}), (Numbers{0, 1}));
  EXPECT_EQ(mixed.renumbered(), 1u);
}

TEST(Devices, BehindTheEndOfTheListMakeItLonger) {
  const Devices devices(on_devices({0, 4}, R"([{"id":0}])"));
  EXPECT_EQ(numbers(devices, {0, 4}), (Numbers{0, 4}));
  EXPECT_EQ(devices.properties(), R"([{"id": 0}, {"id": 1}, {"id": 2}, {"id": 3}, {"id": 4}])");
}

TEST(Devices, StandAtTheirPlaceInTheList) {
  // The plugin takes the place in the list for the number.
  const Devices devices(on_devices({1}, R"([{"id":1,"name":"B"}])"));
  EXPECT_EQ(numbers(devices, {1}), (Numbers{1}));
  EXPECT_EQ(devices.properties(), R"([{"id": 0}, {"id": 1, "name": "B"}])");
  const Devices swapped(on_devices({0, 1}, R"([{"name":"B","id":1},{"name":"A","id":0}])"));
  EXPECT_EQ(swapped.properties(), R"([{"name": "A", "id": 0}, {"name": "B", "id": 1}])");
}

TEST(Devices, WithoutAnIdCountAsTheyStand) {
  const Devices devices(on_devices({1}, R"([{"name":"A"},{"name":"B","x":{"id":7}}])"));
  EXPECT_EQ(numbers(devices, {1}), (Numbers{1}));
  EXPECT_EQ(devices.properties(), R"([{"name": "A"}, {"name": "B", "x": {"id": 7}}])");
}

TEST(Devices, OfAListThatMakesNoSenseAreUnlisted) {
  for (const std::string_view list : {"{\"id\":0}", "[]", "null", "5", "[1,2]", "[[{\"id\":0}]]",
                                      "[{\"id\":NaN}]", "[", "", "\"[{}]\""}) {
    const Devices devices(on_devices({2}, list));
    EXPECT_EQ(numbers(devices, {2}), (Numbers{2})) << list;
    EXPECT_EQ(devices.properties(), "") << list;
  }
}

TEST(Devices, OfAListWithBracketsInItsTexts) {
  const Devices devices(
      on_devices({1}, R"([{"name":"a]},{\"id\":9","id":0},{"id":1,"n":["]","\\"]}])"));
  EXPECT_EQ(devices.properties(),
            R"([{"name": "a]},{\"id\":9", "id": 0}, {"id": 1, "n": ["]", "\\"]}])");
  EXPECT_EQ(numbers(devices, {1}), (Numbers{1}));
}

TEST(Devices, FitIntoTheTablesOfThePlugin) {
  const std::vector<std::int64_t> processes = {-5, 64, 1000, std::int64_t{1} << 60};
  const Devices devices(on_devices(processes));
  Numbers got = numbers(devices, processes);
  for (const std::int64_t number : got) {
    EXPECT_GE(number, 0);
    EXPECT_LT(number, 64);
  }
  std::sort(got.begin(), got.end());
  EXPECT_EQ(std::unique(got.begin(), got.end()), got.end()) << "no two get the same";
  EXPECT_EQ(devices.renumbered(), 4u);
}

TEST(Devices, AreAtMostSixtyFourWhateverTheFileSays) {
  std::vector<std::int64_t> processes;
  for (std::int64_t process = 0; process < 100; ++process) processes.push_back(process);
  const Devices devices(on_devices(processes, R"([{"id":5000000000},{"id":-1}])"));
  for (const std::int64_t number : numbers(devices, processes)) {
    EXPECT_GE(number, 0);
    EXPECT_LT(number, 64);
  }
  EXPECT_LT(devices.properties().size(), 2000u);
}

TEST(Devices, WithTheSameIdTwiceStayApart) {
  const Devices devices(on_devices({0}, R"([{"id":0,"n":1},{"id":0,"n":2}])"));
  EXPECT_EQ(devices.properties(), R"([{"id": 0, "n": 1}, {"id": 0, "n": 2}])");
}

TEST(Devices, OfTheLegacyProfilerStandWhereStreamsDo) {
  // Its process is the text `CUDA functions`, and its thread the device.
  TraceBuilder builder;
  const TrackKey process = {0, builder.intern("CUDA functions")};
  for (const std::int64_t device : {0, 3, -2}) {
    EventRow row;
    row.track = builder.track(process, {device, StringId::empty});
    row.category = builder.category(builder.intern("kernel"));
    builder.add_event(row);
  }
  const Devices devices(finished(builder));
  EXPECT_EQ(devices.number(on_process(process, 0)), 0);
  EXPECT_EQ(devices.number(on_process(process, 3)), 3);
  const std::int64_t other = devices.number(on_process(process, -2));
  EXPECT_TRUE(other > 0 && other != 3 && other < 64) << other;
  EXPECT_EQ(devices.renumbered(), 1u);
}

TEST(Devices, OfMemoryAreInTheListToo) {
  TraceBuilder builder;
  add(builder, {.category = "kernel", .name = "k", .process = 0});
  builder.set_metadata("deviceProperties", R"([{"id":0}])");
  for (const std::int16_t device : {std::int16_t{2}, std::int16_t{500}, std::int16_t{-1}}) {
    MemoryRecord record;
    record.device_type = DeviceType::cuda;
    record.device_id = device;
    record.track = fixtures::track(builder, 1, 1);
    builder.add_memory(record);
  }
  const Devices devices(finished(builder));
  EXPECT_EQ(devices.properties(), R"([{"id": 0}, {"id": 1}, {"id": 2}])");
  EXPECT_EQ(devices.memory_number(2), 2);
  EXPECT_EQ(devices.memory_number(500), 1) << "nobody has it";
  EXPECT_EQ(devices.renumbered(), 1u);
  EXPECT_EQ(devices.memory_number(-1), 0);
}

}  // namespace
}  // namespace tbtrace::chrome
