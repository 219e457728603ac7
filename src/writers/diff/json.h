// A comparison as JSON: docs/formats/diff.md. Pure function.
#pragma once

#include <span>
#include <string>

#include <tbtrace/diff.h>

namespace tbtrace::writers {

std::string diff_json(const Diff& diff, std::span<const DiffBy> by);

}  // namespace tbtrace::writers
