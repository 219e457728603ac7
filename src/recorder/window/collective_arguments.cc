#include "recorder/window/collective_arguments.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace tbtrace::recorder {
namespace {

// The names are those of PyTorch's torch/csrc/profiler/util.h; which of them a kernel has, and
// when, is in Kineto's libkineto/src/output_json.cpp.

void add_text(RowBatch& batch, Argument argument, std::string_view text) {
  batch.argument(argument, batch.text(text));
}

/// The key is Argument's or one that is in no schema.
void add_known(RowBatch& batch, auto key, std::optional<std::int64_t> number) {
  if (number) batch.argument(key, *number);
}

void add_if_any(RowBatch& batch, Argument argument, std::string_view text) {
  if (!text.empty()) add_text(batch, argument, text);
}

void add_group(RowBatch& batch, const Collective& collective) {
  add_if_any(batch, Argument::group_name, collective.group);
  add_if_any(batch, Argument::group_description, collective.group_description);
  if (collective.group_ranks) add_text(batch, Argument::group_ranks, *collective.group_ranks);
}

void add_identity(RowBatch& batch, const Collective& collective) {
  add_known(batch, Argument::collective_sequence, collective.sequence);
  if (collective.id) batch.argument(Argument::communicator, *collective.id);
}

}  // namespace

void add_collective(RowBatch& batch, const Collective& collective) {
  add_text(batch, Argument::collective_name, collective.name);
  add_text(batch, Argument::collective_type, collective.element_type);
  batch.argument(Argument::in_elements, collective.in_elements);
  batch.argument(Argument::out_elements, collective.out_elements);
  add_text(batch, Argument::in_split, collective.in_splits);
  add_text(batch, Argument::out_split, collective.out_splits);
  add_known(batch, "Global rank start", collective.first_rank);
  add_known(batch, "Global rank stride", collective.rank_stride);
  add_known(batch, Argument::group_size, collective.group_size);
  add_group(batch, collective);
  batch.argument("Rank", collective.rank);
  add_known(batch, "Dst Rank", collective.receiver);
  add_known(batch, "Src Rank", collective.sender);
  add_identity(batch, collective);
  if (!collective.is_async) return;
  const bool is_async = *collective.is_async;
  if (collective.has_words) {
    batch.argument_json("Is asynchronized op", is_async ? "true" : "false");
  } else {
    batch.argument("Is asynchronized op", is_async ? 1 : 0);
  }
}

void add_collective_of_kernel(RowBatch& batch, const Collective& collective) {
  add_text(batch, Argument::collective_name, collective.name);
  batch.argument(Argument::in_elements, collective.in_elements);
  batch.argument(Argument::out_elements, collective.out_elements);
  add_known(batch, Argument::group_size, collective.group_size);
  add_text(batch, Argument::collective_type, collective.element_type);
  add_text(batch, Argument::in_split, collective.in_splits);
  add_text(batch, Argument::out_split, collective.out_splits);
  add_group(batch, collective);
  add_known(batch, "Dst Rank", collective.receiver);
  add_known(batch, "Src Rank", collective.sender);
  add_identity(batch, collective);
}

}  // namespace tbtrace::recorder
