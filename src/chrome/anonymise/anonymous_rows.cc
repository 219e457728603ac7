#include "chrome/anonymise/anonymous_rows.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "analyses/flops/device_peaks.h"
#include "chrome/anonymise/anonymous_kernels.h"
#include "chrome/rows/member_json.h"
#include "trace/categories.h"
#include "wire/json_strict.h"
#include "wire/json_text.h"

namespace tbtrace::chrome {
namespace {

using Kind = AnonymousTexts::Kind;

struct KnownKey {
  std::string_view key;
  Kind kind = Kind::words;
};

/// Keys of arguments that Kineto and torch write, beside those of arguments.h. Source:
/// libkineto/src/MetadataFieldCatalog.h, torch/csrc/profiler.
constexpr auto kKeys = std::to_array<KnownKey>({
    {"stack", Kind::frames},
    {"kernel_file", Kind::frames},
    {"kernel_name"},
    {"kernel_hash"},
    {"kernel_backend"},
    {"kernel_flop"},
    {"kernel_num_gb"},
    {"num_warps"},
    {"num_stages"},
    {"Record function id"},
    {"Global rank start"},
    {"Global rank stride"},
    {"Rank"},
    {"Input Tensors start"},
    {"Output Tensors start"},
    {"Is asynchronized op"},
    {"queued"},
    {"priority"},
    {"channel"},
    {"channel_type"},
    {"wait_on_cuda_event_record_corr_id"},
    {"hsa_queue"},
    {"kind"},
    {"ptr"},
    {"src"},
    {"dst"},
    {"cid"},
    {"kernel"},
    {"sycl queue"},
    {"sycl_node_id"},
    {"sycl_invocation_id"},
    {"source_line_number"},
    {"kernel_id"},
    {"Communicator_id"},
    {"Return_code"},
    {"overhead cost"},
    {"overhead occupancy"},
    {"overhead count"},
    {"sort_index"},
    {"labels"},
    {"uncut_ts"},
    {"uncut_dur"},
    {"DurationNs"},  // of rocprof, as text
});

/// Members of rows that the format has.
constexpr auto kRowKeys = std::to_array<std::string_view>(
    {"s", "bp", "tts", "tdur", "tidelta", "scope", "cname", "bind_id", "id2", "local", "global"});

/// Members of a document whose values stay, word by word. Others may hold anything: a program adds
/// what it wants.
constexpr auto kMembers = std::to_array<std::string_view>({
    "schemaVersion",
    "deviceProperties",
    "distributedInfo",
    "displayTimeUnit",
    "host_name",
    "Framework",
    "ERROR",
    "WARNING",
    "INFO",
    "with_flops",
    "record_shapes",
    "with_stack",
    "with_modules",
    "profile_memory",
    "baseTimeNanoseconds",
    "torch_version",
    "pytorch_version",
    "cuda_runtime_version",
    "cuda_driver_version",
    "cupti_version",
    "hip_runtime_version",
    "hip_driver_version",
    "rocm_version",
    "nccl_version",
    "tbtrace_slice",
    "tbtrace_recovered",
    "tbtrace_repair",
    "tbtrace_merge",
    "tbtrace_device_tracing",
    "tbtrace_dropped_windows",
    "tbtrace_lost_records",
    "tbtrace_lost_device_records",
    "tbtrace_unreadable_chunks",
    "PT_PROFILER_JOB_TIMESTAMP",
});

template <typename Names>
bool has(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::optional<Kind> kind_of_argument(Argument argument, std::string_view key) {
  switch (argument) {
    case Argument::call_stack:
    case Argument::call_from:
      return Kind::frames;
    case Argument::module_hierarchy:
    case Argument::module_path:
    case Argument::module_label:
      return Kind::module;
    case Argument::range_arguments:
      return std::nullopt;  // of any program
    case Argument::none:
      break;
    default:
      return Kind::words;
  }
  const auto* const known = std::ranges::find(kKeys, key, &KnownKey::key);
  return known == kKeys.end() ? std::nullopt : std::optional(known->kind);
}

/// Anything but a number, `true`, `false` and `null`.
bool holds_text(std::string_view json) {
  return json.starts_with('"') || json.starts_with('{') || json.starts_with('[') ||
         is_lost_number(json);
}

/// A value with its texts and keys replaced. `text_of(key, text)` makes what stands in for a text;
/// `key` is that of its object, which may be around an array.
template <typename TextOf>
void append_replaced(std::string& json, std::string_view value, AnonymousTexts& texts,
                     const TextOf& text_of) {
  std::string key;
  std::string strict;
  if (!wire::append_strict_json(strict, value, false)) {
    wire::append_json_string(json, text_of(key, value));
    return;
  }
  std::string_view rest = strict;
  while (!rest.empty()) {
    const std::size_t quote = std::min(rest.find('"'), rest.size());
    json += rest.substr(0, quote);
    rest.remove_prefix(quote);
    if (rest.empty()) return;
    std::size_t end = 1;
    while (rest[end] != '"') end += rest[end] == '\\' ? 2 : 1;
    std::string text;
    wire::append_unescaped(text, rest.substr(1, end - 1));
    if (end + 1 < rest.size() && rest[end + 1] == ':') {
      wire::append_json_string(json, texts.of(text, Kind::words));
      key = std::move(text);
    } else {
      wire::append_json_string(json, text_of(key, text));
    }
    rest.remove_prefix(end + 1);
  }
}

/// Text that is text in JSON; else as the file has it.
std::string text_of(std::string_view json) {
  if (!json.starts_with('"')) return std::string(json);
  std::string text;
  wire::append_unescaped(text, json.substr(1, json.size() - 2));
  return text;
}

/// The name of a device without words that are not public, except those by which its peaks are
/// known. A name whose peaks are not known may not become one whose peaks are.
std::string device_name(std::string_view name, AnonymousTexts& texts) {
  const analyses::DevicePeaks* const peaks = analyses::device_peaks(name);
  if (peaks == nullptr) {
    const std::string& replaced = texts.of(name, Kind::words);
    return analyses::device_peaks(replaced) == nullptr ? replaced : "device";
  }
  const std::size_t start = name.find(peaks->name);
  std::string result = texts.of(name.substr(0, start), Kind::words);
  result += peaks->name;
  result += texts.of(name.substr(start + peaks->name.size()), Kind::words);
  return analyses::device_peaks(result) == peaks ? result : std::string(peaks->name);
}

}  // namespace

std::unique_ptr<readers::BlockSink> AnonymousDocument::make() {
  return std::make_unique<AnonymousRows>(trace(), *this, words_);
}

bool AnonymousDocument::write_member(std::string& json, std::string_view key,
                                     std::string_view value, Changes&) {
  if (!has(kMembers, key)) {
    ++members_left_out_;
    return false;
  }
  wire::append_json_string(json, key);
  json += ": ";
  append_replaced(json, value, texts_, [&](std::string_view inner, std::string_view text) {
    const bool is_name = key == "host_name" || inner == "host" || inner == "source";
    if (is_name) return texts_.whole(text);
    const bool is_device = key == "deviceProperties" && inner == "name";
    return is_device ? device_name(text, texts_) : texts_.of(text, Kind::words);
  });
  return true;
}

void AnonymousRows::begin_row(const CopiedRow& row) {
  EventKind kind = EventKind::other;
  for (const RowMember& member : row.members) {
    if (member.field == EventField::category) kind = meaning_of_category(text_of(member.json)).kind;
  }
  // Other writers than torch say it by the names of processes and threads.
  if (row.range != EventId::none) kind = trace_.kind(row.range);
  is_frame_ = kind == EventKind::python_function;
  is_kernel_ = kind == EventKind::kernel;
}

void AnonymousRows::write_key(const RowMember& member, bool is_known) {
  if (is_known) {
    append_key(text(), member);
    return;
  }
  wire::append_json_string(text(), texts_.of(member.key, Kind::words));
  text() += ':';
}

void AnonymousRows::write_value(std::string_view json, AnonymousTexts::Kind kind) {
  if (holds_text(json)) {
    append_replaced(text(), json, texts_,
                    [&](std::string_view, std::string_view each) { return texts_.of(each, kind); });
  } else {
    append_value(text(), json, changes());
  }
}

/// Numbers stay. What a program says in its own words is left out.
bool AnonymousRows::write_unknown(const RowMember& member) {
  if (holds_text(member.json)) {
    document_.count_left_out(1);
    return false;
  }
  write_key(member, false);
  append_value(text(), member.json, changes());
  return true;
}

bool AnonymousRows::write_member(const RowMember& member) {
  switch (member.field) {
    case EventField::phase:
    case EventField::timestamp:
    case EventField::duration:
      break;
    case EventField::none:
      if (!has(kRowKeys, member.key)) return write_unknown(member);
      break;
    case EventField::category:
      if (is_known_category(text_of(member.json))) return CopiedRows::write_member(member);
      break;
    case EventField::name: {
      const std::string name = text_of(member.json);
      append_key(text(), member);
      wire::append_json_string(
          text(),
          is_kernel_ ? kernel(name) : texts_.of(name, is_frame_ ? Kind::frames : Kind::words));
      return true;
    }
    default:
      break;
  }
  append_key(text(), member);
  write_value(member.json, Kind::words);
  return true;
}

const std::string& AnonymousRows::kernel(const std::string& name) {
  constexpr std::size_t kMost = 10'000;
  if (kernels_.size() > kMost) kernels_.clear();
  const auto [found, is_new] = kernels_.try_emplace(name);
  if (is_new) found->second = anonymous_kernel(name, texts_);
  return found->second;
}

bool AnonymousRows::write_argument(const RowMember& member) {
  const std::optional<Kind> kind = kind_of_argument(member.argument, member.key);
  if (!kind) return write_unknown(member);
  write_key(member, true);
  write_value(member.json, *kind);
  return true;
}

}  // namespace tbtrace::chrome
