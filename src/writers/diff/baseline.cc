// Runs as a small file.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/diff.h>

#include "analyses/changes/rows.h"
#include "base/bounded_sum.h"
#include "io/sink.h"
#include "io/source.h"
#include "wire/json_emitter.h"
#include "wire/json_tree.h"

namespace tbtrace {
namespace {

using wire::JsonTree;
using Kind = wire::JsonTree::Kind;

constexpr std::string_view kSchema = "tbtrace.baseline/1";
/// How each baseline begins.
constexpr std::string_view kStart = R"({"schema": "tbtrace.baseline/)";
constexpr std::size_t kMostBytes = 100'000;
/// Of the uncompressed text of a file that is read.
constexpr std::size_t kMostText = 64'000'000;
constexpr std::array kShares = {0.99, 0.97, 0.95, 0.9, 0.8, 0.65, 0.5};

using Keys = std::set<std::string_view>;

/// The rows with the most time of all runs together, up to a share of it.
Keys kept_keys(std::span<const RunFigures> runs, std::size_t by, double share) {
  std::map<std::string_view, WideInteger> sums;
  WideInteger all = 0;
  for (const RunFigures& run : runs) {
    for (const RunRow& row : run.rows[by]) {
      sums[row.key] += row.ns;
      all += row.ns;
    }
  }
  std::vector<std::pair<std::string_view, WideInteger>> rows(sums.begin(), sums.end());
  std::ranges::stable_sort(rows, std::ranges::greater(),
                           &std::pair<std::string_view, WideInteger>::second);
  Keys kept;
  WideInteger sum = 0;
  for (const auto& [key, ns] : rows) {
    if (static_cast<double>(sum) >= share * static_cast<double>(all)) break;
    kept.insert(key);
    sum += ns;
  }
  return kept;
}

/// All rows that are kept, also those that the run does not have, and the rest as one row.
std::vector<RunRow> reduced(const std::vector<RunRow>& rows, const Keys& kept) {
  std::vector<RunRow> all;
  RunRow rest{std::string(analyses::kRestKey)};
  Keys missing = kept;
  for (const RunRow& row : rows) {
    if (missing.erase(row.key) > 0) {
      all.push_back(row);
    } else {
      add_bounded(rest.ns, row.ns);
      rest.count += row.count;
    }
  }
  for (const std::string_view key : missing) all.push_back({std::string(key)});
  if (rest.ns != 0 || rest.count != 0) all.push_back(std::move(rest));
  std::ranges::sort(all, {}, &RunRow::key);
  return all;
}

void emit_run(wire::JsonEmitter& json, const RunFigures& run,
              const std::array<Keys, kDiffBys>& kept) {
  json.new_line();
  json.begin_object();
  json.member("name", run.name);
  json.key("traces");
  json.integer(run.traces);
  for (const auto& [key, texts] :
       {std::pair("devices", &run.devices), std::pair("options", &run.options)}) {
    json.key(key);
    json.begin_array();
    for (const std::string& text : *texts) json.text(text);
    json.end_array();
  }
  json.key("world_size");
  run.world_size ? json.integer(*run.world_size) : json.null();
  json.key("start_ns");
  run.start_ns ? json.integer(*run.start_ns) : json.null();
  json.key("has_device_work");
  json.boolean(run.has_device_work);
  json.key("has_steps");
  json.boolean(run.has_steps);
  json.key("damaged");
  json.integer(run.damaged);
  json.key("step_ns");
  json.begin_array();
  for (const std::int64_t ns : run.step_ns) json.integer(ns);
  json.end_array();
  json.key("rows");
  json.begin_object();
  for (std::size_t by = 0; by < kDiffBys; ++by) {
    json.key(diff_by_name(static_cast<DiffBy>(by)));
    json.begin_array();
    for (const RunRow& row : reduced(run.rows[by], kept[by])) {
      json.begin_array();
      json.text(row.key);
      json.integer(row.ns);
      json.integer(row.count);
      if (!row.op.empty()) {
        json.text(row.op);
        json.text(row.shapes);
      }
      json.end_array();
    }
    json.end_array();
  }
  json.end_object();
  json.key("quantities");
  json.begin_object();
  for (const RunQuantity& quantity : run.quantities) {
    json.key(quantity.name);
    json.number(quantity.value);
  }
  json.end_object();
  json.end_object();
}

std::string baseline_text(std::span<const RunFigures> runs, double share) {
  std::array<Keys, kDiffBys> kept;
  for (std::size_t by = 0; by < kDiffBys; ++by) kept[by] = kept_keys(runs, by, share);
  std::string text;
  wire::JsonEmitter json(text);
  json.begin_object();
  json.member("schema", kSchema);
  json.key("runs");
  json.begin_array();
  for (const RunFigures& run : runs) emit_run(json, run, kept);
  json.end_array();
  json.end_object();
  text += '\n';
  return text;
}

Status damaged() {
  return {StatusCode::unreadable_input, "is not a whole baseline; write it again"};
}

bool take_texts(const JsonTree& run, std::string_view key, std::vector<std::string>& texts) {
  const JsonTree* const list = run.find(key, Kind::list);
  if (list == nullptr) return false;
  for (const JsonTree& item : list->items) {
    if (item.kind != Kind::text) return false;
    texts.push_back(item.text);
  }
  return true;
}

bool take_flag(const JsonTree& run, std::string_view key, bool& flag) {
  const JsonTree* const found = run.find(key, Kind::flag);
  if (found != nullptr) flag = found->flag;
  return found != nullptr;
}

bool take_count(const JsonTree& run, std::string_view key, std::size_t& count) {
  const JsonTree* const found = run.find(key, Kind::integer);
  if (found == nullptr || found->integer < 0) return false;
  count = static_cast<std::size_t>(found->integer);
  return true;
}

bool take_steps(const JsonTree& tree, RunFigures& run) {
  const JsonTree* const steps = tree.find("step_ns", Kind::list);
  if (steps == nullptr) return false;
  for (const JsonTree& step : steps->items) {
    if (step.kind != Kind::integer || step.integer < 0) return false;
    run.step_ns.push_back(step.integer);
  }
  return true;
}

bool take_row(const JsonTree& item, RunRow& row) {
  const bool has_origin = item.items.size() == 5;
  if (item.kind != Kind::list || (item.items.size() != 3 && !has_origin)) return false;
  const JsonTree& ns = item.items[1];
  const JsonTree& count = item.items[2];
  const bool is_right = item.items[0].kind == Kind::text && ns.kind == Kind::integer &&
                        count.kind == Kind::integer && count.integer >= 0;
  if (!is_right) return false;
  row.key = item.items[0].text;
  row.ns = ns.integer;
  row.count = static_cast<std::uint64_t>(count.integer);
  if (!has_origin) return true;
  row.op = item.items[3].text;
  row.shapes = item.items[4].text;
  return item.items[3].kind == Kind::text && item.items[4].kind == Kind::text;
}

bool take_rows(const JsonTree& tree, RunFigures& run) {
  const JsonTree* const rows = tree.find("rows", Kind::object);
  if (rows == nullptr) return false;
  for (std::size_t by = 0; by < kDiffBys; ++by) {
    const JsonTree* const list = rows->find(diff_by_name(static_cast<DiffBy>(by)), Kind::list);
    if (list == nullptr) return false;
    for (const JsonTree& item : list->items) {
      if (!take_row(item, run.rows[by].emplace_back())) return false;
    }
  }
  return true;
}

bool take_quantities(const JsonTree& tree, RunFigures& run) {
  const JsonTree* const quantities = tree.find("quantities", Kind::object);
  if (quantities == nullptr) return false;
  for (const std::string_view name : kDiffQuantities) {
    const JsonTree* const value = quantities->find(name);
    if (value == nullptr) continue;
    if (value->kind != Kind::integer && value->kind != Kind::real) return false;
    run.quantities.push_back({name, value->real});
  }
  return true;
}

bool take_run(const JsonTree& tree, RunFigures& run) {
  const JsonTree* const name = tree.find("name", Kind::text);
  if (name == nullptr) return false;
  run.name = name->text;
  run.is_reduced = true;
  if (const JsonTree* const size = tree.find("world_size", Kind::integer)) {
    run.world_size = size->integer;
  }
  if (const JsonTree* const start = tree.find("start_ns", Kind::integer)) {
    run.start_ns = start->integer;
  }
  return take_count(tree, "traces", run.traces) && take_count(tree, "damaged", run.damaged) &&
         take_texts(tree, "devices", run.devices) && take_texts(tree, "options", run.options) &&
         take_flag(tree, "has_device_work", run.has_device_work) &&
         take_flag(tree, "has_steps", run.has_steps) && take_steps(tree, run) &&
         take_rows(tree, run) && take_quantities(tree, run);
}

Result<std::unique_ptr<io::ByteSource>> open_content(const std::string& path) {
  Result<std::unique_ptr<io::ByteSource>> file = io::open_file(path);
  if (!file.ok()) return file.status();
  return io::decompressed(*std::move(file));
}

}  // namespace

