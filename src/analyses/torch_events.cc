#include "analyses/torch_events.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "analyses/attribution.h"
#include "analyses/flops.h"
#include "base/id_map.h"
#include "trace/input_lists.h"
#include "trace/links.h"

namespace tbtrace::analyses {
namespace {

constexpr std::string_view kUnknown = "unknown";
constexpr std::string_view kBackwardPrefix = "autograd::engine::evaluate_function: ";

bool has_any(const Trace& trace, EventKind kind) {
  const std::span<const Category> categories = trace.categories();
  return std::any_of(categories.begin(), categories.end(),
                     [&](const Category& category) { return category.kind == kind; });
}

/// torch.distributed opens these as ranges that end on another thread; the file does not say so.
bool is_collective(std::string_view name) {
  constexpr std::array<std::string_view, 5> kBackends = {"nccl:", "gloo:", "mpi:", "ucc:", "xccl:"};
  return std::any_of(kBackends.begin(), kBackends.end(),
                     [&](std::string_view backend) { return name.starts_with(backend); });
}

/// Work that torch lists under the operator that launched it.
bool is_listed_device(DeviceType device) {
  return device == DeviceType::cuda || device == DeviceType::xpu ||
         device == DeviceType::privateuse1;
}

/// How much Kineto's writer widens the shadows of annotations on devices, so that viewers nest
/// them: 1 us at the front while times were whole microseconds, 1 ns on both sides since 2024.
struct Widening {
  std::int64_t front_ns = 0;
  std::int64_t length_ns = 0;
};

Widening find_widening(const Trace& trace) {
  const Events& events = trace.events();
  const bool whole = std::all_of(trace.by_start().begin(), trace.by_start().end(), [&](EventId e) {
    return events.start_ns(e) % 1000 == 0 && events.duration_ns(e) % 1000 == 0;
  });
  return whole ? Widening{1000, 1000} : Widening{1, 2};
}

}  // namespace

/// Builds the list step by step; each step is one paragraph of docs/parity.md.
class TorchEventsBuilder {
 public:
  TorchEventsBuilder(TorchEvents& out, const TorchEventOptions& options)
      : out_(out), trace_(*out.trace_), options_(options), threads_(trace_) {}

  void build() {
    origin_ns_ = trace_.window_start_ns();
    prepare_tree();
    collect();
    if (!trace_.memory().empty() || extra_records_) attribute_memory();
    link_devices();
    sort();
    nest();
    remove_duplicates();
    if (options_.stacks) set_stacks();
    add_up();
    if (options_.shapes || trace_.is_set("with_flops")) describe_inputs();
  }

 private:
  using Row = TorchEvents::Row;

  double us(std::int64_t time_ns) const { return static_cast<double>(time_ns - origin_ns_) / 1000.0; }

  bool needs_tree() const {
    const Events& events = trace_.events();
    bool names_lost = false;
    for (const EventId event : trace_.by_start()) {
      if (events.unfinished(event)) return true;
      names_lost = names_lost || (events.is_python_frame(event) && trace_.name(event) == kUnknown);
    }
    return !trace_.call_stacks().empty() && (options_.stacks || names_lost);
  }

  void prepare_tree() {
    if (!needs_tree()) return;
    tree_.emplace(trace_, threads_);
    if (!trace_.call_stacks().empty()) {
      out_.stacks_ = std::make_unique<TorchStacks>(trace_, *tree_, *out_.names_);
    }
  }

