#include "recorder/window/collective_lines.h"

namespace tbtrace::recorder {
namespace {

// The names are those of PyTorch's torch/csrc/profiler/util.h; which of them a kernel has, and
// when, is in Kineto's libkineto/src/output_json.cpp.

void add_number(EventLines& lines, std::string_view member, std::int64_t number) {
  lines.add(", \"{}\": {}", member, number);
}

void add_known(EventLines& lines, std::string_view member, std::optional<std::int64_t> number) {
  if (number) add_number(lines, member, *number);
}

void add_if_any(EventLines& lines, std::string_view member, std::string_view text) {
  if (!text.empty()) lines.add_text(member, text);
}

void add_group(EventLines& lines, const Collective& collective) {
  add_if_any(lines, "Process Group Name", collective.group);
  add_if_any(lines, "Process Group Description", collective.group_description);
  if (collective.group_ranks) lines.add_text("Process Group Ranks", *collective.group_ranks);
}

void add_identity(EventLines& lines, const Collective& collective) {
  add_known(lines, "Seq", collective.sequence);
  if (collective.id) lines.add(", \"Comms Id\": {}", *collective.id);
}

}  // namespace

void append_collective(EventLines& lines, const Collective& collective) {
  lines.add_text("Collective name", collective.name);
  lines.add_text("dtype", collective.element_type);
  add_number(lines, "In msg nelems", collective.in_elements);
  add_number(lines, "Out msg nelems", collective.out_elements);
  lines.add_text("In split size", collective.in_splits);
  lines.add_text("Out split size", collective.out_splits);
  add_known(lines, "Global rank start", collective.first_rank);
  add_known(lines, "Global rank stride", collective.rank_stride);
  add_known(lines, "Group size", collective.group_size);
  add_group(lines, collective);
  add_number(lines, "Rank", collective.rank);
  add_known(lines, "Dst Rank", collective.receiver);
  add_known(lines, "Src Rank", collective.sender);
  add_identity(lines, collective);
  if (!collective.is_async) return;
  const bool is_async = *collective.is_async;
  if (collective.has_words) {
    lines.add(", \"Is asynchronized op\": {}", is_async);
  } else {
    add_number(lines, "Is asynchronized op", is_async ? 1 : 0);
  }
}

void append_collective_of_kernel(EventLines& lines, const Collective& collective) {
  lines.add_text("Collective name", collective.name);
  add_number(lines, "In msg nelems", collective.in_elements);
  add_number(lines, "Out msg nelems", collective.out_elements);
  add_known(lines, "Group size", collective.group_size);
  lines.add_text("dtype", collective.element_type);
  lines.add_text("In split size", collective.in_splits);
  lines.add_text("Out split size", collective.out_splits);
  add_group(lines, collective);
  add_known(lines, "Dst Rank", collective.receiver);
  add_known(lines, "Src Rank", collective.sender);
  add_identity(lines, collective);
}

}  // namespace tbtrace::recorder
