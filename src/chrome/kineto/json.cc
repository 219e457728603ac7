#include "chrome/kineto/json.h"

#include "chrome/rows/json_numbers.h"
#include "wire/json_text.h"

namespace tbtrace::chrome {

using chrome::append_integer;
using chrome::append_microseconds;

void append_id(std::string& json, const Trace& trace, const TrackKey& id) {
  if (id.text == StringId::empty) {
    json += id.number_text();
  } else {
    wire::append_json_string(json, trace.string(id.text));
  }
}

void append_place(std::string& json, const Trace& trace, const TrackKey& process,
                  const TrackKey& thread, std::int64_t time_ns) {
  json += ",\"pid\":";
  append_id(json, trace, process);
  json += ",\"tid\":";
  append_id(json, trace, thread);
  json += ",\"ts\":";
  append_microseconds(json, time_ns);
}

void append_label(std::string& json, const Trace& trace, std::string_view what,
                  const TrackKey& process, const TrackKey& thread, std::string_view name) {
  json += R"({"ph":"M","name":")";
  json += what;
  json += '"';
  append_place(json, trace, process, thread, trace.first_time_ns());
  json += R"(,"args":{"name":)";
  wire::append_json_string(json, name);
  json += "}},\n";
}

void append_flow_start(std::string& json, bool start, std::string_view name, std::int64_t id) {
  json += start ? R"({"ph":"s","cat":")" : R"({"ph":"f","bp":"e","cat":")";
  json += name;
  json += R"(","name":")";
  json += name;
  json += R"(","id":)";
  append_integer(json, id);
}

}  // namespace tbtrace::chrome
