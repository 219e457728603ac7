#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/capabilities.h>
#include <tbtrace/flame_graph.h>
#include <tbtrace/report.h>
#include <tbtrace/version.h>

#include "symbols/addresses/code_places.h"

namespace tbtrace {
namespace {

__attribute__((noinline)) const void* own_return_address() { return __builtin_return_address(0); }

/// Set where this also runs as on a machine without cairo.
bool cairo_is_hidden() { return std::getenv("TBTRACE_CAIRO_IS_HIDDEN") != nullptr; }

TEST(Capabilities, SayWhichReleaseAndLibraryThereIs) {
  const Capabilities found = capabilities();
  EXPECT_EQ(found.version, version());
  EXPECT_THAT(std::string(found.gzip_library), testing::AnyOf("isa-l", "zlib"));
  EXPECT_EQ(found.gzip_library, TBTRACE_GZIP_LIBRARY);
}

TEST(Capabilities, SayWhatTheBuildHas) {
  const Capabilities found = capabilities();
  EXPECT_EQ(found.pictures, TBTRACE_HAS_PICTURES && !cairo_is_hidden());
  EXPECT_EQ(found.pictures_problem.empty(), !cairo_is_hidden());
  EXPECT_EQ(found.zstd, TBTRACE_HAS_ZSTD);
  EXPECT_EQ(found.png_files, TBTRACE_HAS_PNG_FILES);
  EXPECT_EQ(found.event_files, TBTRACE_HAS_EVENT_FILES);
  const std::string json = capabilities_json(found, {});
  const auto member = [](const std::string& key, bool value) {
    return testing::HasSubstr('"' + key + "\": " + (value ? "true" : "false"));
  };
  EXPECT_THAT(json, member("zstd", found.zstd));
  EXPECT_THAT(json, member("archives", Capabilities::archives_problem().empty()));
  EXPECT_THAT(json, testing::HasSubstr("\"archives_problem\": \""));
  EXPECT_THAT(json, member("pictures", found.pictures));
  EXPECT_THAT(json, member("png_files", found.png_files));
  EXPECT_THAT(json, member("event_files", found.event_files));
  EXPECT_THAT(json, testing::HasSubstr("\"pictures_problem\": \"" + found.pictures_problem + '"'));
}

TEST(Capabilities, LinesAreKnownOnlyIfTheySaySo) {
  const auto places = symbols::code_places(own_return_address());
  ASSERT_FALSE(places.empty());
  if (capabilities().stack_lines) {
    // The function's name is in no table of exported ones.
    EXPECT_THAT(places.back().function, testing::HasSubstr("TestBody"));
  } else {
    EXPECT_EQ(places.front().line, 0);
  }
}

TEST(Capabilities, PicturesAreDrawnOnlyIfTheySaySo) {
  const Result<std::string> png = flame_graph_png(StackTree("ns"), {.width = 200, .scale = 1});
  EXPECT_EQ(png.ok(), capabilities().pictures) << png.status().message();
  if (!png.ok()) {
    EXPECT_EQ(png.status().code(), StatusCode::invalid_argument);
    EXPECT_THAT(png.status().message(),
                testing::HasSubstr(cairo_is_hidden() ? capabilities().pictures_problem
                                                     : "install libcairo2-dev"));
  }
}

}  // namespace
}  // namespace tbtrace
