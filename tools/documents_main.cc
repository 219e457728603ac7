// Writes the man page, the command reference and the completions into a folder.
//   tbtrace_documents FOLDER
#include <exception>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/version.h>

#include "command.h"
#include "documents.h"

namespace {

int write_documents(const std::string& folder) {
  using namespace tbtrace::tools;
  const std::vector<Command> verbs = commands();
  const std::pair<const char*, std::string> documents[] = {
      {"tbtrace.1", man_page(verbs, tbtrace::version())},
      {"commands.md", command_reference(verbs)},
      {"tbtrace.bash", bash_completion(verbs)},
      {"_tbtrace", zsh_completion(verbs)},
      {"tbtrace.fish", fish_completion(verbs)}};
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
