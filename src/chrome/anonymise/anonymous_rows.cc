#include "chrome/anonymise/anonymous_rows.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "analyses/kernels/families.h"
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
});

/// Members of rows that the format has.
constexpr auto kRowKeys = std::to_array<std::string_view>(
    {"s", "bp", "tts", "tdur", "tidelta", "scope", "cname", "bind_id", "id2", "local", "global"});

/// Members of a document whose values stay, word by word. Others may hold anything: a program adds
/// what it wants.
constexpr auto kMembers =
    std::to_array<std::string_view>({"schemaVersion",        "deviceProperties",
                                     "distributedInfo",      "displayTimeUnit",
                                     "with_flops",           "record_shapes",
                                     "with_stack",           "with_modules",
                                     "profile_memory",       "baseTimeNanoseconds",
                                     "cuda_runtime_version", "cuda_driver_version",
                                     "cupti_version",        "hip_runtime_version",
                                     "hip_driver_version",   "rocm_version",
                                     "nccl_version",         "tbtrace_slice",
                                     "tbtrace_recovered",    "tbtrace_repair",
                                     "tbtrace_merge",        "PT_PROFILER_JOB_TIMESTAMP"});

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

/// A value with its texts replaced, in objects the keys as well if `with_keys`.
void append_replaced(std::string& json, std::string_view value, AnonymousTexts& texts, Kind kind,
                     bool with_keys) {
  std::string strict;
  if (!wire::append_strict_json(strict, value, false)) {
    wire::append_json_string(json, texts.of(value, kind));
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
    const bool is_key = end + 1 < rest.size() && rest[end + 1] == ':';
    if (is_key && !with_keys) {
      json += rest.substr(0, end + 1);
    } else {
      std::string text;
      wire::append_unescaped(text, rest.substr(1, end - 1));
      wire::append_json_string(json, texts.of(text, kind));
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

/// A word that a kernel of the family has in its name.
std::string_view word_of(KernelFamily family) {
  switch (family) {
    case KernelFamily::gemm:
      return "gemm";
    case KernelFamily::convolution:
      return "convolution";
    case KernelFamily::attention:
      return "attention";
    case KernelFamily::normalization:
      return "layernorm";
    case KernelFamily::softmax:
      return "softmax";
    case KernelFamily::reduction:
      return "reduce";
    case KernelFamily::elementwise:
      return "elementwise";
    case KernelFamily::copy:
      return "copy";
    case KernelFamily::optimizer:
      return "adam";
    case KernelFamily::embedding:
      return "embedding";
    case KernelFamily::sort:
      return "sort";
    case KernelFamily::random:
      return "dropout";
    case KernelFamily::pooling:
      return "pool";
    case KernelFamily::collective:
      return "nccl";
    case KernelFamily::triton:
      return "triton_";
    default:
      return {};
  }
}

/// The family shows in a name that lost the word that said it.
std::string with_family(std::string_view name, std::string replaced) {
  const KernelFamily family = analyses::kernel_family(name);
  const std::string_view word = word_of(family);
  if (!word.empty() && analyses::kernel_family(replaced) != family) {
    replaced = std::string(word) + "_" + replaced;
  }
  if (analyses::uses_tensor_cores(name) == true && analyses::uses_tensor_cores(replaced) != true) {
    replaced += "_tensorop";
  }
  return replaced;
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
  append_replaced(json, value, texts_, Kind::words, false);
  return true;
}

void AnonymousRows::begin_row(const CopiedRow& row) {
  is_frame_ = false;
  is_kernel_ = false;
  for (const RowMember& member : row.members) {
    if (member.field != EventField::category) continue;
    const EventKind kind = meaning_of_category(text_of(member.json)).kind;
    is_frame_ = kind == EventKind::python_function;
    is_kernel_ = kind == EventKind::kernel;
  }
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
    append_replaced(text(), json, texts_, kind, true);
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
      const std::string& replaced = texts_.of(name, is_frame_ ? Kind::frames : Kind::words);
      append_key(text(), member);
      wire::append_json_string(text(), is_kernel_ ? kernel(name, replaced) : replaced);
      return true;
    }
    default:
      break;
  }
  append_key(text(), member);
  write_value(member.json, Kind::words);
  return true;
}

const std::string& AnonymousRows::kernel(const std::string& name, const std::string& replaced) {
  constexpr std::size_t kMost = 10'000;
  constexpr std::size_t kLongest = 4096;
  if (name.size() > kLongest) return replaced;
  if (kernels_.size() > kMost) kernels_.clear();
  const auto [found, is_new] = kernels_.try_emplace(name);
  if (is_new) found->second = with_family(name, replaced);
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
