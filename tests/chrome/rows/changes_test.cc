#include <string_view>

#include <gtest/gtest.h>

#include <tbtrace/convert.h>

namespace tbtrace {
namespace {

TEST(ChangeSentence, IsThereForEveryChange) {
  for (const std::string_view id :
       {"args_left_out", "arrows_left_out", "correlations_renumbered", "devices_left_out",
        "devices_renumbered", "external_ids_renumbered", "launches_added", "ranges_moved_to_lanes",
        "ranges_shortened", "ranges_too_deep", "steps_hidden", "steps_inferred", "steps_moved",
        "texts_repaired", "tracks_renumbered", "values_left_out", "values_quoted",
        "window_marked"}) {
    EXPECT_FALSE(change_sentence(id).empty()) << id;
  }
}

TEST(ChangeSentence, IsEmptyForWhatIsNone) {
  EXPECT_EQ(change_sentence(""), "");
  EXPECT_EQ(change_sentence("ranges"), "");
}

}  // namespace
}  // namespace tbtrace
