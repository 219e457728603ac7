#include "partial_inputs.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <tbtrace/trace_set.h>

#include "out_of_memory.h"

namespace tbtrace::tools {

bool is_partial(const std::string& path) {
  if (path == "-") return false;
  const Result<bool> is = is_partial_file(path);
  return is.ok() && *is;
}

bool any_partial(const std::vector<std::string>& inputs) {
  return std::ranges::any_of(inputs, [](const std::string& input) {
    std::error_code error;
    if (std::filesystem::is_directory(input, error)) return false;
    if (std::filesystem::exists(input, error)) return is_partial(input);
    return std::ranges::any_of(find_traces({input}).paths, is_partial);
  });
}

Result<Partial> read_partial_input(const std::string& path, Console& console) {
  Result<Partial> partial = within_memory([&] { return read_partial(path); });
  if (!partial.ok()) console.error(subject_of(path), partial.status().message());
  return partial;
}

PartialSum::PartialSum(const PartialOptions& options, const ReadOptions& reading, Console& console)
    : options_(options), reading_(reading), console_(console) {
  reading_.arguments = partial_arguments(options.parts);
}

Result<Partial> PartialSum::partial_of(const std::string& path) {
  if (is_partial(path)) return read_partial_input(path, console_);
  const Result<Trace> trace = read_input(path, reading_, console_);
  if (!trace.ok()) return trace.status();
  Result<Partial> partial = within_memory([&] { return Partial::of(*trace, path, options_); });
  if (!partial.ok()) console_.error(subject_of(path), partial.status().message());
  return partial;
}

int PartialSum::add(const std::string& path) {
  Result<Partial> partial = partial_of(path);
  if (!partial.ok()) return exit_code(partial.status());
  if (!sum_) {
    sum_ = *std::move(partial);
    return kDone;
  }
  const Status merged = within_memory([&] { return sum_->merge(*partial); });
  if (!merged.ok()) console_.error(subject_of(path), merged.message());
  return exit_code(merged);
}

int PartialSum::add_all(const InputPaths& inputs) {
  int failure = inputs.last_failure;
  for (std::size_t input = 0; input < inputs.paths.size(); ++input) {
    if (const int code = add(inputs.paths[input]); code != kDone) failure = code;
    console_.count("added", input + 1, inputs.paths.size());
  }
  return failure;
}

}  // namespace tbtrace::tools