  /// One row an event, in the order in which torch walks its events.
  void collect() {
    out_.rows_.reserve(trace_.events().size());
    const bool shadows = has_any(trace_, EventKind::gpu_user_annotation);
    const Widening widening = shadows ? find_widening(trace_) : Widening();
    for (const EventId event : trace_.by_start()) {
      const Category& category = trace_.category(event);
      if (category.kind == EventKind::trace_span) continue;
      const bool op = category.kind == EventKind::cpu_op;
      TorchName name = out_.names_->get(trace_.events().name(event), op);
      if (name.is_left_out) {
        extra_records_ = extra_records_ || name.is_memory || name.is_out_of_memory;
        continue;
      }
      if (out_.stacks_ != nullptr && trace_.events().is_python_frame(event) &&
          trace_.name(event) == kUnknown) {
        name.name = out_.stacks_->python_name(event);
      }
      std::int64_t start = trace_.events().start_ns(event);
      std::int64_t end = tree_ ? tree_->end_ns(event) : trace_.events().end_ns(event);
      if (category.kind == EventKind::gpu_user_annotation && end - start >= widening.length_ns) {
        end += widening.front_ns - widening.length_ns;
        start += widening.front_ns;
      }
      Row row;
      row.start_us = us(start);
      row.end_us = us(end);
      row.event = event;
      row.name = name.name;
      row.track = trace_.events().track(event);
      row.parent = TorchEvents::kNoParent;
      row.device = category.device;
      row.flags = flags_of(event, category, name.name);
      out_.rows_.push_back(row);
    }
    if (shadows) restore_order();
  }

  std::uint8_t flags_of(EventId event, const Category& category, NameId name) const {
    std::uint8_t flags = 0;
    const bool annotation = category.kind == EventKind::user_annotation;
    if (annotation || category.kind == EventKind::gpu_user_annotation) {
      flags |= TorchEvents::kAnnotation;
    }
    if (trace_.events().unfinished(event) || (annotation && is_collective(out_.text(name)))) {
      flags |= TorchEvents::kAsync;
    }
    if (category.device == DeviceType::cpu && (flags & TorchEvents::kAsync) == 0) {
      flags |= TorchEvents::kInTree;
    }
    return flags;
  }

  /// Shadows that start where a kernel starts come after profiler events, else as in the file.
  void restore_order() {
    const auto before = [](const Row& a, const Row& b) {
      if (a.start_us != b.start_us) return a.start_us < b.start_us;
      const bool a_device = a.device != DeviceType::cpu;
      const bool b_device = b.device != DeviceType::cpu;
      if (a_device != b_device) return b_device;
      return a_device && a.event < b.event;
    };
    if (!std::is_sorted(out_.rows_.begin(), out_.rows_.end(), before)) {
      std::stable_sort(out_.rows_.begin(), out_.rows_.end(), before);
    }
  }

  /// A record counts for every event of the CPU that it lies in, on any thread, ends included.
  /// Records in no event become rows of their own; failed allocations always do.
  void attribute_memory() {
    std::vector<MemoryRecord> records;
    std::vector<MemoryRecord> failed;
    gather_records(records, failed);
    std::vector<std::int64_t> times;
    std::vector<TorchEvents::Memory> sums(1);
    for (const MemoryRecord& record : records) {
      times.push_back(record.time_ns);
      const TorchEvents::Memory bytes = bytes_of(record);
      sums.push_back({sums.back().cpu_bytes + bytes.cpu_bytes,
                      sums.back().device_bytes + bytes.device_bytes});
    }
    std::vector<std::int64_t> covered(records.size() + 1, 0);  // differences
    out_.memory_.resize(out_.rows_.size(), {});
    for (std::size_t row = 0; row < out_.rows_.size(); ++row) {
      const Row& event = out_.rows_[row];
      if (event.device != DeviceType::cpu) continue;
      const std::int64_t start = trace_.events().start_ns(event.event);
      const std::int64_t end =
          tree_ ? tree_->end_ns(event.event) : trace_.events().end_ns(event.event);
      const auto first = std::lower_bound(times.begin(), times.end(), start) - times.begin();
      const auto last = std::upper_bound(times.begin() + first, times.end(), end) - times.begin();
      if (first >= last) continue;
      out_.memory_[row] = {sums[last].cpu_bytes - sums[first].cpu_bytes,
                           sums[last].device_bytes - sums[first].device_bytes};
      ++covered[first];
      --covered[last];
    }
    std::int64_t events = 0;
    for (std::size_t record = 0; record < records.size(); ++record) {
      events += covered[record];
      if (events == 0) add_memory_row(records[record], "[memory]", bytes_of(records[record]));
    }
    // The bytes that could not be had are not counted.
    for (const MemoryRecord& record : failed) add_memory_row(record, "[OutOfMemory]", {});
  }

