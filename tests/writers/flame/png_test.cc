// What a picture shows is read back by libpng, pixel by pixel. Which font the machine has must not
// matter, so nothing is said about letters but that they are there.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <png.h>

#include <tbtrace/flame_graph.h>
#include <tbtrace/report.h>

#include "fixtures/hostile_names.h"
#include "fixtures/scratch_folder.h"
#include "fixtures/stack_path.h"
#include "fixtures/whole_file.h"
#include "writers/flame/frame_color.h"
#include "writers/flame/layout.h"

namespace tbtrace {
namespace {

using fixtures::add_path;
using ::testing::HasSubstr;
using writers::FlameBox;
using writers::FlameLayout;

StackTree small_tree() {
  StackTree stacks("ns");
  add_path(stacks, {"main.py(3): main", "aten::mm"}, 7'500'000);
  add_path(stacks, {"main.py(3): main", "cudaLaunchKernel"}, 500'000);
  add_path(stacks, {"main.py(3): main"}, 1'000'000);
  add_path(stacks, {"nn.Module: Linear_0"}, 1'000'000);
  return stacks;
}

StackTree deep_tree(int levels) {
  StackTree stacks("ns");
  StackTree::Node node = StackTree::kRoot;
  for (int depth = 0; depth < levels; ++depth) {
    node = stacks.child(node, stacks.frame_number("recursion"));
  }
  stacks.add(node, 10);
  return stacks;
}

/// The bytes, which there must be.
std::string png_of(const StackTree& stacks, const FlameGraphPngOptions& options = {}) {
  const Result<std::string> png = flame_graph_png(stacks, options);
  EXPECT_TRUE(png.ok()) << png.status().message();
  return png.ok() ? *png : "";
}

/// Width and height, from the header.
std::array<std::uint32_t, 2> size_of(std::string_view png) {
  const auto number = [&](std::size_t at) {
    std::uint32_t value = 0;
    for (const char c : png.substr(at, 4)) value = value << 8 | static_cast<unsigned char>(c);
    return value;
  };
  return {number(16), number(20)};
}

class Pixels {
 public:
  explicit Pixels(std::string_view png) {
    image_.version = PNG_IMAGE_VERSION;
    EXPECT_NE(png_image_begin_read_from_memory(&image_, png.data(), png.size()), 0)
        << image_.message;
    EXPECT_EQ(image_.format, std::uint32_t{PNG_FORMAT_RGB}) << "8 bits, no transparency";
    samples_.resize(PNG_IMAGE_SIZE(image_));
    EXPECT_NE(png_image_finish_read(&image_, nullptr, samples_.data(), 0, nullptr), 0)
        << image_.message;
  }

  int width() const { return static_cast<int>(image_.width); }
  int height() const { return static_cast<int>(image_.height); }

  std::uint32_t rgb(int x, int y) const {
    const std::size_t at =
        3 * (static_cast<std::size_t>(y) * image_.width + static_cast<std::size_t>(x));
    return std::uint32_t{samples_[at]} << 16 | std::uint32_t{samples_[at + 1]} << 8 |
           samples_[at + 2];
  }

  /// How many pixels of a part are as dark as text.
  int dark(int left, int top, int right, int bottom) const {
    int count = 0;
    for (int y = top; y < bottom; ++y) {
      for (int x = left; x < right; ++x) {
        const std::uint32_t pixel = rgb(x, y);
        if ((pixel & 0xff) < 0x70 && (pixel >> 8 & 0xff) < 0x70 && pixel >> 16 < 0x70) ++count;
      }
    }
    return count;
  }

 private:
  png_image image_ = {};
  std::vector<std::uint8_t> samples_;
};

/// A box in pixels, ends excluded. Boxes stand 10 px from each side and from the bottom, a level
/// every 17 px.
struct Part {
  int left, top, right, bottom;
};

Part part_of(const FlameBox& box, const FlameLayout& layout, const Pixels& pixels, int scale) {
  const double unit = (pixels.width() - 20.0 * scale) / static_cast<double>(layout.total);
  const auto across = [&](std::int64_t weight) {
    return static_cast<int>(std::lround(10 * scale + static_cast<double>(weight) * unit));
  };
  const int top = pixels.height() - (10 + 17 * static_cast<int>(box.depth + 1)) * scale;
  return {across(box.start), top, across(box.start + box.total) - 1, top + 16 * scale};
}

std::uint32_t color_of(const FlameBox& box) {
  if (box.depth == 0) return 0xdcdcdc;
  return static_cast<std::uint32_t>(
      std::stoul(writers::frame_color(box.frame).substr(1), nullptr, 16));
}

TEST(FlameGraphPngTest, HasTheSizeThatIsAskedFor) {
  const std::string png = png_of(small_tree());
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  EXPECT_EQ(png.substr(12, 4), "IHDR");
  EXPECT_EQ(size_of(png)[0], 3200u);
  const std::uint32_t height = size_of(png_of(small_tree(), {.width = 300, .scale = 1}))[1];
  for (const int scale : {1, 2, 3, 4}) {
    const auto size = size_of(png_of(small_tree(), {.width = 300, .scale = scale}));
    EXPECT_EQ(size[0], static_cast<unsigned>(300 * scale));
    EXPECT_EQ(size[1], height * static_cast<unsigned>(scale));
  }
}

TEST(FlameGraphPngTest, BoxesStandWhereTheLayoutHasThem) {
  const StackTree stacks = small_tree();
  const FlameLayout layout = writers::flame_graph_layout(stacks, {.width_px = 980});
  ASSERT_EQ(layout.boxes.size(), 5u);
  for (const int scale : {1, 2, 3}) {
    const Pixels pixels(png_of(stacks, {.width = 1000, .scale = scale}));
    for (const FlameBox& box : layout.boxes) {
      const auto [left, top, right, bottom] = part_of(box, layout, pixels, scale);
      const std::uint32_t color = color_of(box);
      // Below the letters, across the whole box, and the corners.
      EXPECT_EQ(pixels.rgb((left + right) / 2, bottom - 1), color) << box.frame;
      EXPECT_EQ(pixels.rgb(left, top), color) << box.frame;
      EXPECT_EQ(pixels.rgb(right - 1, top), color) << box.frame;
      EXPECT_EQ(pixels.rgb(right - 1, bottom - 1), color) << box.frame;
      EXPECT_EQ(pixels.rgb(right, (top + bottom) / 2), 0xffffffu) << box.frame;
      EXPECT_EQ(pixels.rgb((left + right) / 2, bottom), 0xffffffu) << box.frame;
    }
  }
}

TEST(FlameGraphPngTest, WideBoxesHaveTextAndNarrowOnesNone) {
  StackTree stacks("ns");
  add_path(stacks, {"aten::a_name_of_some_length_for_a_wide_box"}, 970);
  add_path(stacks, {"aten::b"}, 9);  // 9 px
  add_path(stacks, {"aten::c"}, 1);  // 1 px
  const FlameLayout layout = writers::flame_graph_layout(stacks, {.width_px = 980});
  ASSERT_EQ(layout.boxes.size(), 4u);
  for (const int scale : {1, 2}) {
    const Pixels pixels(png_of(stacks, {.width = 1000, .scale = scale}));
    const auto dark = [&](std::size_t box) {
      const Part part = part_of(layout.boxes[box], layout, pixels, scale);
      return pixels.dark(part.left, part.top, part.right + 1, part.bottom);
    };
    EXPECT_GT(dark(1), 100);
    EXPECT_EQ(dark(2), 0);
    EXPECT_EQ(dark(3), 0);
  }
}

TEST(FlameGraphPngTest, LabelsStayInTheirBoxes) {
  StackTree stacks("ns");
  std::string marks = "zz";
  for (int mark = 0; mark < 40; ++mark) marks += "\u0301\u0323";  // above and below
  for (int box = 0; box < 40; ++box) {
    add_path(stacks, {std::to_string(box) + "_WWWWWWWWWWWWWWWWWWWWW" + marks, marks}, 10 + box);
  }
  const FlameLayout layout = writers::flame_graph_layout(stacks, {.width_px = 980});
  const Pixels pixels(png_of(stacks, {.width = 1000, .scale = 1}));
  for (const FlameBox& box : layout.boxes) {
    const auto [left, top, right, bottom] = part_of(box, layout, pixels, 1);
    for (int y = top; y < bottom; ++y) {
      EXPECT_EQ(pixels.rgb(left, y), color_of(box));
      EXPECT_EQ(pixels.rgb(right - 1, y), color_of(box));
      EXPECT_EQ(pixels.rgb(right, y), 0xffffffu);
    }
    for (int x = left; x < right; ++x) EXPECT_EQ(pixels.rgb(x, bottom), 0xffffffu);
  }
}

TEST(FlameGraphPngTest, RootBelowOrOnTop) {
  const Pixels flame(png_of(small_tree(), {.width = 400, .scale = 1}));
  const Pixels icicle(png_of(small_tree(), {.width = 400, .scale = 1, .inverted = true}));
  ASSERT_EQ(flame.height(), icicle.height());
  const int lowest = flame.height() - 10 - 17;
  const int third = lowest - 2 * 17;
  EXPECT_EQ(flame.rgb(10, lowest), 0xdcdcdcu);
  EXPECT_NE(flame.rgb(10, third), 0xdcdcdcu);
  EXPECT_NE(icicle.rgb(10, lowest), 0xdcdcdcu);
  EXPECT_EQ(icicle.rgb(10, third), 0xdcdcdcu);
}

TEST(FlameGraphPngTest, TitleAndSubtitleAreThere) {
  const Pixels with(png_of(small_tree(), {.title = "A title", .subtitle = "of a run", .scale = 1}));
  const Pixels without(png_of(small_tree(), {.title = "", .scale = 1}));
  EXPECT_EQ(with.height(), without.height() + 17);
  EXPECT_GT(with.dark(10, 10, 200, 36), 50);
  EXPECT_EQ(without.dark(0, 0, without.width(), 34), 0);
}

// At 200 px a box of 9 px has room for a number at most.
TEST(FlameGraphPngTest, NamesThatDoNotFitStandBelow) {
  EXPECT_EQ(png_of(deep_tree(3)), png_of(deep_tree(3), {.names_below = 10})) << "all names fit";
  StackTree stacks = small_tree();
  const Pixels without(png_of(stacks, {.width = 200, .scale = 1}));
  const Pixels two(png_of(stacks, {.width = 200, .scale = 1, .names_below = 100}));
  const int foot = two.height() - without.height();
  ASSERT_GT(foot, 6);
  ASSERT_EQ((foot - 6) % 17, 0);
  const int names = (foot - 6) / 17;
  EXPECT_LE(names, 4);
  // The boxes stand above, as they were but for their labels.
  const int root = without.height() - 10 - 17;
  for (int level = 0; level < 3; ++level) {
    for (int x = 0; x < 200; ++x) {
      EXPECT_EQ(two.rgb(x, root - 17 * level + 15), without.rgb(x, root - 17 * level + 15));
    }
  }
  // Each name has a box of its frame's colour, and letters behind it.
  std::vector<std::uint32_t> colors;
  for (const FlameBox& box : writers::flame_graph_layout(stacks, {.width_px = 180}).boxes) {
    colors.push_back(color_of(box));
  }
  for (int name = 0; name < names; ++name) {
    const int top = two.height() - 10 - 17 * (names - name);
    EXPECT_THAT(colors, ::testing::Contains(two.rgb(11, top + 2)));
    EXPECT_GT(two.dark(10, top, 30, top + 17), 0) << "a number";
    EXPECT_GT(two.dark(35, top, 190, top + 17), 20) << "a name";
  }
}

TEST(FlameGraphPngTest, OnlyTheWidestFramesHaveNamesBelow) {
  StackTree stacks("ns");
  for (int box = 0; box < 50; ++box) {
    add_path(stacks, {"a_name_too_long_for_its_box_" + std::to_string(box)}, 100 + box);
  }
  const auto height = [&](int names_below) {
    return size_of(png_of(stacks, {.width = 400, .scale = 1, .names_below = names_below}))[1];
  };
  const unsigned none = height(0);
  EXPECT_EQ(height(1), none + 6 + 17);
  EXPECT_EQ(height(10), none + 6 + 10 * 17);
  EXPECT_EQ(height(100), none + 6 + 50 * 17);
  for (const int names_below : {-1, 101}) {
    const Result<std::string> png = flame_graph_png(stacks, {.names_below = names_below});
    ASSERT_FALSE(png.ok());
    EXPECT_EQ(png.status().code(), StatusCode::invalid_argument);
  }
}

TEST(FlameGraphPngTest, NothingToShow) {
  const Pixels pixels(png_of(StackTree("bytes"), {.title = "Empty", .scale = 1}));
  EXPECT_EQ(pixels.width(), 1600);
  EXPECT_LT(pixels.height(), 100);
  EXPECT_GT(pixels.dark(0, 0, pixels.width(), pixels.height()), 50);
}

TEST(FlameGraphPngTest, SamePictureForTheSameStacks) {
  StackTree other("ns");
  add_path(other, {"nn.Module: Linear_0"}, 1'000'000);
  add_path(other, {"main.py(3): main"}, 1'000'000);
  add_path(other, {"main.py(3): main", "cudaLaunchKernel"}, 500'000);
  add_path(other, {"main.py(3): main", "aten::mm"}, 7'000'000);
  add_path(other, {"main.py(3): main", "aten::mm"}, 500'000);
  EXPECT_EQ(png_of(small_tree()), png_of(small_tree()));
  EXPECT_EQ(png_of(small_tree()), png_of(other));
}

TEST(FlameGraphPngTest, DeepTreesAreCut) {
  const StackTree deep = deep_tree(100'000);
  struct Case {
    int width, scale;
  };
  for (const auto [width, scale] : {Case{200, 1}, Case{1600, 2}, Case{4000, 4}}) {
    const std::string png = png_of(deep, {.width = width, .scale = scale});
    const auto [across, down] = size_of(png);
    EXPECT_EQ(across, static_cast<unsigned>(width * scale));
    EXPECT_LE(down, 32'767u);
    EXPECT_LE(std::uint64_t{across} * down, 32'000'000u);
    EXPECT_GT(down, 1'900u);
  }
}

TEST(FlameGraphPngTest, OneLevelTooManyIsSaidInItsPlace) {
  const auto height = [](unsigned levels) {
    return size_of(png_of(deep_tree(static_cast<int>(levels)), {.width = 200, .scale = 1}))[1];
  };
  const unsigned one = height(1);
  const unsigned most = 1 + (32'767 - one) / 17;
  EXPECT_EQ(height(most), one + (most - 1) * 17);
  EXPECT_EQ(height(most + 1), height(most));
  EXPECT_EQ(height(most + 1'000), height(most));
}

TEST(FlameGraphPngTest, HugeWeights) {
  StackTree stacks("ns");
  add_path(stacks, {"aten::a"}, INT64_MAX / 2);
  add_path(stacks, {"aten::b"}, INT64_MAX / 2);
  add_path(stacks, {"aten::c"}, 1);
  const FlameLayout layout = writers::flame_graph_layout(stacks, {.width_px = 980});
  ASSERT_EQ(layout.boxes.size(), 3u);
  const Pixels pixels(png_of(stacks, {.width = 1000, .scale = 1}));
  for (const FlameBox& box : layout.boxes) {
    const Part part = part_of(box, layout, pixels, 1);
    EXPECT_EQ(pixels.rgb((part.left + part.right) / 2, part.bottom - 1), color_of(box));
  }
}

TEST(FlameGraphPngTest, HostileNames) {
  std::vector<std::string> names = {
      std::string("nul \0 and \x01\x1f", 11),
      "\xff\xfe\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80",
      "\xef\xbf\xbe\xef\xbf\xbf\xef\xb7\x90\xf0\x9f\xbf\xbe\xf4\x8f\xbf\xbf",
      "\u202e\u05d0\u0627\u6f22\U0001f525",
      std::string(100'000, 'x'),
      "",
      "line\nbreak\ttab\rreturn",
      "{} {0} %s %n",
  };
  for (const std::string_view name : fixtures::kHostileNames) names.emplace_back(name);
  for (int byte = 0; byte < 256; ++byte) names.emplace_back(3, static_cast<char>(byte));
  StackTree stacks("ns");
  for (const std::string& name : names) {
    add_path(stacks, {name, name}, 1'000'000);
    EXPECT_TRUE(
        flame_graph_png(small_tree(), {.title = name, .subtitle = name, .width = 200}).ok());
  }
  const Pixels pixels(png_of(stacks, {.width = 16'000, .scale = 1}));
  const FlameLayout layout = writers::flame_graph_layout(stacks, {.width_px = 15'980});
  EXPECT_EQ(layout.boxes.size(), 1 + 2 * names.size());
  for (const FlameBox& box : layout.boxes) {
    const Part part = part_of(box, layout, pixels, 1);
    EXPECT_EQ(pixels.rgb((part.left + part.right) / 2, part.bottom - 1), color_of(box));
  }
}

TEST(FlameGraphPngTest, WrongSizesAreRefused) {
  for (const int width : {INT32_MIN, -5, 0, 199, 8'001, 16'000, INT32_MAX}) {
    const Result<std::string> png = flame_graph_png(small_tree(), {.width = width});
    ASSERT_FALSE(png.ok()) << width;
    EXPECT_EQ(png.status().code(), StatusCode::invalid_argument);
    EXPECT_EQ(png.status().message(),
              "a picture at scale 2 is 200 to 8000 px wide, not " + std::to_string(width));
  }
  for (const int scale : {INT32_MIN, -1, 0, 5, INT32_MAX}) {
    const Result<std::string> png = flame_graph_png(small_tree(), {.scale = scale});
    ASSERT_FALSE(png.ok()) << scale;
    EXPECT_EQ(png.status().message(), "a picture's scale is 1 to 4, not " + std::to_string(scale));
  }
}

TEST(FlameGraphPngTest, ThreadsDrawAtOnce) {
  // In a process of its own, as CTest runs it, these are also the first to load a font.
  const StackTree stacks = small_tree();
  std::array<std::vector<std::string>, 4> drawn;
  std::vector<std::thread> threads;
  for (std::vector<std::string>& pictures : drawn) {
    threads.emplace_back([&stacks, &pictures] {
      for (int round = 0; round < 10; ++round) {
        const Result<std::string> png = flame_graph_png(stacks, {.width = 600});
        pictures.push_back(png.ok() ? *png : png.status().message());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string expected = png_of(stacks, {.width = 600});
  for (const std::vector<std::string>& pictures : drawn) {
    for (const std::string& picture : pictures) EXPECT_TRUE(picture == expected);
  }
}

TEST(FlameGraphPngTest, Files) {
  const fixtures::ScratchFolder folder;
  const std::string path = folder.path("flame.png");
  ASSERT_TRUE(write_flame_graph_png(small_tree(), path, {.width = 300}).ok());
  EXPECT_EQ(fixtures::read_whole_file(path), png_of(small_tree(), {.width = 300}));
  EXPECT_EQ(write_flame_graph_png(small_tree(), path).code(), StatusCode::output_exists);
  EXPECT_TRUE(write_flame_graph_png(small_tree(), path, {.width = 400}, true).ok());
  const Status wrong = write_flame_graph_png(small_tree(), folder.path("none.png"), {.width = 1});
  EXPECT_THAT(wrong.message(), HasSubstr("200 to 8000 px wide"));
}

}  // namespace
}  // namespace tbtrace
