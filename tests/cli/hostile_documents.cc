// Writes the documents of two verbs; the texts of one hold all that has a meaning in roff and in
// shells.
//   hostile_documents FOLDER
#include <fstream>
#include <string>
#include <utility>

#include "documents.h"

namespace {

constexpr const char* kHostile =
    R"('single' "double" \fBback\slash $HOME $(id) `id` [brackets] {a,b} a:b %s * ~ ^ # ; -x)";

}  // namespace

int main(int argc, char** argv) {
  using namespace tbtrace::tools;
  if (argc != 2) return 2;
  const Command commands[] = {{.name = "odd",
                               .summary = kHostile,
                               .usage = "[OPTIONS] 'INPUT'",
                               .about = ".SH requests\n'br and\n\nblank lines\n",
                               .options = {{"\"Group\"",
                                            {{.name = "hostile", .help = kHostile},
                                             {.name = "value",
                                              .value = "A:B]",
                                              .help = kHostile,
                                              .otherwise = "$HOME'",
                                              .choices = {"one", "two"}}}}},
                               .examples = {{".cat it's | tbtrace odd \"a\\b\"", kHostile}},
                               .run = nullptr},
                              {.name = "even",
                               .summary = "harmless",
                               .usage = "",
                               .about = "",
                               .options = {},
                               .examples = {},
                               .run = nullptr}};
  const std::string folder = argv[1];
  for (const auto& [name, text] : {std::pair{"/tbtrace.1", man_page(commands, "1.0")},
                                   std::pair{"/tbtrace.bash", bash_completion(commands)},
                                   std::pair{"/_tbtrace", zsh_completion(commands)},
                                   std::pair{"/tbtrace.fish", fish_completion(commands)}}) {
    if (!(std::ofstream(folder + name) << text)) return 1;
  }
  return 0;
}
