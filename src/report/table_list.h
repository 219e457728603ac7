// The list of tables: one row each. A table's description stands beside its maker, in the wing that
// makes it.
#pragma once

#include <tbtrace/tables.h>

// The name of the table, in the order in which people see them.
// clang-format off
#define TBTRACE_TABLES(TABLE) \
  TABLE(ops)                  \
  TABLE(steps)                \
  TABLE(serving)              \
  TABLE(marks)                \
  TABLE(kernels)              \
  TABLE(occupancy)            \
  TABLE(flops)                \
  TABLE(gpu)                  \
  TABLE(gaps)                 \
  TABLE(whatif)               \
  TABLE(critical_path)        \
  TABLE(memory)               \
  TABLE(modules)              \
  TABLE(model)                \
  TABLE(lines)                \
  TABLE(threads)              \
  TABLE(collectives)          \
  TABLE(check)

// Results of several traces that are tables in Python; their verbs write them in a larger document.
#define TBTRACE_OTHER_TABLES(TABLE) \
  TABLE(diff)                       \
  TABLE(clocks)                     \
  TABLE(stragglers)                 \
  TABLE(summary)                    \
  TABLE(memory_snapshot)            \
  TABLE(memory_snapshot_diff)
// clang-format on

namespace tbtrace::analyses {

#define TBTRACE_TABLE(name) const TableDescription& name##_table();
TBTRACE_TABLES(TBTRACE_TABLE)
TBTRACE_OTHER_TABLES(TBTRACE_TABLE)
#undef TBTRACE_TABLE

}  // namespace tbtrace::analyses
