#include "snapshots/moments.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/bounded_sum.h"

namespace tbtrace::snapshots {

Result<OptionValues> checked_options(const TableDescription& table, const OptionValues& given) {
  Result<OptionValues> options = complete_options(table, given);
  if (options.ok() && options->whole("at_ns") && !options->text("at").empty()) {
    return Status(StatusCode::invalid_argument, "a moment has a name or a time; give one of them");
  }
  return options;
}

std::optional<ChosenMoment> chosen_moment(const DeviceReplay& replay, std::string_view name) {
  const bool has_failed = !replay.out_of_memory().empty();
  if (name == "oom" && !has_failed) return std::nullopt;
  if (name == "end") return ChosenMoment{"end", replay.end()};
  if (name != "peak" && has_failed) return ChosenMoment{"oom", replay.out_of_memory().back()};
  // Without entries only the end is known.
  if (replay.end() == 0) return ChosenMoment{"end", 0};
  return ChosenMoment{"peak", replay.peak()};
}

std::optional<ChosenMoment> chosen_moment(const DeviceReplay& replay, const OptionValues& options) {
  const std::optional<std::int64_t> at_ns = options.whole("at_ns");
  if (!at_ns) return chosen_moment(replay, options.text("at"));
  Moment moment = replay.end();
  while (moment > 0 && time_ns(replay, moment - 1) > *at_ns) --moment;
  return ChosenMoment{"time", moment};
}

GroupBy chosen_groups(const OptionValues& options) {
  const std::vector<std::string> names = options.texts("by");
  if (names.empty()) return {};
  const auto has = [&](std::string_view name) {
    return std::ranges::find(names, name) != names.end();
  };
  return {.line = has("line"),
          .category = has("category"),
          .stack = has("stack"),
          .size = has("size"),
          .stream = has("stream"),
          .pool = has("pool")};
}

std::int64_t time_ns(const DeviceReplay& replay, std::uint32_t place) {
  if (replay.end() == 0) return 0;
  const Column<std::int64_t>& times = replay.data().entries.time_us;
  constexpr WideInteger kNanoseconds = 1000;
  return bounded((WideInteger{times[replay.row(place)]} - times[replay.row(0)]) * kNanoseconds);
}

std::int64_t time_of_moment_ns(const DeviceReplay& replay, Moment moment) {
  return moment == 0 ? 0 : time_ns(replay, moment - 1);
}

}  // namespace tbtrace::snapshots
