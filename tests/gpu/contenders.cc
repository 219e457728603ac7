#include "contenders.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <torch/csrc/autograd/profiler_kineto.h>
#include <torch/cuda.h>
#include <unistd.h>

namespace gpu_checks {

namespace {

namespace torch_profiler = torch::autograd::profiler;
using torch::profiler::impl::ActivityType;

class Watch {
 public:
  double lap_ms() {
    const double now = now_ms();
    return now - std::exchange(last_, now);
  }

 private:
  double last_ = now_ms();
};

std::string text_json(std::string_view text) {
  std::string json = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') json += '\\';
    json += static_cast<unsigned char>(letter) < ' ' ? ' ' : letter;
  }
  return json + '"';
}

std::string number_json(double value) {
  std::ostringstream text;
  text << std::setprecision(12) << value;
  return text.str();
}

template <typename Values, typename ToText>
std::string list_json(const Values& values, ToText to_text) {
  std::string json = "[";
  for (const auto& value : values) {
    if (json.size() > 1) json += ", ";
    json += to_text(value);
  }
  return json + "]";
}

}  // namespace

double now_ms() {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  return Milliseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  file >> pages >> pages;
  return pages * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

void wait_for_gpu() {
  if (torch::cuda::is_available()) torch::cuda::synchronize();
}

Recorded record_nothing(const Body& body) {
  wait_for_gpu();
  Recorded recorded;
  Watch watch;
  body();
  recorded.body_ms = watch.lap_ms();
  wait_for_gpu();
  recorded.wait_ms = watch.lap_ms();
  return recorded;
}

Recorded record_ours(tbtrace::ProfilerOptions options, const Body& body, const std::string& path) {
  Recorded recorded;
  options.experimental.on_warning = [&](std::string_view sentence) {
    recorded.warnings.emplace_back(sentence);
  };
  wait_for_gpu();
  Watch watch;
  tbtrace::Profiler profiler(std::move(options));
  profiler.start();
  recorded.start_ms = watch.lap_ms();
  body();
  recorded.body_ms = watch.lap_ms();
  wait_for_gpu();
  recorded.wait_ms = watch.lap_ms();
  profiler.stop();
  recorded.stop_ms = watch.lap_ms();
  if (path.empty()) return recorded;
  const tbtrace::Status written = profiler.export_chrome_trace(path);
  if (!written.ok()) throw std::runtime_error(path + ": " + written.message());
  recorded.export_ms = watch.lap_ms();
  return recorded;
}

Recorded record_torchs(bool cpu, const Body& body, const std::string& path) {
  Recorded recorded;
  wait_for_gpu();
  Watch watch;
  TorchProfiler profiler(cpu);
  recorded.start_ms = watch.lap_ms();
  body();
  recorded.body_ms = watch.lap_ms();
  wait_for_gpu();
  recorded.wait_ms = watch.lap_ms();
  recorded.stop_ms = profiler.stop_ms();
  if (!path.empty()) recorded.export_ms = profiler.save_ms(path);
  return recorded;
}

tbtrace::ProfilerOptions both_activities() {
  return {.activities = {tbtrace::Activity::cpu, tbtrace::Activity::cuda}};
}

struct TorchProfiler::Result {
  bool is_running = false;
  std::unique_ptr<torch_profiler::ProfilerResult> result;
};

TorchProfiler::TorchProfiler(bool cpu) : result_(std::make_unique<Result>()) {
  using torch::profiler::impl::ProfilerConfig;
  using torch::profiler::impl::ProfilerState;
  std::set<ActivityType> activities = {ActivityType::CUDA};
  if (cpu) activities.insert(ActivityType::CPU);
  const ProfilerConfig config(ProfilerState::KINETO);
  torch_profiler::prepareProfiler(config, activities);
  torch_profiler::enableProfiler(config, activities);
  result_->is_running = true;
}

TorchProfiler::~TorchProfiler() {
  if (result_->is_running) stop_ms();
}

double TorchProfiler::stop_ms() {
  Watch watch;
  result_->is_running = false;
  result_->result = torch_profiler::disableProfiler();
  return watch.lap_ms();
}

double TorchProfiler::save_ms(const std::string& path) {
  if (result_->is_running) stop_ms();
  Watch watch;
  result_->result->save(path);
  return watch.lap_ms();
}

Scanned scan_trace(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path + " cannot be read");
  Scanned scanned;
  std::string line;  // a member, or a row
  const auto value_of = [&](std::string_view name) -> std::string {
    const std::string key = "\"" + std::string(name) + "\": ";
    return line.starts_with(key) ? line.substr(key.size(), line.rfind(',') - key.size()) : "";
  };
  for (bool is_head = true; std::getline(file, line);) {
    if (!is_head) {
      if (line.find(R"("cat":"kernel")") != std::string::npos) ++scanned.kernels;
      continue;
    }
    is_head = !line.starts_with("\"traceEvents\"");
    scanned.lost += std::atof(value_of("tbtrace_lost_device_records").c_str());
    scanned.untimed += std::atof(value_of("tbtrace_untimed_device_records").c_str());
    scanned.problem += value_of("tbtrace_device_tracing");
  }
  return scanned;
}

void Figures::begin(const std::string& name) {
  json_ += (json_.empty() ? "" : ", ") + text_json(name) + ": ";
}

void Figures::add(const std::string& name, double value) {
  begin(name);
  json_ += number_json(value);
}

void Figures::add(const std::string& name, const std::string& text) {
  begin(name);
  json_ += text_json(text);
}

void Figures::add(const std::string& name, const std::vector<double>& values) {
  begin(name);
  json_ += list_json(values, number_json);
}

void Figures::add(const std::string& name, const std::vector<std::string>& texts) {
  begin(name);
  json_ += list_json(texts, text_json);
}

void Figures::print() const {
  std::cout << '{' << json_ << "}" << std::endl;  // at once: what comes after may break off
}

}  // namespace gpu_checks
