#include "report/row_order.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/random_rounds.h"

namespace tbtrace::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::size_t> numbers(const RowOrder& order) {
  std::vector<std::size_t> numbers;
  for (std::size_t place = 0; place < order.size(); ++place) numbers.push_back(order[place]);
  return numbers;
}

std::vector<std::size_t> order(const std::vector<OperatorRow>& rows, std::string_view key) {
  const OperatorRows stored = {.rows = rows, .use_device = {}};
  StoredRows source(stored);
  const Result<RowOrder> sorted = sorted_rows(source, key);
  if (sorted.ok()) return numbers(*sorted);
  ADD_FAILURE() << sorted.status().message();
  return {};
}

/// Three rows; the field that `set` sets is 1, 3, 2.
template <typename Set>
std::vector<OperatorRow> rows_with(Set set) {
  std::vector<OperatorRow> rows(3);
  const int values[] = {1, 3, 2};
  for (std::size_t row = 0; row < 3; ++row) {
    rows[row].count = 1;
    set(rows[row], values[row]);
  }
  return rows;
}

TEST(RowOrder, IsTorchsWithoutAKey) {
  EXPECT_THAT(order(std::vector<OperatorRow>(3), ""), ElementsAre(0, 1, 2));
}

TEST(RowOrder, IsByAnyFieldLargestFirst) {
  const auto by = [](std::string_view key, auto set) { return order(rows_with(set), key); };
  EXPECT_THAT(by("count", [](OperatorRow& r, int v) { r.count = v; }), ElementsAre(1, 2, 0));
  EXPECT_THAT(by("flops", [](OperatorRow& r, int v) { r.flops = static_cast<unsigned>(v); }),
              ElementsAre(1, 2, 0));
  EXPECT_THAT(by("cpu_time", [](OperatorRow& r, int v) { r.cpu_time_total.us = v; }),
              ElementsAre(1, 2, 0));
  EXPECT_THAT(by("cpu_time_total", [](OperatorRow& r, int v) { r.cpu_time_total.us = v; }),
              ElementsAre(1, 2, 0));
  EXPECT_THAT(
      by("self_cpu_time_total", [](OperatorRow& r, int v) { r.self_cpu_time_total.us = v; }),
      ElementsAre(1, 2, 0));
  EXPECT_THAT(by("device_time", [](OperatorRow& r, int v) { r.device_time_total.us = v; }),
              ElementsAre(1, 2, 0));
  EXPECT_THAT(by("device_time_total", [](OperatorRow& r, int v) { r.device_time_total.us = v; }),
              ElementsAre(1, 2, 0));
  EXPECT_THAT(
      by("self_device_time_total", [](OperatorRow& r, int v) { r.self_device_time_total.us = v; }),
      ElementsAre(1, 2, 0));
  EXPECT_THAT(by("cpu_memory_usage", [](OperatorRow& r, int v) { r.cpu_memory_usage_bytes = v; }),
              ElementsAre(1, 2, 0));
  EXPECT_THAT(
      by("self_cpu_memory_usage", [](OperatorRow& r, int v) { r.self_cpu_memory_usage_bytes = v; }),
      ElementsAre(1, 2, 0));
  EXPECT_THAT(
      by("device_memory_usage", [](OperatorRow& r, int v) { r.device_memory_usage_bytes = v; }),
      ElementsAre(1, 2, 0));
  EXPECT_THAT(by("self_device_memory_usage",
                 [](OperatorRow& r, int v) { r.self_device_memory_usage_bytes = v; }),
              ElementsAre(1, 2, 0));
  EXPECT_THAT(by("key", [](OperatorRow& r, int v) { r.key = std::to_string(v); }),
              ElementsAre(1, 2, 0));
}

TEST(RowOrder, DividesAverages) {
  std::vector<OperatorRow> rows(3);
  rows[0].cpu_time_total.us = 9;
  rows[0].count = 9;
  rows[1].cpu_time_total.us = 4;
  rows[1].count = 2;
  rows[2].cpu_time_total.us = 9;  // of no calls
  EXPECT_THAT(order(rows, "cpu_time"), ElementsAre(1, 0, 2));
}