  /// Events of another category may bear a record's name; they are records of no bytes.
  void gather_records(std::vector<MemoryRecord>& records, std::vector<MemoryRecord>& failed) const {
    for (const MemoryRecord& record : trace_.memory()) {
      (record.out_of_memory ? failed : records).push_back(record);
    }
    if (!extra_records_) return;
    for (const EventId event : trace_.by_start()) {
      const bool op = trace_.kind(event) == EventKind::cpu_op;
      const TorchName name = out_.names_->get(trace_.events().name(event), op);
      if (!name.is_memory && !name.is_out_of_memory) continue;
      MemoryRecord record;
      record.time_ns = trace_.events().start_ns(event);
      record.track = trace_.events().track(event);
      (name.is_memory ? records : failed).push_back(record);
    }
    const auto earlier = [](const MemoryRecord& a, const MemoryRecord& b) {
      return a.time_ns < b.time_ns;
    };
    std::stable_sort(records.begin(), records.end(), earlier);
    std::stable_sort(failed.begin(), failed.end(), earlier);
  }

  static TorchEvents::Memory bytes_of(const MemoryRecord& record) {
    return {is_cpu_memory(record.device_type) ? record.bytes : 0,
            is_device_memory(record.device_type) ? record.bytes : 0};
  }

  void add_memory_row(const MemoryRecord& record, std::string_view name, TorchEvents::Memory bytes) {
    Row row;
    row.start_us = us(record.time_ns);
    row.end_us = row.start_us;
    row.event = EventId::none;
    row.name = out_.names_->intern(name);
    row.track = record.track;
    row.parent = TorchEvents::kNoParent;
    row.flags = TorchEvents::kInTree;
    row.device = DeviceType::cpu;
    out_.rows_.push_back(row);
    out_.memory_.push_back(bytes);
  }

  /// Kernels go to the operator with the id that they name, and calls of the runtime to its thread.
  /// Where a file's ids name no operators, the operator is the one that holds the launch.
  void link_devices() {
    if (!trace_.device()) return;
    const bool by_id = trace_.links().external_ids_valid;
    IdMap operators;                         // id or event -> the first row of it
    std::vector<std::uint32_t> same_id;      // row -> the next row with the same id
    const auto named = [&](const Row& row) -> std::int64_t {
      const EventKind kind =
          row.event == EventId::none ? EventKind::other : trace_.kind(row.event);
      const bool names = kind == EventKind::cpu_op || kind == EventKind::user_annotation;
      if (!names || (row.flags & TorchEvents::kInTree) == 0) return 0;
      return by_id ? trace_.external_id(row.event) : static_cast<std::int64_t>(row.event) + 1;
    };
    same_id.resize(out_.rows_.size(), IdMap::kNone);
    for (std::size_t row = out_.rows_.size(); row-- > 0;) {
      const std::int64_t id = named(out_.rows_[row]);
      if (id == 0) continue;
      const auto number = static_cast<std::uint32_t>(row);
      const std::uint32_t next = operators.find(id);
      same_id[row] = next;
      operators.assign(id, number);
    }
    const auto link = [&](std::uint32_t number, std::int64_t id) {
      Row& row = out_.rows_[number];
      for (std::uint32_t op = operators.find(id); op != IdMap::kNone; op = same_id[op]) {
        if (row.device == DeviceType::cpu) {
          row.track = out_.rows_[op].track;
        } else if (is_listed_device(row.device)) {
          out_.kernels_.push_back({op, row.event, row.name, row.end_us - row.start_us});
        }
      }
    };
    if (by_id) {
      for (std::uint32_t row = 0; row < out_.rows_.size(); ++row) {
        if (out_.rows_[row].event == EventId::none) continue;
        const EventKind kind = trace_.kind(out_.rows_[row].event);
        const bool linked = kind == EventKind::runtime || is_device_work(kind) ||
                            kind == EventKind::device_other;
        const std::int64_t id = linked ? trace_.external_id(out_.rows_[row].event) : 0;
        if (id != 0) link(row, id);
      }
      return;
    }
    IdMap rows(trace_.events().size());
    for (std::uint32_t row = 0; row < out_.rows_.size(); ++row) {
      if (out_.rows_[row].event == EventId::none) continue;
      rows.insert(static_cast<std::int64_t>(out_.rows_[row].event), row);
    }
    for (const DeviceLink& work : trace_.device_links().device_work()) {
      const std::uint32_t row = rows.find(static_cast<std::int64_t>(work.work));
      if (row == IdMap::kNone || work.op == EventId::none) continue;
      link(row, static_cast<std::int64_t>(work.op) + 1);
    }
  }

