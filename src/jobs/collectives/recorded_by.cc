#include "jobs/collectives/recorded_by.h"

#include <array>

#include "wire/json_tree.h"

namespace tbtrace::jobs {
namespace {

using wire::JsonTree;

/// Versions in traces, as people call what has them.
struct VersionKey {
  std::string_view key;
  std::string_view what;
};
constexpr std::array kVersionKeys = std::to_array<VersionKey>({
    {"torch_version", "torch"},
    {"pytorch_version", "torch"},
    {"cuda_runtime_version", "CUDA"},
    {"cuda_driver_version", "the CUDA driver"},
    {"cupti_version", "CUPTI"},
    {"hip_runtime_version", "HIP"},
    {"hip_driver_version", "the HIP driver"},
});

std::string text_of(const JsonTree& value) {
  switch (value.kind) {
    case JsonTree::Kind::text:
      return value.text;
    case JsonTree::Kind::integer:
      return std::to_string(value.integer);
    default:
      return {};
  }
}

void take_distributed(RecordedBy& by, const JsonTree& value) {
  if (value.kind == JsonTree::Kind::text) {  // some writers store it as a text
    const std::optional<JsonTree> inner = wire::parse_json_tree(value.text);
    if (inner && inner->kind == JsonTree::Kind::object) take_distributed(by, *inner);
    return;
  }
  const auto count = [&](std::string_view key) -> std::optional<std::int64_t> {
    const JsonTree* const found = value.find(key, JsonTree::Kind::integer);
    if (found == nullptr || found->integer < 0) return std::nullopt;
    return found->integer;
  };
  if (!by.rank) by.rank = count("rank");
  if (!by.world_size) by.world_size = count("world_size");
  if (const JsonTree* const backend = value.find("backend")) by.backend = text_of(*backend);
  if (const JsonTree* const nccl = value.find("nccl_version")) {
    if (const std::string text = text_of(*nccl); !text.empty()) by.versions["NCCL"] = text;
  }
}

}  // namespace

void RecordedBy::take_member(std::string_view key, std::string_view json) {
  if (key == "schemaVersion") has_schema = true;
  const std::optional<JsonTree> value = wire::parse_json_tree(json);
  if (!value) return;
  if (key == "baseTimeNanoseconds" && value->kind == JsonTree::Kind::integer) {
    base_ns = value->integer;
  }
  if (key == "distributedInfo") take_distributed(*this, *value);
  for (const VersionKey& version : kVersionKeys) {
    const std::string text = text_of(*value);
    if (key == version.key && !text.empty()) versions[std::string(version.what)] = text;
  }
}

RecordedBy recorded_by(const Trace& trace) {
  RecordedBy by;
  const TraceIdentity identity = trace.identity();
  by.rank = identity.rank;
  by.world_size = identity.world_size;
  for (const auto& [key, json] : trace.metadata()) by.take_member(key, json);
  return by;
}

}  // namespace tbtrace::jobs
