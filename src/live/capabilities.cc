#include <new>
#include <utility>

#include <tbtrace/capabilities.h>
#include <tbtrace/version.h>

#include "cupti/collector.h"
#include "io/archives/library.h"
#include "io/deflater.h"
#include "io/zstd.h"
#include "symbols/addresses/code_places.h"
#include "wire/json_emitter.h"
#include "writers/events/messages.h"
#include "writers/events/png.h"
#include "writers/pictures/canvas.h"

namespace tbtrace {

Capabilities capabilities() {
  const Status drawing = writers::can_draw();
  if (drawing.code() == StatusCode::out_of_memory) throw std::bad_alloc();
  return {.version = version(),
          .gzip_library = io::gzip_library(),
          .zstd = io::knows_zstd(),
          .stack_lines = symbols::knows_lines(),
          .pictures = drawing.ok(),
          .pictures_problem = writers::knows_cairo() ? drawing.message() : std::string(),
          .png_files = writers::has_png_files(),
          .event_files = writers::can_write_events().ok()};
}

DeviceTracing Capabilities::device_tracing() {
  const Result<cupti::Collector*> collector = cupti::process_collector();
  if (!collector.ok()) return {.problem = collector.status().message()};
  const cupti::CuptiLibrary& cupti = (*collector)->cupti();
  const cupti::DriverLibrary& driver = (*collector)->driver();
  DeviceTracing found{.driver = cupti::cuda_version_text(driver.version()),
                      .cupti = cupti::cupti_version_text(cupti.version),
                      .cupti_path = cupti.path};
  for (const auto& device : driver.devices()) found.devices.push_back(device.name);
  const Status status = (*collector)->check();
  found.available = status.ok();
  found.problem = status.message();
  return found;
}

std::string Capabilities::archives_problem() {
  const Status archives = io::libarchive().status();
  if (archives.code() == StatusCode::out_of_memory) throw std::bad_alloc();
  return archives.message();
}

std::string capabilities_json(const Capabilities& capabilities, const DeviceTracing& tracing) {
  const std::string archives_problem = Capabilities::archives_problem();
  std::string text;
  wire::JsonEmitter json(text);
  const auto member = [&](std::string_view key, std::string_view value) {
    json.key(key);
    json.text(value);
  };
  json.begin_object();
  member("schema", "tbtrace.capabilities/1");
  member("version", capabilities.version);
  member("gzip_library", capabilities.gzip_library);
  for (const auto& [key, is_there] : {std::pair{"zstd", capabilities.zstd},
                                      {"archives", archives_problem.empty()},
                                      {"stack_lines", capabilities.stack_lines},
                                      {"pictures", capabilities.pictures},
                                      {"png_files", capabilities.png_files},
                                      {"event_files", capabilities.event_files}}) {
    json.key(key);
    json.boolean(is_there);
  }
  member("archives_problem", archives_problem);
  member("pictures_problem", capabilities.pictures_problem);
  json.key("device_tracing");
  json.begin_object();
  json.key("available");
  json.boolean(tracing.available);
  member("problem", tracing.problem);
  member("driver", tracing.driver);
  member("cupti", tracing.cupti);
  member("cupti_path", tracing.cupti_path);
  json.key("devices");
  json.begin_array();
  for (const std::string& device : tracing.devices) json.text(device);
  json.end_array();
  json.end_object();
  json.end_object();
  return text + "\n";
}

}  // namespace tbtrace
