// A benchmark for people, as JSON, and as pytorch-benchmark's YAML.
#include <array>
#include <cstdio>
#include <ostream>
#include <utility>

#include <tbtrace/benchmark.h>

#include "libtorch/toolbox/layers/figure_sources.h"
#include "wire/json_emitter.h"
#include "wire/json_text.h"
#include "writers/tables/prefixed_number.h"
#include "writers/tables/shown_cell.h"

namespace tbtrace {
namespace {

std::string time_text(double ns) {
  std::array<char, 32> text{};
  const double s = ns * 1e-9;
  const auto [value, unit] = s >= 1      ? std::pair(s, "s")
                             : s >= 1e-3 ? std::pair(s * 1e3, "ms")
                             : s >= 1e-6 ? std::pair(s * 1e6, "us")
                                         : std::pair(ns, "ns");
  std::snprintf(text.data(), text.size(), "%.3f %s", value, unit);
  return text.data();
}

std::string rate_text(double per_s) {
  std::string text = writers::prefixed_number(per_s);
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::string bytes_text(std::uint64_t bytes) {
  return writers::shown_cell("memory_bytes", Cell(bytes));
}

std::string count_text(const std::optional<std::uint64_t>& count) {
  return count ? rate_text(static_cast<double>(*count)) : "not recorded";
}

std::string bytes_text(const std::optional<std::uint64_t>& bytes) {
  return bytes ? bytes_text(*bytes) : "not recorded";
}

std::string fixed(double value, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

class Lines {
 public:
  explicit Lines(std::ostream& out) : out_(out) {}

  void add(const std::string& name, const std::string& value) {
    out_ << "  " << name << std::string(name.size() < kWidth ? kWidth - name.size() : 1, ' ')
         << value << '\n';
  }

  void add_times(const std::string& name, const LatencyStatistics& times) {
    add(name, time_text(times.p50_ns) + " median, " + time_text(times.mean_ns) + " +/- " +
                  time_text(times.std_ns) + " [" + time_text(times.min_ns) + ", " +
                  time_text(times.max_ns) + "]");
    if (times.p90_ns && times.p99_ns) {
      add("", "p90 " + time_text(*times.p90_ns) + ", p99 " + time_text(*times.p99_ns));
    }
  }

 private:
  static constexpr std::size_t kWidth = 24;
  std::ostream& out_;
};

void print_batch(std::ostream& out, const BatchBenchmark& batch, const BenchmarkResult& result) {
  out << "Batch of " << batch.batch_size << '\n';
  Lines lines(out);
  lines.add_times("latency", batch.latency);
  if (batch.device_latency) lines.add_times("on the GPU", *batch.device_latency);
  if (batch.to_device) lines.add_times("copies to the GPU", *batch.to_device);
  if (batch.to_host) lines.add_times("copies to the host", *batch.to_host);
  lines.add("throughput",
            rate_text(batch.throughput_per_s) + " samples/s" +
                (batch.tokens_per_s ? ", " + rate_text(*batch.tokens_per_s) + " tokens/s" : ""));
  lines.add("MACs, FLOPs", count_text(batch.macs) + ", " + count_text(batch.flops));
  lines.add("  of a training step", batch.training_macs ? count_text(batch.training_macs) + ", " +
                                                              count_text(batch.training_flops)
                                                        : "not recorded");
  if (batch.flops_per_s) {
    lines.add("rate", writers::prefixed_number(*batch.flops_per_s) + "FLOP/s");
  }
  lines.add("MFU", batch.mfu ? fixed(100 * *batch.mfu, 1) + " %" : "not recorded");
  lines.add("peak memory", bytes_text(batch.peak_memory_bytes));
  lines.add("saved activations", bytes_text(batch.saved_activation_bytes));
  lines.add("energy", batch.energy_j
                          ? fixed(*batch.energy_j, 6) + " J per run, " +
                                fixed(*batch.energy_j / static_cast<double>(batch.batch_size), 6) +
                                " J per sample (" + result.energy_source + ")"
                          : "not recorded");
}

// JSON.

void emit(wire::JsonEmitter& json, std::string_view name, const std::optional<double>& value) {
  json.key(name);
  if (value) {
    json.number(*value);
  } else {
    json.null();
  }
}

void emit(wire::JsonEmitter& json, std::string_view name,
          const std::optional<std::uint64_t>& value) {
  json.key(name);
  if (value) {
    json.integer(*value);
  } else {
    json.null();
  }
}

void emit(wire::JsonEmitter& json, std::string_view name,
          const std::optional<LatencyStatistics>& times) {
  json.key(name);
  if (!times) {
    json.null();
    return;
  }
  json.begin_object();
  json.key("runs");
  json.integer(times->runs);
  for (const auto& [key, value] :
       {std::pair("mean_ns", times->mean_ns), std::pair("std_ns", times->std_ns),
        std::pair("min_ns", times->min_ns), std::pair("max_ns", times->max_ns),
        std::pair("p25_ns", times->p25_ns), std::pair("p50_ns", times->p50_ns),
        std::pair("p75_ns", times->p75_ns)}) {
    json.key(key);
    json.number(value);
  }
  emit(json, "p90_ns", times->p90_ns);
  emit(json, "p99_ns", times->p99_ns);
  json.end_object();
}

void emit_batch(wire::JsonEmitter& json, const BatchBenchmark& batch) {
  json.new_line();
  json.begin_object();
  json.key("batch_size");
  json.integer(batch.batch_size);
  emit(json, "latency", std::optional(batch.latency));
  emit(json, "device_latency", batch.device_latency);
  emit(json, "to_device", batch.to_device);
  emit(json, "to_host", batch.to_host);
  emit(json, "total", batch.total);
  json.key("throughput_per_s");
  json.number(batch.throughput_per_s);
  emit(json, "tokens_per_s", batch.tokens_per_s);
  emit(json, "macs", batch.macs);
  emit(json, "flops", batch.flops);
  emit(json, "training_macs", batch.training_macs);
  emit(json, "training_flops", batch.training_flops);
  json.key("uncounted_calls");
  json.integer(batch.uncounted_calls);
  emit(json, "peak_memory_bytes", batch.peak_memory_bytes);
  emit(json, "saved_activation_bytes", batch.saved_activation_bytes);
  emit(json, "result_bytes", batch.result_bytes);
  emit(json, "flops_per_s", batch.flops_per_s);
  emit(json, "mfu", batch.mfu);
  emit(json, "energy_j", batch.energy_j);
  json.end_object();
}

std::vector<libtorch::FigureSource> sources_of(const BenchmarkResult& result) {
  const auto source = [](bool is_there, std::string_view name, std::string_view how) {
    return libtorch::FigureSource{name, name, is_there ? how : "not recorded", how};
  };
  return {source(result.parameters.has_value(), "parameters", "counted"),
          source(result.macs.has_value(), "operations", "counted"),
          source(result.training_macs.has_value(), "training_operations", "counted"),
          source(result.peak_memory_bytes.has_value(), "memory", "measured"),
          source(true, "times", "measured"),
          source(result.device_latency.has_value(), "device_times", "measured"),
          source(result.to_device.has_value(), "copies", "measured"),
          source(result.mfu.has_value(), "mfu", "estimated"),
          source(result.energy_j.has_value(), "energy", "measured")};
}

// YAML.

class Yaml {
 public:
  void open(std::string_view key) {
    line(key, "");
    ++level_;
  }
  void close() { --level_; }
  /// `value` as it is, such as a number.
  void line(std::string_view key, std::string_view value) {
    text_.append(2 * level_, ' ');
    text_ += key;
    text_ += ':';
    if (!value.empty()) text_ += " " + std::string(value);
    text_ += '\n';
  }
  /// JSON's texts are YAML's.
  void text(std::string_view key, std::string_view value) {
    std::string quoted;
    wire::append_json_string(quoted, value);
    line(key, quoted);
  }
  void number(std::string_view key, double value) {
    std::array<char, 64> digits{};
    std::snprintf(digits.data(), digits.size(), "%.9g", value);
    std::string number = digits.data();
    // Without a point YAML 1.1 takes `1e+06` for a text.
    const std::size_t exponent = number.find('e');
    if (exponent != std::string::npos && number.find('.') == std::string::npos) {
      number.insert(exponent, ".0");
    }
    line(key, number);
  }
  std::string take() { return std::move(text_); }

 private:
  std::size_t level_ = 0;
  std::string text_;
};

void add_times(Yaml& yaml, std::string_view key, const LatencyStatistics& times) {
  yaml.open(key);
  yaml.open("human_readable");
  yaml.text("batch_latency", time_text(times.mean_ns) + " +/- " + time_text(times.std_ns) + " [" +
                                 time_text(times.min_ns) + ", " + time_text(times.max_ns) + "]");
  yaml.text("batches_per_second",
            rate_text(times.per_s_mean) + " +/- " + rate_text(times.per_s_std) + " [" +
                rate_text(times.per_s_min) + ", " + rate_text(times.per_s_max) + "]");
  yaml.close();
  yaml.open("metrics");
  yaml.number("batches_per_second_max", times.per_s_max);
  yaml.number("batches_per_second_mean", times.per_s_mean);
  yaml.number("batches_per_second_min", times.per_s_min);
  yaml.number("batches_per_second_std", times.per_s_std);
  yaml.number("seconds_per_batch_max", times.max_ns * 1e-9);
  yaml.number("seconds_per_batch_mean", times.mean_ns * 1e-9);
  yaml.number("seconds_per_batch_min", times.min_ns * 1e-9);
  yaml.number("seconds_per_batch_std", times.std_ns * 1e-9);
  yaml.number("seconds_per_batch_p50", times.p50_ns * 1e-9);
  if (times.p90_ns) yaml.number("seconds_per_batch_p90", *times.p90_ns * 1e-9);
  if (times.p99_ns) yaml.number("seconds_per_batch_p99", *times.p99_ns * 1e-9);
  yaml.close();
  yaml.close();
}

void add_timing(Yaml& yaml, const BatchBenchmark& batch) {
  yaml.open("batch_size_" + std::to_string(batch.batch_size));
  if (batch.to_device) add_times(yaml, "cpu_to_gpu", *batch.to_device);
  add_times(yaml, "on_device_inference", batch.device_latency.value_or(batch.latency));
  if (batch.to_host) add_times(yaml, "gpu_to_cpu", *batch.to_host);
  add_times(yaml, "total", batch.total.value_or(batch.latency));
  yaml.close();
}

std::vector<const BatchBenchmark*> batches_of(const BenchmarkResult& result) {
  std::vector<const BatchBenchmark*> batches;
  for (const BatchBenchmark& batch : result.smaller) batches.push_back(&batch);
  batches.push_back(&result);
  return batches;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const BenchmarkResult& result) {
  out << "Machine\n";
  Lines lines(out);
  for (const auto& [section, entries] : result.machine) {
    std::string text;
    for (const auto& [name, value] : entries) text += (text.empty() ? "" : ", ") + value;
    lines.add(section, text);
  }
  out << "Model\n";
  lines.add("parameters", count_text(result.parameters));
  if (result.parameters) {
    lines.add("  trainable", count_text(result.trainable_parameters));
    std::string types;
    for (const auto& [type, bytes] : result.bytes_by_type) {
      types += (types.empty() ? "" : ", ") + bytes_text(bytes) + " " + type;
    }
    lines.add("size", types);
  }
  for (const BatchBenchmark* batch : batches_of(result)) print_batch(out, *batch, result);
  out << "Times are measured over " << result.latency.runs << " runs";
  if (!result.peak_source.empty() && result.peak_flops_per_s) {
    out << "; the peak is " << writers::prefixed_number(*result.peak_flops_per_s) << "FLOP/s ("
        << writers::printable(result.peak_source) << ")";
  }
  out << ".\nMACs, FLOPs and parameters are counted; memory is measured in one run.\n";
  for (const std::string& note : result.notes) out << writers::printable(note) << '\n';
  return out;
}

std::string BenchmarkResult::json() const {
  std::string text;
  wire::JsonEmitter json(text);
  json.begin_object();
  json.member("schema", "tbtrace.benchmark/1");
  json.member("device", device);
  emit(json, "parameters", parameters);
  emit(json, "trainable_parameters", trainable_parameters);
  emit(json, "model_bytes", model_bytes);
  json.key("bytes_by_type");
  json.begin_object();
  for (const auto& [type, bytes] : bytes_by_type) {
    json.key(type);
    json.integer(bytes);
  }
  json.end_object();
  json.key("batches");
  json.begin_array();
  for (const BatchBenchmark* batch : batches_of(*this)) emit_batch(json, *batch);
  json.end_array();
  json.key("harness_ns");
  json.number(harness_ns);
  emit(json, "peak_flops_per_s", peak_flops_per_s);
  json.member("peak_source", peak_source);
  json.member("energy_source", energy_source);
  json.key("machine_info");
  json.begin_object();
  for (const auto& [section, entries] : machine) {
    json.key(section);
    json.begin_object();
    for (const auto& [name, value] : entries) json.member(name, value);
    json.end_object();
  }
  json.end_object();
  json.key("sources");
  json.raw(libtorch::sources_json(sources_of(*this)));
  json.key("notes");
  json.begin_array();
  for (const std::string& note : notes) json.text(note);
  json.end_array();
  json.end_object();
  return text + '\n';
}

std::string BenchmarkResult::yaml() const {
  Yaml yaml;
  yaml.line("device", device);
  const auto batches = batches_of(*this);
  if (energy_j) {
    yaml.open("energy");
    for (const BatchBenchmark* batch : batches) {
      if (!batch->energy_j) continue;
      yaml.open("batch_size_" + std::to_string(batch->batch_size));
      yaml.number("joules", *batch->energy_j);
      yaml.number("kWh", *batch->energy_j / 3.6e6);
      yaml.close();
    }
    yaml.close();
  }
  // pytorch-benchmark counts the multiply-adds of one sample and calls them FLOPs.
  if (const auto& one = batches.front()->macs) yaml.line("flops", std::to_string(*one));
  yaml.open("machine_info");
  for (const auto& [section, entries] : machine) {
    yaml.open(section);
    for (const auto& [name, value] : entries) yaml.text(name, value);
    yaml.close();
  }
  yaml.close();
  if (peak_memory_bytes) {
    yaml.open("memory");
    for (const BatchBenchmark* batch : batches) {
      if (!batch->peak_memory_bytes) continue;
      const std::uint64_t before = model_bytes.value_or(0);
      yaml.open("batch_size_" + std::to_string(batch->batch_size));
      yaml.text("max_inference", bytes_text(before + *batch->peak_memory_bytes));
      yaml.line("max_inference_bytes", std::to_string(before + *batch->peak_memory_bytes));
      yaml.text("pre_inference", bytes_text(before));
      yaml.line("pre_inference_bytes", std::to_string(before));
      yaml.close();
    }
    yaml.close();
  }
  // Of what can be trained, as there.
  if (trainable_parameters) yaml.line("params", std::to_string(*trainable_parameters));
  yaml.open("timing");
  for (const BatchBenchmark* batch : batches) add_timing(yaml, *batch);
  yaml.close();
  return yaml.take();
}

}  // namespace tbtrace