  /// By start, the longer first; rows of memory records were appended and lose ties.
  void sort() {
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
      const Row& x = out_.rows_[a];
      const Row& y = out_.rows_[b];
      if (x.start_us != y.start_us) return x.start_us < y.start_us;
      return x.end_us > y.end_us;
    };
    const std::size_t size = out_.rows_.size();
    Column<std::uint32_t> order;
    order.reserve(size);
    for (std::uint32_t row = 0; row < size; ++row) order.push_back(row);
    if (!std::is_sorted(order.begin(), order.end(), before)) {
      // Events are in the order of their starts already, so only runs of equal starts are sorted.
      std::uint32_t* events_end = order.end();
      while (events_end != order.begin() &&
             out_.rows_[events_end[-1]].event == EventId::none) {
        --events_end;
      }
      for (std::uint32_t* first = order.begin(); first != events_end;) {
        std::uint32_t* last = first + 1;
        while (last != events_end &&
               out_.rows_[*last].start_us == out_.rows_[*first].start_us) {
          ++last;
        }
        if (last - first > 1) std::stable_sort(first, last, before);
        first = last;
      }
      std::stable_sort(events_end, order.end(), before);
      std::inplace_merge(order.begin(), events_end, order.end(), before);
      arrange(order.view());
    }
  }

  /// Keeps the rows that `order` names, in that order.
  void arrange(std::span<const std::uint32_t> order) {
    Column<std::uint32_t> place;
    place.resize(out_.rows_.size(), TorchEvents::kNoParent);
    for (std::uint32_t row = 0; row < order.size(); ++row) place[order[row]] = row;
    const auto gather = [&](auto& column) {
      if (column.empty()) return;
      std::remove_reference_t<decltype(column)> arranged;
      arranged.reserve(order.size());
      for (const std::uint32_t row : order) arranged.push_back(column[row]);
      column.swap(arranged);
    };
    gather(out_.rows_);
    gather(out_.memory_);
    for (Row& row : out_.rows_) {
      if (row.parent != TorchEvents::kNoParent) row.parent = place[row.parent];
    }
    std::size_t kept = 0;
    for (TorchEvents::Kernel kernel : out_.kernels_) {
      kernel.row = place[kernel.row];
      if (kernel.row != TorchEvents::kNoParent) out_.kernels_[kept++] = kernel;
    }
    out_.kernels_.resize(kept, {});
    std::stable_sort(out_.kernels_.begin(), out_.kernels_.end(),
                     [](const auto& a, const auto& b) { return a.row < b.row; });
  }