Result<std::string> baseline_bytes(std::span<const RunFigures> runs) {
  if (runs.empty()) return Status(StatusCode::invalid_argument, "a baseline needs a run");
  for (const double share : kShares) {
    std::string packed;
    const std::unique_ptr<io::ByteSink> sink = io::gzip_sink(io::memory_sink(packed));
    if (Status written = sink->write(baseline_text(runs, share)); !written.ok()) return written;
    if (Status closed = sink->close(); !closed.ok()) return closed;
    if (packed.size() <= kMostBytes) return packed;
  }
  return Status(StatusCode::invalid_argument,
                "the runs do not fit into a baseline of 100 KB; take fewer of them");
}

Status write_baseline(std::span<const RunFigures> runs, const std::string& path, bool overwrite) {
  const Result<std::string> bytes = baseline_bytes(runs);
  return bytes.ok() ? write_text(*bytes, path, overwrite) : bytes.status();
}

Result<std::vector<RunFigures>> parse_baseline(std::string_view bytes) {
  const std::optional<JsonTree> tree = wire::parse_json_tree(bytes);
  if (!tree) return damaged();
  const JsonTree* const schema = tree->find("schema", Kind::text);
  if (schema != nullptr && schema->text != kSchema) {
    return Status(StatusCode::unreadable_input,
                  "is a baseline of another version of tbtrace; write it again");
  }
  const JsonTree* const list = tree->find("runs", Kind::list);
  if (schema == nullptr || list == nullptr || list->items.empty()) return damaged();
  std::vector<RunFigures> runs;
  for (const JsonTree& item : list->items) {
    if (!take_run(item, runs.emplace_back())) return damaged();
  }
  return runs;
}

Result<std::vector<RunFigures>> read_baseline(const std::string& path) {
  Result<std::unique_ptr<io::ByteSource>> source = open_content(path);
  if (!source.ok()) return source.status();
  std::string content;
  std::array<char, std::size_t{64} << 10> buffer;
  while (true) {
    const Result<std::size_t> size = (*source)->read(buffer);
    if (!size.ok()) return size.status();
    if (*size == 0) break;
    content.append(buffer.data(), *size);
    if (content.size() > kMostText) return damaged();
  }
  return parse_baseline(content);
}

Result<bool> is_baseline_file(const std::string& path) {
  Result<std::unique_ptr<io::ByteSource>> source = open_content(path);
  if (!source.ok()) return source.status();
  const Result<std::string> start = io::peek(*source, kStart.size());
  if (!start.ok()) return start.status();
  return *start == kStart;
}

}  // namespace tbtrace
