// Writes the man page, the command reference, the columns of tables and the completions into a
// folder.
//   tbtrace_documents FOLDER
#include <exception>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/tables.h>
#include <tbtrace/version.h>

#include "command.h"
#include "documents.h"

namespace {

/// The columns of all tables, as docs/formats/ has them. Above each a line says of what they are:
/// `tbtrace.gpu/1 rows`, `tbtrace.memory/1 rows: --view alive`.
std::string column_tables() {
  std::string text;
  const auto add = [&](const std::string& of,
                       const std::vector<tbtrace::ColumnDescription>& columns) {
    text += of + "\n| key | type | meaning |\n| --- | --- | --- |\n";
    for (const tbtrace::ColumnDescription& column : columns) {
      text += "| `" + std::string(column.name) + "` | " + column.type_text() + " | " +
              std::string(column.meaning) + (column.meaning.empty() ? "|\n" : " |\n");
    }
  };
  for (const tbtrace::TableDescription* const table : tbtrace::tables()) {
    const std::string schema(table->schema);
    add(schema + " rows", table->columns);
    add(schema + " totals", table->totals);
    for (const tbtrace::ColumnsWithOptions& more : table->more_columns) {
      add(schema + " " + std::string(more.of) + ": " + std::string(more.options), more.columns);
    }
  }
  return text;
}

int write_documents(const std::string& folder) {
  using namespace tbtrace::tools;
  const std::vector<Command> verbs = commands();
  std::vector<Command> words = verbs;  // what can be completed: the others begin with one of them
  std::erase_if(words,
                [](const Command& verb) { return verb.name.find(' ') != std::string::npos; });
  const std::pair<const char*, std::string> documents[] = {
      {"tbtrace.1", man_page(verbs, tbtrace::version())},
      {"commands.md", command_reference(verbs)},
      {"columns.md", column_tables()},
      {"tbtrace.bash", bash_completion(words)},
      {"_tbtrace", zsh_completion(words)},
      {"tbtrace.fish", fish_completion(words)}};
  for (const auto& [name, text] : documents) {
    std::ofstream file(folder + "/" + name, std::ios::binary);
    if (file << text << std::flush) continue;
    std::cerr << "tbtrace_documents: cannot write " << folder << "/" << name << "\n";
    return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: tbtrace_documents FOLDER\n";
    return 2;
  }
  try {
    return write_documents(argv[1]);
  } catch (const std::exception& error) {
    std::cerr << "tbtrace_documents: " << error.what() << "\n";
    return 1;
  }
}