  /// Per thread, in order: whatever ends before this event ends or starts is no parent any more.
  void nest() {
    std::vector<std::vector<std::uint32_t>> open(trace_.tracks().size());
    for (std::uint32_t number = 0; number < out_.rows_.size(); ++number) {
      Row& row = out_.rows_[number];
      if ((row.flags & TorchEvents::kInTree) == 0) continue;
      std::vector<std::uint32_t>& stack = open[index(row.track)];
      while (!stack.empty()) {
        const Row& top = out_.rows_[stack.back()];
        if (row.start_us < top.end_us && row.end_us <= top.end_us) break;
        stack.pop_back();
      }
      if (!stack.empty()) row.parent = stack.back();
      stack.push_back(number);
    }
  }

  /// An only child of the same name is dropped, and its parent takes its children and kernels.
  void remove_duplicates() {
    const std::size_t size = out_.rows_.size();
    Column<std::uint32_t> children;
    children.resize(size, 0);
    for (const Row& row : out_.rows_) {
      if (row.parent != TorchEvents::kNoParent) ++children[row.parent];
    }
    Column<std::uint8_t> removed;
    Column<std::uint32_t> kernels_of;  // row -> the row whose kernels it has now
    bool any = false;
    bool changed = true;
    while (changed) {
      changed = false;
      for (std::uint32_t number = 0; number < size; ++number) {
        Row& row = out_.rows_[number];
        if (any) {
          if (removed[number] != 0) continue;
          while (row.parent != TorchEvents::kNoParent && removed[row.parent] != 0) {
            row.parent = out_.rows_[row.parent].parent;
          }
        }
        const std::uint32_t parent = row.parent;
        if (parent == TorchEvents::kNoParent || children[parent] != 1 ||
            out_.rows_[parent].name != row.name) {
          continue;
        }
        if (!any) {
          any = true;
          removed.resize(size, 0);
          for (std::uint32_t r = 0; r < size; ++r) kernels_of.push_back(r);
        }
        removed[number] = 1;
        children[parent] = children[number];
        kernels_of[parent] = kernels_of[number];
        changed = true;
      }
    }
    if (!any) return;
    Column<std::uint32_t> owner;
    owner.resize(size, TorchEvents::kNoParent);
    Column<std::uint32_t> kept;
    for (std::uint32_t row = 0; row < size; ++row) {
      if (removed[row] != 0) continue;
      owner[kernels_of[row]] = row;
      kept.push_back(row);
    }
    std::size_t kernels = 0;
    for (TorchEvents::Kernel kernel : out_.kernels_) {
      kernel.row = owner[kernel.row];
      if (kernel.row != TorchEvents::kNoParent) out_.kernels_[kernels++] = kernel;
    }
    out_.kernels_.resize(kernels, {});
    arrange(kept.view());
  }

  /// A node of autograd's, and all under it, shows the stack of the operator that made the node.
  void set_stacks() {
    const std::size_t size = out_.rows_.size();
    out_.stack_.resize(size, 0);
    if (out_.stacks_ == nullptr) return;
    Column<std::uint32_t> node;  // the nearest backward node at or above a row
    node.resize(size, TorchEvents::kNoParent);
    std::map<std::pair<std::int64_t, TrackId>, StackId> forward;
    for (std::uint32_t number = 0; number < size; ++number) {
      const Row& row = out_.rows_[number];
      if (row.event != EventId::none) out_.stack_[number] = out_.stacks_->of(row.event);
      if (is_backward_node(row)) {
        node[number] = number;
      } else if (row.parent != TorchEvents::kNoParent) {
        node[number] = node[row.parent];
      }
      if (node[number] != TorchEvents::kNoParent) continue;
      const AutogradInfo* info = info_of(row);
      forward.try_emplace({info == nullptr ? -1 : info->sequence_number, row.track},
                          out_.stack_[number]);
    }
    for (std::uint32_t number = 0; number < size; ++number) {
      if (node[number] == TorchEvents::kNoParent) continue;
      out_.stack_[number] = 0;
      const AutogradInfo* info = info_of(out_.rows_[node[number]]);
      TrackId track = {};
      if (info == nullptr || !threads_.find(info->forward_thread, track)) continue;
      const auto found = forward.find({info->sequence_number, track});
      if (found != forward.end()) out_.stack_[number] = found->second;
    }
  }