TEST(RowOrder, KeepsEqualRowsAsTheyWere) {
  std::vector<OperatorRow> rows(40);
  for (std::size_t row = 0; row < rows.size(); ++row) rows[row].count = row % 2 == 0 ? 1 : 5;
  const std::vector<std::size_t> sorted = order(rows, "count");
  for (std::size_t row = 0; row < 20; ++row) {
    EXPECT_EQ(sorted[row], 2 * row + 1);
    EXPECT_EQ(sorted[20 + row], 2 * row);
  }
}

TEST(RowOrder, EqualsAStableSortOnRandomRows) {
  std::mt19937 random(5);
  for (int round = 0; round < fixtures::random_rounds(200); ++round) {
    std::vector<OperatorRow> rows(random() % 300);
    for (OperatorRow& row : rows) {
      row.count = static_cast<std::int64_t>(random() % 9);
      row.key = std::string(random() % 3, 'a');
      row.key += std::to_string(random() % 12);
    }
    std::vector<std::size_t> expected(rows.size());
    std::iota(expected.begin(), expected.end(), 0);
    std::vector<std::size_t> by_name = expected;
    std::stable_sort(expected.begin(), expected.end(),
                     [&](std::size_t a, std::size_t b) { return rows[a].count > rows[b].count; });
    std::stable_sort(by_name.begin(), by_name.end(), [&](std::size_t a, std::size_t b) {
      return rows[a].key.compare(rows[b].key) > 0;
    });
    ASSERT_EQ(order(rows, "count"), expected);
    ASSERT_EQ(order(rows, "key"), by_name);
  }
}

TEST(ShownRows, EndAtTheLimitAfterInnerOnesAreLeftOut) {
  OperatorRows rows;
  rows.rows.resize(4);
  rows.rows[3].has_cpu_parent = true;
  StoredRows source(rows);
  const RowOrder order(std::vector<std::size_t>{3, 1, 0, 2});
  const auto shown = [&](std::int64_t limit, bool top) {
    const TableOptions options = {.row_limit = limit, .top_level_events_only = top};
    ShownRows rows_left(source, order, options);
    std::vector<std::size_t> numbers;
    while (const auto number = rows_left.next()) numbers.push_back(*number);
    EXPECT_EQ(rows_left.next(), std::nullopt);
    rows_left.rewind();
    EXPECT_EQ(rows_left.next().has_value(), !numbers.empty());
    return numbers;
  };
  EXPECT_THAT(shown(-1, false), ElementsAre(3, 1, 0, 2));
  EXPECT_THAT(shown(2, false), ElementsAre(3, 1));
  EXPECT_THAT(shown(2, true), ElementsAre(1, 0));
  EXPECT_THAT(shown(0, false), ElementsAre());
  EXPECT_THAT(shown(99, true), ElementsAre(1, 0, 2));
}

TEST(RowOrder, TellsDoublesApartThatAreEqualInNanoseconds) {
  std::vector<OperatorRow> rows(2);
  rows[0].cpu_time_total = {0.3, 300};
  rows[1].cpu_time_total = {0.1 + 0.2, 300};
  EXPECT_THAT(order(rows, "cpu_time_total"), ElementsAre(1, 0));
}

TEST(RowOrder, TakesTheOlderSpellingsOfKeys) {
  EXPECT_EQ(canonical_key("self_cuda_time_total"), "self_device_time_total");
  EXPECT_EQ(canonical_key("xpu_time"), "device_time");
  EXPECT_EQ(canonical_key("privateuse1_memory_usage"), "device_memory_usage");
  EXPECT_EQ(canonical_key("cudacuda"), "devicedevice");
  EXPECT_EQ(canonical_key("cpu_time"), "cpu_time");
}

TEST(RowOrder, NamesTheKeysThatExist) {
  const OperatorRows none;
  StoredRows source(none);
  const auto sorted = sorted_rows(source, "speed");
  ASSERT_FALSE(sorted.ok());
  EXPECT_EQ(sorted.status().code(), StatusCode::invalid_argument);
  EXPECT_THAT(sorted.status().message(), HasSubstr("'speed'"));
  EXPECT_THAT(sorted.status().message(), HasSubstr(" self_cpu_time_total "));
  EXPECT_THAT(sorted.status().message(), HasSubstr(" key "));
}

