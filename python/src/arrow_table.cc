#include "arrow_table.h"

#include <cerrno>
#include <cstring>
#include <new>

#include <tbtrace/tables.h>

#include "base/utf8.h"

namespace tbtrace::python {
namespace {

/// What an exported schema or array points to.
template <typename Exported>
struct Parts {
  Parts() = default;
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  /// Releases the children, except those that a consumer has moved away.
  ~Parts() {
    for (Exported& child : children) release_one(child);
    release_one(dictionary);
  }

  std::shared_ptr<const ArrowTable> table;
  std::string metadata;
  std::vector<const void*> buffers;
  std::vector<Exported> children;
  std::vector<Exported*> places;
  Exported dictionary = {};

 private:
  static void release_one(Exported& exported) {
    if (exported.release != nullptr) exported.release(&exported);
  }
};

struct StreamParts {
  std::shared_ptr<const ArrowTable> table;
  bool is_read = false;
};

/// Makes `out` own its parts.
template <typename Exported>
void finish(Exported& out, std::unique_ptr<Parts<Exported>> parts) {
  for (Exported& child : parts->children) parts->places.push_back(&child);
  out.n_children = static_cast<std::int64_t>(parts->children.size());
  out.children = parts->places.data();
  if (parts->dictionary.release != nullptr) out.dictionary = &parts->dictionary;
  out.release = [](Exported* exported) {
    exported->release = nullptr;
    delete static_cast<Parts<Exported>*>(exported->private_data);
  };
  out.private_data = parts.release();
}

/// Arrow's coding of one key with its value: numbers and sizes as native int32.
std::string coded_metadata(std::string_view key, std::string_view value) {
  std::string coded;
  const auto add_number = [&](std::size_t number) {
    const auto narrow = static_cast<std::int32_t>(number);
    char bytes[sizeof narrow];
    std::memcpy(bytes, &narrow, sizeof narrow);
    coded.append(bytes, sizeof narrow);
  };
  add_number(1);
  add_number(key.size());
  coded += key;
  add_number(value.size());
  coded += value;
  return coded;
}

void export_column_schema(const std::shared_ptr<const ArrowTable>& table, const ArrowColumn& column,
                          ArrowSchema& out) {
  auto parts = std::make_unique<Parts<ArrowSchema>>();
  parts->table = table;
  out = {.format = column.format.c_str(), .name = column.name.c_str(), .flags = kArrowNullable};
  const std::string_view unit = ColumnDescription{.name = column.name}.unit();
  if (!unit.empty()) {
    parts->metadata = coded_metadata("unit", unit);
    out.metadata = parts->metadata.data();
  }
  parts->children.resize(column.children.size());
  for (std::size_t child = 0; child < column.children.size(); ++child) {
    export_column_schema(table, column.children[child], parts->children[child]);
  }
  if (column.dictionary) export_column_schema(table, *column.dictionary, parts->dictionary);
  finish(out, std::move(parts));
}

void export_column(const std::shared_ptr<const ArrowTable>& table, const ArrowColumn& column,
                   ArrowArray& out) {
  auto parts = std::make_unique<Parts<ArrowArray>>();
  parts->table = table;
  for (const ArrowBuffer& buffer : column.buffers) parts->buffers.push_back(buffer.data);
  out = {.length = column.rows,
         .null_count = column.nulls,
         .offset = column.offset,
         .n_buffers = static_cast<std::int64_t>(parts->buffers.size()),
         .buffers = parts->buffers.data()};
  parts->children.resize(column.children.size());
  for (std::size_t child = 0; child < column.children.size(); ++child) {
    export_column(table, column.children[child], parts->children[child]);
  }
  if (column.dictionary) export_column(table, *column.dictionary, parts->dictionary);
  finish(out, std::move(parts));
}

void export_batch(const std::shared_ptr<const ArrowTable>& table, ArrowArray& out) {
  auto parts = std::make_unique<Parts<ArrowArray>>();
  parts->table = table;
  parts->buffers.push_back(nullptr);  // no row is null
  out = {.length = table->rows, .n_buffers = 1, .buffers = parts->buffers.data()};
  parts->children.resize(table->columns.size());
  for (std::size_t column = 0; column < table->columns.size(); ++column) {
    export_column(table, table->columns[column], parts->children[column]);
  }
  finish(out, std::move(parts));
}

StreamParts& parts_of(ArrowArrayStream* stream) {
  return *static_cast<StreamParts*>(stream->private_data);
}

// Called by C: no exception may leave these two.

int stream_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  try {
    export_schema(parts_of(stream).table, *out);
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

int stream_next(ArrowArrayStream* stream, ArrowArray* out) {
  StreamParts& parts = parts_of(stream);
  *out = {};
  if (parts.is_read) return 0;
  try {
    export_batch(parts.table, *out);
    parts.is_read = true;
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

const char* stream_error(ArrowArrayStream* /*stream*/) { return "there is not enough memory"; }

void stream_release(ArrowArrayStream* stream) {
  delete &parts_of(stream);
  stream->release = nullptr;
}

}  // namespace

std::int32_t TextDictionary::number(std::string_view text) {
  std::string valid = is_utf8(text) ? std::string(text) : to_utf8(text);
  const auto next = static_cast<std::int32_t>(numbers_.size());
  const auto [place, is_new] = numbers_.try_emplace(std::move(valid), next);
  if (is_new) {
    bytes_ += place->first;
    ends_.push_back(static_cast<std::int64_t>(bytes_.size()));
  }
  return place->second;
}

std::shared_ptr<const ArrowColumn> TextDictionary::finish() && {
  auto column = std::make_shared<ArrowColumn>();
  column->format = "U";
  column->rows = static_cast<std::int64_t>(numbers_.size());
  auto bytes = std::make_shared<const std::string>(std::move(bytes_));
  const void* const data = bytes->data();
  column->buffers = {{}, owned_buffer(std::move(ends_)), {std::move(bytes), data}};
  return column;
}

void export_array(const std::shared_ptr<const ArrowTable>& table, std::size_t column,
                  ArrowSchema& schema, ArrowArray& array) {
  export_column_schema(table, table->columns[column], schema);
  export_column(table, table->columns[column], array);
}

void export_schema(std::shared_ptr<const ArrowTable> table, ArrowSchema& out) {
  auto parts = std::make_unique<Parts<ArrowSchema>>();
  parts->table = std::move(table);
  parts->metadata = coded_metadata("tbtrace.schema", parts->table->schema);
  out = {.format = "+s", .name = "", .metadata = parts->metadata.data()};
  parts->children.resize(parts->table->columns.size());
  for (std::size_t column = 0; column < parts->children.size(); ++column) {
    export_column_schema(parts->table, parts->table->columns[column], parts->children[column]);
  }
  finish(out, std::move(parts));
}

void export_stream(std::shared_ptr<const ArrowTable> table, ArrowArrayStream& out) {
  out = {.get_schema = stream_schema,
         .get_next = stream_next,
         .get_last_error = stream_error,
         .release = stream_release,
         .private_data = new StreamParts{std::move(table)}};
}

}  // namespace tbtrace::python