  const AutogradInfo* info_of(const Row& row) const {
    return row.event == EventId::none ? nullptr : autograd_info(trace_, row.event);
  }

  bool is_backward_node(const Row& row) const {
    if (row.event == EventId::none || trace_.kind(row.event) != EventKind::cpu_op) return false;
    const std::string_view name = out_.text(row.name);
    if (name.starts_with(kBackwardPrefix)) return false;
    const AutogradInfo* info = info_of(row);
    if (info != nullptr && info->forward_thread > 0) return true;
    if (row.parent == TorchEvents::kNoParent) return false;
    const std::string_view parent = out_.text(out_.rows_[row.parent].name);
    return parent.starts_with(kBackwardPrefix) && parent.substr(kBackwardPrefix.size()) == name;
  }

  /// Sums over children, from left to right as torch adds them.
  void add_up() {
    const std::size_t size = out_.rows_.size();
    out_.children_us_.resize(size, 0);
    for (const Row& row : out_.rows_) {
      if (row.parent != TorchEvents::kNoParent) {
        out_.children_us_[row.parent] += row.end_us - row.start_us;
      }
    }
    if (!out_.memory_.empty()) add_up_memory();
    if (trace_.device()) add_up_device();
  }

  void add_up_memory() {
    out_.self_memory_.resize(out_.rows_.size(), {});
    for (std::size_t number = 0; number < out_.rows_.size(); ++number) {
      const Row& row = out_.rows_[number];
      if ((row.flags & TorchEvents::kInTree) == 0) continue;
      const TorchEvents::Memory& own = out_.memory_[number];
      out_.self_memory_[number].cpu_bytes += own.cpu_bytes;
      out_.self_memory_[number].device_bytes += own.device_bytes;
      if (row.parent == TorchEvents::kNoParent) continue;
      out_.self_memory_[row.parent].cpu_bytes -= own.cpu_bytes;
      out_.self_memory_[row.parent].device_bytes -= own.device_bytes;
    }
  }

  /// Rows of a thread come parent first, so a row is complete when one comes that is not below it.
  void add_up_device() {
    out_.device_.resize(out_.rows_.size(), {});
    std::vector<double> below(out_.rows_.size(), 0);
    auto kernel = out_.kernels_.begin();
    for (std::uint32_t number = 0; number < out_.rows_.size(); ++number) {
      const Row& row = out_.rows_[number];
      if (row.device != DeviceType::cpu && (row.flags & TorchEvents::kAsync) == 0) {
        out_.device_[number] = {row.end_us - row.start_us, row.end_us - row.start_us};
      }
      for (; kernel != out_.kernels_.end() && kernel->row == number; ++kernel) {
        out_.device_[number].total += kernel->duration_us;
      }
    }
    std::vector<std::vector<std::uint32_t>> open(trace_.tracks().size());
    const auto complete = [&](std::vector<std::uint32_t>& stack) {
      const std::uint32_t number = stack.back();
      stack.pop_back();
      const double total = out_.device_[number].total + below[number];
      out_.device_[number] = {total, total - below[number]};
      const std::uint32_t parent = out_.rows_[number].parent;
      if (parent != TorchEvents::kNoParent) below[parent] += total;
    };
    for (std::uint32_t number = 0; number < out_.rows_.size(); ++number) {
      const Row& row = out_.rows_[number];
      if ((row.flags & TorchEvents::kInTree) == 0) continue;
      std::vector<std::uint32_t>& stack = open[index(row.track)];
      while (!stack.empty() && stack.back() != row.parent) complete(stack);
      stack.push_back(number);
    }
    for (std::vector<std::uint32_t>& stack : open) {
      while (!stack.empty()) complete(stack);
    }
  }

