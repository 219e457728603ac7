// The fields of Perfetto's messages that are written, by their numbers, and their values.
// Source: protos/perfetto/trace in Perfetto's repository, version 58.
#pragma once

#include <cstdint>

namespace tbtrace::writers::perfetto {

namespace trace {
inline constexpr std::uint32_t kPacket = 1;
}

namespace packet {
inline constexpr std::uint32_t kClockSnapshot = 6;
inline constexpr std::uint32_t kTimestamp = 8;
inline constexpr std::uint32_t kSequenceId = 10;
inline constexpr std::uint32_t kTrackEvent = 11;
inline constexpr std::uint32_t kInternedData = 12;
inline constexpr std::uint32_t kSequenceFlags = 13;
inline constexpr std::uint32_t kTimestampClockId = 58;
inline constexpr std::uint32_t kDefaults = 59;
inline constexpr std::uint32_t kTrackDescriptor = 60;
inline constexpr std::uint64_t kStateCleared = 1;
inline constexpr std::uint64_t kNeedsState = 2;
}  // namespace packet

namespace clock {
inline constexpr std::uint32_t kClocks = 1;  // of ClockSnapshot
inline constexpr std::uint32_t kPrimary = 2;
inline constexpr std::uint32_t kId = 1;  // of Clock
inline constexpr std::uint32_t kTime = 2;
inline constexpr std::uint64_t kRealtime = 1;
inline constexpr std::uint64_t kBoottime = 6;
inline constexpr std::uint64_t kOfSequence = 64;  // the first id that a sequence may define
}  // namespace clock

namespace event {
inline constexpr std::uint32_t kCategoryIid = 3;
inline constexpr std::uint32_t kAnnotation = 4;
inline constexpr std::uint32_t kType = 9;
inline constexpr std::uint32_t kNameIid = 10;
inline constexpr std::uint32_t kTrack = 11;
inline constexpr std::uint32_t kName = 23;
inline constexpr std::uint32_t kCounterValue = 30;
inline constexpr std::uint32_t kDoubleCounterValue = 44;
inline constexpr std::uint32_t kFlow = 47;
inline constexpr std::uint32_t kEndOfFlow = 48;
inline constexpr std::uint64_t kBegin = 1;
inline constexpr std::uint64_t kEnd = 2;
inline constexpr std::uint64_t kInstant = 3;
inline constexpr std::uint64_t kCounter = 4;
}  // namespace event

namespace annotation {
inline constexpr std::uint32_t kNameIid = 1;
inline constexpr std::uint32_t kBool = 2;
inline constexpr std::uint32_t kUint = 3;
inline constexpr std::uint32_t kInt = 4;
inline constexpr std::uint32_t kDouble = 5;
inline constexpr std::uint32_t kElement = 12;
inline constexpr std::uint32_t kTextIid = 17;
}  // namespace annotation

namespace interned {
inline constexpr std::uint32_t kCategory = 1;
inline constexpr std::uint32_t kName = 2;
inline constexpr std::uint32_t kAnnotationName = 3;
inline constexpr std::uint32_t kText = 29;
inline constexpr std::uint32_t kIid = 1;  // of each of them
inline constexpr std::uint32_t kValue = 2;
}  // namespace interned

namespace track {
inline constexpr std::uint32_t kUuid = 1;
inline constexpr std::uint32_t kName = 2;
inline constexpr std::uint32_t kProcess = 3;
inline constexpr std::uint32_t kThread = 4;
inline constexpr std::uint32_t kParent = 5;
inline constexpr std::uint32_t kCounter = 8;
inline constexpr std::uint32_t kChildOrdering = 11;
inline constexpr std::uint32_t kSiblingRank = 12;
inline constexpr std::uint32_t kMerging = 15;
inline constexpr std::uint64_t kExplicitOrder = 3;
inline constexpr std::uint32_t kMergeKey = 17;
inline constexpr std::uint64_t kNoMerging = 2;
inline constexpr std::uint64_t kMergeByKey = 3;
inline constexpr std::uint32_t kPid = 1;  // of ProcessDescriptor and ThreadDescriptor
inline constexpr std::uint32_t kTid = 2;
inline constexpr std::uint32_t kThreadName = 5;
inline constexpr std::uint32_t kProcessName = 6;
inline constexpr std::uint32_t kUnit = 3;  // of CounterDescriptor
inline constexpr std::uint64_t kBytes = 3;
}  // namespace track

}  // namespace tbtrace::writers::perfetto
