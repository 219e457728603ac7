// The moment that an option asks for, and the groups.
// Pure functions.
#pragma once

#include <optional>
#include <string_view>

#include <tbtrace/status.h>
#include <tbtrace/tables.h>

#include "snapshots/holders.h"
#include "snapshots/replay.h"

namespace tbtrace::snapshots {

/// complete_options(), and fails for two moments.
Result<OptionValues> checked_options(const TableDescription& table, const OptionValues& given);

struct ChosenMoment {
  std::string_view name;  ///< `peak`, `end`, `oom`, `time`
  Moment moment = 0;
};

/// nullopt for the failed allocation of a device on which none failed. Without a name: the last
/// failed allocation if there is one, else the peak.
std::optional<ChosenMoment> chosen_moment(const DeviceReplay& replay, std::string_view name);

/// The one that options ask for, by its name or by its time.
std::optional<ChosenMoment> chosen_moment(const DeviceReplay& replay, const OptionValues& options);

GroupBy chosen_groups(const OptionValues& options);

/// Nanoseconds from the first entry of the device to the one at a place.
std::int64_t time_ns(const DeviceReplay& replay, std::uint32_t place);
/// The same of the last entry before a moment.
std::int64_t time_of_moment_ns(const DeviceReplay& replay, Moment moment);

}  // namespace tbtrace::snapshots