  /// Shapes as text and FLOPs; both are the same for all calls with the same arguments.
  void describe_inputs() {
    const bool with_flops = trace_.is_set("with_flops");
    const std::size_t size = out_.rows_.size();
    if (options_.shapes) out_.shapes_.resize(size, 0);
    if (with_flops) out_.flops_.resize(size, 0);
    Column<std::uint32_t> inputs_of;  // event -> row of Trace::inputs()
    inputs_of.resize(trace_.events().size(), IdMap::kNone);
    const std::span<const OperatorInputs> inputs = trace_.inputs();
    for (std::uint32_t row = 0; row < inputs.size(); ++row) {
      inputs_of[index(inputs[row].event)] = row;
    }
    std::map<std::pair<StringId, StringId>, NameId> shapes;
    std::map<std::tuple<NameId, StringId, StringId, StringId>, std::uint64_t> flops;
    for (std::size_t number = 0; number < size; ++number) {
      const Row& row = out_.rows_[number];
      if (row.event == EventId::none || inputs_of[index(row.event)] == IdMap::kNone) continue;
      const OperatorInputs& input = inputs[inputs_of[index(row.event)]];
      if (options_.shapes && input.dims != StringId::empty) {
        const auto [known, added] = shapes.try_emplace({input.dims, input.types}, 0);
        if (added) known->second = out_.names_->intern(shapes_of(input));
        out_.shapes_[number] = known->second;
      }
      if (!with_flops || !has_flops(out_.text(row.name))) continue;
      const auto [known, added] =
          flops.try_emplace({row.name, input.dims, input.types, input.concrete}, 0);
      if (added) {
        known->second = operator_flops(out_.text(row.name),
                                       {parse_dims(trace_.string(input.dims)),
                                        parse_texts(trace_.string(input.types)),
                                        parse_texts(trace_.string(input.concrete))});
      }
      out_.flops_[number] = known->second;
    }
  }

  std::string shapes_of(const OperatorInputs& input) const {
    const std::string text = shapes_text(parse_dims(trace_.string(input.dims)),
                                         parse_texts(trace_.string(input.types)));
    return text == "[]" ? std::string() : text;
  }

  TorchEvents& out_;
  const Trace& trace_;
  const TorchEventOptions& options_;
  ForwardThreads threads_;
  std::optional<TorchTree> tree_;
  std::int64_t origin_ns_ = 0;
  bool extra_records_ = false;
};

TorchEvents::TorchEvents(const Trace& trace, const TorchEventOptions& options)
    : trace_(&trace), names_(std::make_unique<TorchNames>(trace)) {
  TorchEventsBuilder(*this, options).build();
  stacks_ = options.stacks ? std::move(stacks_) : nullptr;
}

NameId TorchEvents::overload(std::size_t row) const {
  if (is_memory_row(row) || trace_->kind(event(row)) != EventKind::cpu_op) return 0;
  return names_->get(trace_->events().name(event(row)), true).overload;
}

double TorchEvents::cpu_time_us(std::size_t row) const {
  return device_type(row) == DeviceType::cpu ? elapsed_us(row) : 0;
}

double TorchEvents::self_cpu_time_us(std::size_t row) const {
  return (rows_[row].flags & kInTree) != 0 ? elapsed_us(row) - children_us_[row] : 0;
}

std::string_view TorchEvents::shapes(std::size_t row) const {
  return shapes_.empty() ? std::string_view() : text(shapes_[row]);
}

std::vector<NameId> TorchEvents::frames(StackId stack, std::size_t count) const {
  return stacks_ == nullptr ? std::vector<NameId>() : stacks_->frames(stack, count);
}

std::optional<std::uint64_t> TorchEvents::flops(std::size_t row) const {
  if (is_memory_row(row)) return std::nullopt;
  return flops_.empty() ? 0 : flops_[row];
}

}  // namespace tbtrace::analyses
