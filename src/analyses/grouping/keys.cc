#include "analyses/grouping/keys.h"

#include <cstring>
#include <limits>
#include <utility>

#include "analyses/attribution/forward_operators.h"
#include "analyses/attribution/own_lines.h"
#include "analyses/grouping/stacks.h"
#include "analyses/torch/names.h"
#include "base/hash.h"
#include "report/group_columns.h"
#include "trace/input_lists.h"
#include "trace/links.h"
#include "trace/track_keys.h"

namespace tbtrace::analyses {
namespace {

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();  // no value
constexpr std::size_t kAllFrames = std::numeric_limits<std::size_t>::max();

std::size_t place(GroupKey key) { return static_cast<std::size_t>(key); }

bool needs_host_side(GroupKeySet keys) {
  for (const GroupKey key : {GroupKey::shape, GroupKey::stack, GroupKey::module, GroupKey::line,
                             GroupKey::thread, GroupKey::step}) {
    if (keys.has(key)) return true;
  }
  return false;
}

bool is_listed(EventKind kind) {
  return kind == EventKind::cpu_op || kind == EventKind::user_annotation ||
         kind == EventKind::python_function;
}

void append(std::string& bytes, std::string_view text) {
  bytes += std::to_string(text.size()) + ':';
  bytes += text;
}

/// A length before each text, so that texts with any bytes cannot be taken for others.
std::string bytes_of(const GroupValues& values) {
  std::string bytes;
  for (const GroupKey key : report::kGroupColumns) {
    if (key == GroupKey::stack) {
      bytes += std::to_string(values.stack.size()) + '/';
      for (const std::string& frame : values.stack) append(bytes, frame);
      continue;
    }
    const Cell cell = report::group_cell(values, key);
    bytes += std::holds_alternative<std::monostate>(cell) ? '-' : '+';
    append(bytes, report::group_text(values, key));
  }
  return bytes;
}

}  // namespace

ArgumentSet group_key_arguments(GroupKeySet keys) {
  ArgumentSet arguments;
  if (keys.has(GroupKey::shape)) arguments = arguments | ArgumentSet{ArgumentGroup::inputs};
  if (keys.has(GroupKey::stack) || keys.has(GroupKey::line)) {
    arguments = arguments | ArgumentSet{ArgumentGroup::call_stacks};
  }
  if (keys.has(GroupKey::line)) {
    arguments = arguments | ArgumentSet{ArgumentGroup::autograd, ArgumentGroup::python};
  }
  return arguments;
}

std::size_t GroupKeys::Hash::operator()(const Parts& parts) const {
  std::array<char, sizeof(Parts)> bytes;
  std::memcpy(bytes.data(), parts.data(), bytes.size());
  return hash_bytes({bytes.data(), bytes.size()}, kProcessSeed.value);
}

GroupKeys::GroupKeys(const Trace& trace, GroupKeySet keys)
    : trace_(trace), keys_(keys), rank_(trace.identity().rank), missing_(trace, keys) {
  if (needs_host_side(keys)) context_ = std::make_unique<AnalysisContext>(trace);
  if (keys.has(GroupKey::line)) {
    lines_ = std::make_unique<OwnLines>(trace, ForwardOperators(trace));
  }
  if (keys.has(GroupKey::stack)) {
    names_ = std::make_unique<TorchNames>(trace);
    stacks_ = std::make_unique<StackGroups>(trace, *names_, kAllFrames, StackSource::either);
  }
}

GroupKeys::~GroupKeys() = default;

std::uint32_t GroupKeys::of(EventId event) {
  const Parts parts = parts_of(event);
  const auto [found, is_new] =
      numbers_.try_emplace(parts, static_cast<std::uint32_t>(values_.size()));
  if (is_new) {
    values_.push_back(std::make_shared<const GroupValues>(values_of(parts)));
    bytes_.push_back(bytes_of(*values_.back()));
  }
  missing_.count(*values_[found->second]);
  return found->second;
}

GroupKeys::Parts GroupKeys::parts_of(EventId event) {
  Parts parts;
  parts.fill(kNone);
  const auto set = [&](GroupKey key, std::int64_t value) { parts[place(key)] = value; };
  if (keys_.has(GroupKey::rank) && rank_) set(GroupKey::rank, *rank_);
  if (event == EventId::none) return parts;

  const TrackId track = trace_.events().track(event);
  if (is_device_work(trace_.kind(event))) {
    if (report::has_group_column(keys_, GroupKey::device)) {
      set(GroupKey::device, device_number(trace_.track(track)));
    }
    if (keys_.has(GroupKey::stream)) {
      set(GroupKey::stream, number_of(key_text(trace_, trace_.track(track).thread)));
    }
  }
  if (context_ == nullptr) return parts;

  const DeviceLink* const link = context_->device_link(event);
  const EventId op = link == nullptr ? event : link->op;
  EventId host = event;
  if (link != nullptr) host = link->launch != EventId::none ? link->launch : link->op;
  if (keys_.has(GroupKey::shape) && op != EventId::none) {
    const std::string shapes = shapes_of(trace_, inputs_of(trace_, op));
    if (!shapes.empty()) set(GroupKey::shape, number_of(shapes));
  }
  if (keys_.has(GroupKey::stack)) {
    set(GroupKey::stack, number_of_stack(op, host));
  }
  if (keys_.has(GroupKey::module)) {
    const EventId module = context_->module_of(event);
    if (module != EventId::none) set(GroupKey::module, number_of(trace_.name(module)));
  }
  if (keys_.has(GroupKey::line)) {
    const OwnLines::Line line = link != nullptr ? lines_->of_work(*link) : lines_->of(event);
    if (line != 0) set(GroupKey::line, number_of(lines_->text(line)));
  }
  if (keys_.has(GroupKey::thread) && host != EventId::none && is_host_range(trace_.kind(host))) {
    const Track& thread = trace_.track(trace_.events().track(host));
    set(GroupKey::thread, number_of(key_text(trace_, thread.thread)));
  }
  if (keys_.has(GroupKey::step)) {
    if (const Step* const step = context_->step_of(event)) set(GroupKey::step, step->number);
  }
  return parts;
}

std::int64_t GroupKeys::number_of_stack(EventId op, EventId host) {
  std::vector<std::string> frames;
  if (op != EventId::none) {
    frames = stacks_->of(op);
  } else {
    // torch lists no calls of the driver as ranges: what is around the launch has its stack.
    EventId around = context_->parent(host);
    while (around != EventId::none && !is_listed(trace_.kind(around))) {
      around = context_->parent(around);
    }
    if (around != EventId::none) frames = stacks_->inside(around);
  }
  if (frames.empty()) return kNone;
  const auto next = static_cast<std::int64_t>(stack_frames_.size());
  const auto [found, is_new] = stack_numbers_.try_emplace(joined(frames), next);
  if (is_new) stack_frames_.push_back(std::move(frames));
  return found->second;
}

GroupValues GroupKeys::values_of(const Parts& parts) const {
  GroupValues values;
  const auto number = [&](GroupKey key) {
    const std::int64_t part = parts[place(key)];
    return part == kNone ? std::nullopt : std::optional(part);
  };
  const auto text = [&](GroupKey key) -> std::optional<std::string> {
    const auto part = number(key);
    if (!part) return std::nullopt;
    return std::string(texts_[static_cast<std::uint32_t>(*part)]);
  };
  values.input_shapes = text(GroupKey::shape);
  if (const auto stack = number(GroupKey::stack)) {
    values.stack = stack_frames_[static_cast<std::size_t>(*stack)];
  }
  values.module = text(GroupKey::module);
  values.line = text(GroupKey::line);
  values.device = number(GroupKey::device);
  values.stream = text(GroupKey::stream);
  values.thread = text(GroupKey::thread);
  values.rank = number(GroupKey::rank);
  values.step = number(GroupKey::step);
  return values;
}

std::vector<std::string> GroupKeys::notes(std::string_view what) const {
  return missing_.notes(what);
}

}  // namespace tbtrace::analyses
