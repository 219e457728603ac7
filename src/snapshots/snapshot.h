// A snapshot with what is computed of it once.
// Owns its data; immutable.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tbtrace/memory_snapshot.h>

#include "snapshots/data.h"
#include "snapshots/replay.h"

namespace tbtrace {

struct MemorySnapshot::Data {
  snapshots::SnapshotData content;
  std::vector<snapshots::DeviceReplay> devices;  ///< of `content`
  std::string name;                              ///< of the file, without its folder
};

}  // namespace tbtrace
