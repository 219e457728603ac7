#include "analyses/attribution/graph_labels.h"

#include <cstdint>
#include <string_view>

#include <gtest/gtest.h>

#include "fixtures/trace_rows.h"

namespace tbtrace::analyses {
namespace {

class GraphLabelsTest : public testing::Test {
 protected:
  EventId kernel(std::int64_t node) {
    const EventId event =
        fixtures::add(builder_, {.category = "kernel", .name = "gemm", .start = 10, .duration = 5});
    if (node >= 0) builder_.add_argument(event, Argument::graph_node_id, node);
    return event;
  }
  EventId labelled(Argument argument, std::string_view text, std::int64_t node = 3) {
    const EventId event = kernel(node);
    builder_.add_argument(event, argument, builder_.intern(text));
    return event;
  }

  TraceBuilder builder_;
};

TEST_F(GraphLabelsTest, AreThoseOfTheGraphsNodes) {
  const EventId attention = labelled(Argument::label, "attention");
  const EventId eager = labelled(Argument::label, "eager", -1);
  const EventId no_node = labelled(Argument::label, "zero", 0);
  const EventId none = kernel(4);
  const Trace trace = fixtures::finished(builder_);
  const GraphLabels labels(trace);
  EXPECT_FALSE(labels.empty());
  EXPECT_EQ(labels.of(attention), "attention");
  EXPECT_EQ(labels.of(eager), "") << "`name` says something else where there is no graph";
  EXPECT_EQ(labels.of(no_node), "");
  EXPECT_EQ(labels.of(none), "");
}

TEST_F(GraphLabelsTest, ANamePrecedesAModule) {
  const EventId module = labelled(Argument::module_label, "layers.0.attention.wq");
  const EventId both = labelled(Argument::module_label, "layers.0");
  builder_.add_argument(both, Argument::label, builder_.intern("mlp"));
  const Trace trace = fixtures::finished(builder_);
  const GraphLabels labels(trace);
  EXPECT_EQ(labels.of(module), "layers.0.attention.wq");
  EXPECT_EQ(labels.of(both), "mlp");
}

TEST_F(GraphLabelsTest, TheInnermostNameOfAnAnnotationCounts) {
  const EventId list =
      labelled(Argument::annotation, R"([{"name": "layer"}, {"name": "mlp", "stream": 61}])");
  const EventId plain = labelled(Argument::annotation, "decode");
  const EventId nameless = labelled(Argument::annotation, R"([{"stream": 61}])");
  const EventId cut = labelled(Argument::annotation, R"([{"name": "mlp)");
  const EventId escaped = labelled(Argument::annotation, R"([{"name": "a\"b"}])");
  const Trace trace = fixtures::finished(builder_);
  const GraphLabels labels(trace);
  EXPECT_EQ(labels.of(list), "mlp");
  EXPECT_EQ(labels.of(plain), "decode");
  EXPECT_EQ(labels.of(nameless), R"([{"stream": 61}])");
  EXPECT_EQ(labels.of(cut), R"([{"name": "mlp)");
  EXPECT_EQ(labels.of(escaped), R"([{"name": "a\"b"}])");
}

TEST_F(GraphLabelsTest, AreNotThereWithoutTheirArguments) {
  const EventId event = kernel(3);
  const Trace trace = fixtures::finished(builder_);
  const GraphLabels labels(trace);
  EXPECT_TRUE(labels.empty());
  EXPECT_EQ(labels.of(event), "");
}

}  // namespace
}  // namespace tbtrace::analyses
