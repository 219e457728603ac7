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
    {"args_left_out", "`args` that are not an object, on rows where readers need one"},
    {"arrows_left_out", "arrows whose other end, or whose range, is not in the trace"},
    {"correlations_renumbered", "launches share a correlation or lack one, so all got new ones"},
    {"devices_left_out", "devices after the first 64, of a trace's kernels or of its memory"},
    {"devices_renumbered", "devices above 63, or not in deviceProperties, got other numbers"},
    {"end_arguments_left_out", "arguments of `E` events; the `X` event has those of its `B` event"},
    {"external_ids_renumbered",
     "External ids do not name one operator each, so all operators got new ones"},
    {"launches_added", "work whose operator is known has no launch; one of no length was added"},
    {"ranges_moved_to_lanes", "ranges that cross another one stand on a lane beside their thread"},
    {"ranges_shortened", "ranges end earlier, since rounded times put their ends over another one"},
    {"ranges_too_deep", "operators nested more than 180 deep, which TensorBoard never loads"},
    {"steps_hidden", "steps without a number or a length, which TensorBoard fails at"},
    {"steps_inferred", "annotations that count iterations became steps"},
    {"steps_moved", "steps not above those before them in their run got the next numbers"},
    {"texts_repaired",
     "copied members with half a surrogate pair or no UTF-8; U+FFFD stands there"},
    {"tracks_renumbered", "processes and threads whose ids are no whole numbers from 0 to 2^53"},
    {"values_left_out", "numbers of kernels or memory that are none, which readers fail at"},
    {"values_quoted", "values that are no JSON are kept as text"},
    {"window_marked", "a trace without operators got marks where its window starts and ends"},
});

}  // namespace

std::string_view change_sentence(std::string_view id) {
  const auto* const row =
      std::find_if(kRows.begin(), kRows.end(), [&](const Row& each) { return each.id == id; });
  return row == kRows.end() ? std::string_view() : row->sentence;
}

}  // namespace tbtrace
