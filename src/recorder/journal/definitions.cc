#include "recorder/journal/definitions.h"

#include <memory>
#include <utility>

#include "recorder/journal/fields.h"
#include "recorder/journal/framed_records.h"

namespace tbtrace::recorder::journal {

namespace {

template <typename Value>
std::optional<Value> if_whole(const FieldReader& fields, Value value) {
  if (!fields.ok()) return std::nullopt;
  return value;
}

void put(FieldWriter& fields, const ClockSample& sample) {
  fields.put(sample.ticks).put(sample.steady_ns).put(sample.unix_ns);
}
ClockSample read_sample(FieldReader& fields) {
  ClockSample sample;
  sample.ticks = fields.number<std::uint64_t>();
  sample.steady_ns = fields.number<std::int64_t>();
  sample.unix_ns = fields.number<std::int64_t>();
  return sample;
}

void put(FieldWriter& fields, const Collective& collective) {
  const Collective& c = collective;
  fields.put(c.name).put(c.element_type).put(c.in_elements).put(c.out_elements);
  fields.put(c.in_splits).put(c.out_splits).put(c.rank).put(c.first_rank).put(c.rank_stride);
  fields.put(c.group_size).put(c.group).put(c.group_description).put(c.group_ranks);
  fields.put(c.sender).put(c.receiver).put(c.sequence).put(c.id).put(c.is_async).put(c.has_words);
}
Collective read_collective(FieldReader& fields) {
  Collective c;
  c.name = fields.text();
  c.element_type = fields.text();
  c.in_elements = fields.number<std::int64_t>();
  c.out_elements = fields.number<std::int64_t>();
  c.in_splits = fields.text();
  c.out_splits = fields.text();
  c.rank = fields.number<std::int64_t>();
  c.first_rank = fields.maybe_number<std::int64_t>();
  c.rank_stride = fields.maybe_number<std::int64_t>();
  c.group_size = fields.maybe_number<std::int64_t>();
  c.group = fields.text();
  c.group_description = fields.text();
  c.group_ranks = fields.maybe_text();
  c.sender = fields.maybe_number<std::int64_t>();
  c.receiver = fields.maybe_number<std::int64_t>();
  c.sequence = fields.maybe_number<std::int64_t>();
  c.id = fields.maybe_number<std::uint64_t>();
  c.is_async = fields.maybe_number<bool>();
  c.has_words = fields.number<bool>();
  return c;
}

}  // namespace

std::string bytes_of(const WindowStart& start) {
  const RecordingOptions& options = start.options;
  FieldWriter fields;
  fields.put(start.trace_id);
  put(fields, start.started);
  fields.put(start.bytes_at_start);
  fields.put(options.record_shapes).put(options.profile_memory).put(options.with_stack);
  fields.put(options.with_flops).put(options.with_modules);
  fields.put(options.element_types.size());
  for (const std::string& name : options.element_types) fields.put(name);
  fields.put(std::string_view(reinterpret_cast<const char*>(options.element_bytes.data()),
                              options.element_bytes.size()));
  fields.put(options.modules != nullptr);
  if (options.modules != nullptr) fields.put(bytes_of(*options.modules));
  return std::string(fields.bytes());
}

std::optional<WindowDefinition> read_window(std::string_view bytes) {
  FieldReader fields(bytes);
  WindowDefinition window;
  window.trace_id = fields.text();
  window.started = read_sample(fields);
  window.bytes_at_start = fields.number<std::int64_t>();
  RecordingOptions& options = window.options;
  options.record_shapes = fields.number<bool>();
  options.profile_memory = fields.number<bool>();
  options.with_stack = fields.number<bool>();
  options.with_flops = fields.number<bool>();
  options.with_modules = fields.number<bool>();
  for (std::size_t left = fields.count(sizeof(std::uint64_t)); left > 0; --left) {
    options.element_types.push_back(fields.text());
  }
  const std::string sizes = fields.text();
  options.element_bytes.assign(sizes.begin(), sizes.end());
  if (fields.number<bool>()) {
    std::optional<ModuleMap> modules = module_map_of(fields.text());
    if (!modules) return std::nullopt;
    options.modules = std::make_shared<const ModuleMap>(*std::move(modules));
  }
  return if_whole(fields, std::move(window));
}

std::string bytes_of(const ThreadDefinition& thread) {
  FieldWriter fields;
  fields.put(thread.log).put(thread.identity.system_id).put(thread.identity.logical_id);
  fields.put(thread.identity.name).put(thread.began);
  return std::string(fields.bytes());
}

std::optional<ThreadDefinition> read_thread(std::string_view bytes) {
  FieldReader fields(bytes);
  ThreadDefinition thread;
  thread.log = fields.number<std::uint32_t>();
  thread.identity.system_id = fields.number<std::int64_t>();
  thread.identity.logical_id = fields.number<std::uint64_t>();
  thread.identity.name = fields.text();
  thread.began = fields.number<std::uint64_t>();
  return if_whole(fields, std::move(thread));
}

std::string bytes_of_name(std::uint32_t log, NameNumber number, const Name& name) {
  FieldWriter fields;
  fields.put(log).put(static_cast<std::uint32_t>(number)).put(name.text).put(name.overload);
  fields.put(name.collective != nullptr);
  if (name.collective != nullptr) put(fields, *name.collective);
  return std::string(fields.bytes());
}

std::optional<NameDefinition> read_name(std::string_view bytes) {
  FieldReader fields(bytes);
  NameDefinition name;
  name.log = fields.number<std::uint32_t>();
  name.number = fields.number<NameNumber>();
  name.name.text = fields.text();
  name.name.overload = fields.text();
  if (fields.number<bool>()) {
    name.name.collective = std::make_unique<const Collective>(read_collective(fields));
  }
  return if_whole(fields, std::move(name));
}

std::string bytes_of(const MetadataDefinition& metadata) {
  FieldWriter fields;
  fields.put(metadata.key).put(metadata.json);
  return std::string(fields.bytes());
}

std::optional<MetadataDefinition> read_metadata(std::string_view bytes) {
  FieldReader fields(bytes);
  MetadataDefinition metadata;
  metadata.key = fields.text();
  metadata.json = fields.text();
  return if_whole(fields, std::move(metadata));
}

std::string bytes_of(std::span<const KnownTensor> tensors) {
  FieldWriter fields;
  fields.put(tensors.size());
  for (const KnownTensor& tensor : tensors) {
    fields.put(tensor.ticks).put(tensor.address).put(tensor.bytes).put(tensor.is_gradient);
  }
  return std::string(fields.bytes());
}

std::optional<std::vector<KnownTensor>> read_known_tensors(std::string_view bytes) {
  FieldReader fields(bytes);
  std::vector<KnownTensor> tensors(fields.count(4 * sizeof(std::uint64_t)));
  for (KnownTensor& tensor : tensors) {
    tensor.ticks = fields.number<std::uint64_t>();
    tensor.address = fields.number<std::uint64_t>();
    tensor.bytes = fields.number<std::uint64_t>();
    tensor.is_gradient = fields.number<bool>();
  }
  return if_whole(fields, std::move(tensors));
}

std::string bytes_of(const AddressMap& addresses) {
  FieldWriter fields;
  fields.put(addresses.files().size());
  for (const MappedFile& file : addresses.files()) {
    fields.put(file.begin).put(file.end).put(file.offset).put(file.path);
  }
  return std::string(fields.bytes());
}

std::optional<AddressMap> read_addresses(std::string_view bytes) {
  FieldReader fields(bytes);
  std::vector<MappedFile> files(fields.count(4 * sizeof(std::uint64_t)));
  for (MappedFile& file : files) {
    file.begin = fields.number<std::uint64_t>();
    file.end = fields.number<std::uint64_t>();
    file.offset = fields.number<std::uint64_t>();
    file.path = fields.text();
  }
  return if_whole(fields, AddressMap(std::move(files)));
}

std::string bytes_of(const CloseDefinition& close) {
  FieldWriter fields;
  put(fields, close.ended);
  fields.put(close.lost);
  return std::string(fields.bytes());
}

std::optional<CloseDefinition> read_close(std::string_view bytes) {
  FieldReader fields(bytes);
  CloseDefinition close;
  close.ended = read_sample(fields);
  close.lost = fields.number<std::uint64_t>();
  return if_whole(fields, close);
}

bool write_definition(ThreadLog& log, DefinitionKind kind, std::string_view bytes) {
  return write_framed(log, static_cast<std::uint32_t>(kind), {}, bytes);
}

bool read_definitions(const std::uint64_t* words, std::size_t count,
                      const std::function<void(DefinitionKind, std::string_view)>& visit) {
  return for_each_framed(words, count, [&](std::uint32_t kind, std::string_view bytes) {
    visit(static_cast<DefinitionKind>(kind), bytes);
  });
}

}  // namespace tbtrace::recorder::journal
