#include "recorder/log/device_activities.h"

#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace tbtrace::recorder {
namespace {

bool is_same(const DeviceActivity& a, const DeviceActivity& b) {
  return a.start_ticks == b.start_ticks && a.end_ticks == b.end_ticks &&
         a.correlation == b.correlation && a.kind == b.kind && a.place == b.place &&
         a.launch == b.launch && a.transfer.bytes == b.transfer.bytes &&
         a.transfer.peers == b.transfer.peers && a.transfer.copy_kind == b.transfer.copy_kind &&
         a.transfer.from_memory == b.transfer.from_memory &&
         a.transfer.to_memory == b.transfer.to_memory;
}

TEST(DeviceActivities, GiveBackWhatTheyWereGiven) {
  std::mt19937_64 random(3);
  const auto number = [&] { return static_cast<std::uint32_t>(random()) >> random() % 32; };
  std::vector<DeviceActivity> given;
  DeviceActivities activities;
  for (int count = 0; count < 5000; ++count) {
    DeviceActivity activity{.start_ticks = random(),
                            .end_ticks = random(),
                            .correlation = number(),
                            .kind = static_cast<DeviceActivityKind>(random() % 3)};
    // Few places, many of them, and those that differ in one number only.
    if (random() % 3 == 0 && !given.empty()) {
      activity.place = given[random() % given.size()].place;
    } else {
      activity.place = {.graph_node = random() % 2 == 0 ? 0 : random(),
                        .graph = number(),
                        .device = number(),
                        .context = number(),
                        .stream = number(),
                        .channel = number(),
                        .channel_type = static_cast<std::uint8_t>(random())};
    }
    switch (random() % 8) {
      case 0:
        ++activity.place.graph_node;
        break;
      case 1:
        ++activity.place.graph;
        break;
      case 2:
        ++activity.place.device;
        break;
      case 3:
        ++activity.place.context;
        break;
      case 4:
        ++activity.place.stream;
        break;
      case 5:
        ++activity.place.channel;
        break;
      case 6:
        ++activity.place.channel_type;
        break;
      default:
        break;
    }
    if (activity.kind == DeviceActivityKind::kernel) {
      activity.launch = number();
    } else {
      activity.transfer = {.bytes = random(),
                           .peers = number(),
                           .copy_kind = static_cast<std::uint8_t>(random()),
                           .from_memory = static_cast<std::uint8_t>(random()),
                           .to_memory = static_cast<std::uint8_t>(random())};
    }
    given.push_back(activity);
    activities.push_back(activity);
  }
  ASSERT_EQ(activities.size(), given.size());
  for (std::size_t row = 0; row < given.size(); ++row) {
    ASSERT_TRUE(is_same(activities[row], given[row])) << row;
    ASSERT_EQ(activities.correlation(row), given[row].correlation);
    ASSERT_EQ(activities.start_ticks(row), given[row].start_ticks);
  }
}

}  // namespace
}  // namespace tbtrace::recorder
