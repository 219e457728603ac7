// All traces of a folder as a log directory for TensorBoard, and what became of each.
//   log_directory FOLDER LOGDIR
#include <iostream>

#include <tbtrace/convert.h>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: log_directory FOLDER LOGDIR\n";
    return 2;
  }
  const tbtrace::Result<tbtrace::Conversion> conversion = tbtrace::convert_to_log_directory(
      {argv[1]}, argv[2], {.log = {.run = "job", .use_gzip = false}, .skip_existing = true});
  if (!conversion.ok()) {
    std::cerr << conversion.status().message() << '\n';
    return 1;
  }
  bool failed = false;
  for (const tbtrace::ConvertedInput& input : conversion->inputs) {
    if (!input.status.ok()) {
      std::cerr << input.input << ": " << input.status.message() << '\n';
      failed = true;
      continue;
    }
    std::cout << input.input << ": " << input.ranges << " ranges\n";
    for (const tbtrace::LogFile& file : input.files) {
      std::cout << "  " << file.path << '\n';
      for (const auto& [id, count] : file.changes) {
        std::cout << "    " << count << " x " << tbtrace::change_sentence(id) << '\n';
      }
    }
  }
  return failed ? 1 : 0;
}