TEST(DeviceTotal, CountsKernelsButNotOperatorsOrShadows) {
  OperatorRows rows;
  OperatorRow row;
  EXPECT_FALSE(counts_as_device_time(rows, row)) << "the kernels of an operator have rows too";
  row.device_type = DeviceType::cuda;
  EXPECT_TRUE(counts_as_device_time(rows, row));
  row.is_user_annotation = true;
  EXPECT_FALSE(counts_as_device_time(rows, row)) << "an annotation covers its kernels' time again";
  row.is_user_annotation = false;
  row.device_type = DeviceType::hpu;
  EXPECT_FALSE(counts_as_device_time(rows, row));
}

TEST(DeviceTotal, CountsOperatorsWhereThereAreNoRowsOfDevices) {
  OperatorRows rows;
  rows.device_time_on_operators = true;
  EXPECT_TRUE(counts_as_device_time(rows, OperatorRow()));
}

std::vector<std::size_t> shown_of(RowSource& source, const TableOptions& options) {
  const RowOrder order(source.size());
  ShownRows rows(source, order, options);
  std::vector<std::size_t> numbers;
  while (const auto number = rows.next()) numbers.push_back(*number);
  return numbers;
}

TEST(ShownRows, AreTheSelectedOnes) {
  OperatorRows rows;
  const auto add = [&](const char* key, OperatorKind kind) {
    rows.rows.emplace_back();
    rows.rows.back().key = key;
    rows.rows.back().kind = kind;
  };
  add("aten::mm", OperatorKind::op);
  add("gemm", OperatorKind::kernel);
  add("mm", OperatorKind::frame);
  add("aten::mm", OperatorKind::annotation);
  StoredRows source(rows);
  const auto is_mm = [](std::string_view name) { return name.ends_with("mm"); };
  const auto is_aten = [](std::string_view name) { return name.starts_with("aten::"); };
  const auto shown = [&](const TableOptions& options) { return shown_of(source, options); };
  EXPECT_THAT(shown({.accepts_name = is_mm}), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(shown({.accepts_name = is_aten}), ElementsAre(0, 3));
  EXPECT_THAT(shown({.kinds = {OperatorKind::kernel, OperatorKind::op}}), ElementsAre(0, 1));
  EXPECT_THAT(shown({.kinds = {OperatorKind::annotation}, .accepts_name = is_aten}),
              ElementsAre(3));
  EXPECT_THAT(shown({.row_limit = 1, .accepts_name = is_aten}), ElementsAre(0))
      << "the limit is one of selected rows";
  EXPECT_THAT(shown({.kinds = {OperatorKind::other}}), ElementsAre());

  const auto count = [&](const TableOptions& options) {
    const RowCounts counts = RowSelection(source, options).count();
    EXPECT_EQ(counts.all, 4U);
    return counts.selected;
  };
  EXPECT_EQ(count({}), 4U);
  EXPECT_EQ(count({.row_limit = 1}), 4U);
  EXPECT_EQ(count({.row_limit = 1, .accepts_name = is_aten}), 2U);
}

/// More names than the selection remembers, and two names that begin at the same place.
TEST(ShownRows, AreSelectedByTheWholeNameHoweverManyThereAre) {
  OperatorRows rows;
  for (int row = 0; row < 5000; ++row) {
    rows.rows.emplace_back();
    rows.rows.back().key =
        "a long name of an operator, not in the row itself " + std::to_string(row % 2000);
  }
  const std::string both = "ab";
  class Prefixes final : public RowSource {
   public:
    explicit Prefixes(const OperatorRows& rows, std::string_view text) : rows_(rows), text_(text) {}
    const OperatorRows& facts() const override { return rows_; }
    std::size_t size() const override { return 3 * rows_.rows.size(); }
    const OperatorRow& row(std::size_t number) override { return rows_.rows[number / 3]; }
    std::string_view key(std::size_t number) override {
      return number % 3 == 0 ? row(number).key : text_.substr(0, number % 3);
    }

   private:
    const OperatorRows& rows_;
    std::string_view text_;
  };
  Prefixes source(rows, both);
  const auto accepts = [](std::string_view name) { return name.ends_with('7') || name == "ab"; };
  std::vector<std::size_t> expected;
  for (std::size_t number = 0; number < source.size(); ++number) {
    if (accepts(source.key(number))) expected.push_back(number);
  }
  EXPECT_EQ(shown_of(source, {.row_limit = -1, .accepts_name = accepts}), expected);
}

}  // namespace
}  // namespace tbtrace::report
