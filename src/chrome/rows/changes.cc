#include <algorithm>
#include <array>
#include <string_view>

#include <tbtrace/convert.h>

namespace tbtrace {
namespace {

struct Row {
  std::string_view id;
  std::string_view sentence;
};

constexpr std::array kRows = std::to_array<Row>({
    {"args_left_out", "`args` that are not objects were left out where viewers need an object"},
    {"arrows_left_out",
     "flow events without their other end or without an event to attach to were left out"},
    {"categories_renamed", "categories of 2020 and 2021 got the names that readers know today"},
    {"correlations_renumbered",
     "launches shared a correlation id or had none, so all got new ones"},
    {"devices_left_out", "kernels or memory of devices after the first 64 are not shown"},
    {"devices_renumbered", "devices above 63, or missing from deviceProperties, got other numbers"},
    {"document_rewritten",
     "a byte order mark, an array without its end, or members that are not JSON were written anew"},
    {"end_arguments_left_out",
     "arguments of `E` events were left out; the `X` event has those of its `B` event"},
    {"external_ids_repaired",
     "External ids of launches or kernels that named no or another operator were corrected"},
    {"external_ids_renumbered",
     "External ids did not identify one operator each, so all operators got new ones"},
    {"flows_added", "flow events between launches and their kernels were missing and were added"},
    {"label_times_added", "names of processes and threads got a time, because readers need one"},
    {"launches_added", "kernels with a known operator but no launch got a launch of zero length"},
    {"pairs_joined", "pairs of `B` and `E` events became `X` events"},
    {"ranges_like_memory",
     "ranges with the name and the category of memory records got another category, because "
     "readers would take them for such records"},
    {"ranges_moved_to_lanes",
     "ranges that cross another range were moved to a lane beside their thread"},
    {"ranges_shortened",
     "ranges were shortened, because rounding moved their ends past another range"},
    {"ranges_too_deep",
     "operators nested more than 180 deep are in the Trace view only, because the plugin never "
     "finishes loading them"},
    {"repeated_members_left_out",
     "rows named a key more than once; the last value was kept, as JSON parsers do"},
    {"steps_hidden",
     "steps without a number or a length became annotations, because the plugin fails on them"},
    {"steps_inferred", "annotations that count iterations became steps"},
    {"steps_moved", "steps whose numbers did not increase within their run got the next numbers"},
    {"texts_escaped", "texts that were not valid JSON strings were escaped"},
    {"texts_repaired",
     "half surrogate pairs and invalid UTF-8 in copied texts were replaced by U+FFFD"},
    {"times_repaired", "times that were not JSON numbers were written as numbers"},
    {"tracks_renumbered",
     "process and thread ids that are not whole numbers from 0 to 2^53 were replaced"},
    {"values_left_out",
     "non-numeric kernel or memory values were left out, because viewers reject them"},
    {"values_quoted", "values that are not JSON were kept as text"},
    {"window_marked", "a trace without operators got markers where its recording starts and ends"},
});

}  // namespace

std::string_view change_sentence(std::string_view id) {
  const auto* const row =
      std::find_if(kRows.begin(), kRows.end(), [&](const Row& each) { return each.id == id; });
  return row == kRows.end() ? std::string_view() : row->sentence;
}

}  // namespace tbtrace
