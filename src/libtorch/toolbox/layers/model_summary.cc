#include <algorithm>
#include <cstddef>
#include <numeric>
#include <ostream>
#include <set>
#include <span>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include <ATen/core/ivalue.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/nn/module.h>

#include <tbtrace/model_summary.h>

#include "base/bounded_sum.h"
#include "libtorch/toolbox/layers/layer_tree.h"
#include "libtorch/toolbox/layers/model_mode.h"
#include "libtorch/toolbox/layers/model_parts.h"
#include "libtorch/toolbox/layers/recorded_run.h"

namespace tbtrace {
namespace {

using libtorch::LayerNode;
using libtorch::LayerTree;
using libtorch::ModelParts;
using libtorch::ModelTensor;

/// The rows of a summary from its layers.
class Rows {
 public:
  Rows(LayerTree tree, const ModelParts* parts, std::size_t depth)
      : tree_(std::move(tree)), parts_(parts), depth_(depth) {}

  std::vector<LayerCost> build() {
    if (parts_ != nullptr) add_layers_without_calls();
    order();
    for (const std::size_t node : order_) add_row(node);
    name_functions();
    add_totals();
    if (parts_ != nullptr) add_parameters();
    cut();
    return std::move(rows_);
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  void add_layers_without_calls() {
    std::vector<std::size_t> node_of(parts_->parts.size(), kNone);
    for (std::size_t node = 0; node < tree_.nodes.size(); ++node) {
      const auto part = tree_.nodes[node].part;
      if (part && node_of[*part] == kNone) node_of[*part] = node;
    }
    for (std::size_t part = 1; part < parts_->parts.size(); ++part) {
      if (node_of[part] != kNone) continue;
      const libtorch::ModelPart& known = parts_->parts[part];
      LayerNode node;
      node.part = part;
      node.name = known.name;
      node.type = known.type;
      node.parent = node_of[*known.parent];
      // What has tensors of its own would have been seen.
      node.costs_are_known = !is_tied(part);
      node.calls_are_known = known.has_tensors && !known.is_again && node.costs_are_known;
      node_of[part] = tree_.nodes.size();
      tree_.nodes.push_back(std::move(node));
    }
  }

  bool is_tied(std::size_t part) const {
    return std::any_of(parts_->tensors.begin(), parts_->tensors.end(),
                       [&](const ModelTensor& tensor) {
                         return tensor.part == part && parts_->tensors[tensor.same_as].part != part;
                       });
  }

  bool is_left_out(std::size_t node) const {
    const LayerNode& layer = tree_.nodes[node];
    if (node != 0 && !layer.is_function && layer.part == std::optional<std::size_t>(0)) return true;
    // What was given to a recognised layer.
    return layer.is_function && layer.calls == 0 && layer.work.cpu_ns == 0 && layer.flops == 0;
  }

  /// Parents first, in the order of first calls; layers that have no calls of their own begin with
  /// the first layer inside.
  void order() {
    std::vector<std::size_t> first(tree_.nodes.size());
    std::iota(first.begin(), first.end(), std::size_t{0});
    const std::size_t seen = tree_.nodes.size();
    for (std::size_t node = 1; node < seen; ++node) {
      if (is_left_out(node)) continue;
      for (std::size_t at = tree_.nodes[node].parent; at != 0; at = tree_.nodes[at].parent) {
        first[at] = std::min(first[at], first[node]);
      }
    }
    std::vector<std::vector<std::size_t>> inside(tree_.nodes.size());
    for (std::size_t node = 1; node < seen; ++node) {
      if (!is_left_out(node)) inside[tree_.nodes[node].parent].push_back(node);
    }
    for (std::vector<std::size_t>& nodes : inside) {
      std::stable_sort(nodes.begin(), nodes.end(), [&](std::size_t one, std::size_t other) {
        return first[one] < first[other];
      });
    }
    std::vector<std::size_t> open = {0};
    while (!open.empty()) {
      const std::size_t node = open.back();
      open.pop_back();
      order_.push_back(node);
      open.insert(open.end(), inside[node].rbegin(), inside[node].rend());
    }
  }

  void add_row(std::size_t number) {
    LayerNode& node = tree_.nodes[number];
    if (row_of_.empty()) row_of_.resize(tree_.nodes.size(), kNone);
    row_of_[number] = rows_.size();
    LayerCost row;
    row.name = node.name;
    row.type = node.type;
    row.kind = node.is_function ? LayerKind::function : LayerKind::module;
    if (number != 0) {
      row.parent = row_of_[node.parent];
      row.depth = rows_[*row.parent].depth + 1;
    }
    if (node.part) {
      row.path = parts_->parts[*node.part].path;
    } else if (number != 0 && !node.is_function) {
      const std::string& around = rows_[*row.parent].path;
      row.path = around.empty() ? node.name : around + "." + node.name;
    }
    if (node.calls_are_known) row.calls = node.calls;
    row.inputs = std::move(node.inputs);
    row.outputs = std::move(node.outputs);
    row.self_cpu_time_ns = bounded(node.work.cpu_ns);
    row.self_device_time_ns = bounded(node.work.device_ns);
    rows_.push_back(std::move(row));
  }

  /// `relu`, `relu_1`: each name once in a module.
  void name_functions() {
    std::set<std::pair<std::size_t, std::string>> taken;
    for (const LayerCost& row : rows_) {
      if (row.kind == LayerKind::module && row.parent) taken.emplace(*row.parent, row.name);
    }
    for (LayerCost& row : rows_) {
      if (row.kind == LayerKind::module) continue;
      const std::string plain = row.type.substr(row.type.rfind(':') + 1);
      row.name = plain;
      for (int number = 1; !taken.emplace(*row.parent, row.name).second; ++number) {
        row.name = plain + "_" + std::to_string(number);
      }
      const std::string& around = rows_[*row.parent].path;
      row.path = around.empty() ? row.name : around + "." + row.name;
    }
  }

  /// What is in a layer and all layers inside it.
  void add_totals() {
    std::vector<LayerNode> totals;
    for (const std::size_t node : order_) totals.push_back(tree_.nodes[node]);
    for (std::size_t row = rows_.size(); row-- > 0;) {
      LayerNode& total = totals[row];
      LayerCost& cost = rows_[row];
      if (tree_.has_shapes && !tree_.ran_outside_operators && total.costs_are_known &&
          (total.flops > 0 || total.uncounted_calls == 0)) {
        cost.macs = total.macs;
        cost.flops = total.flops;
      }
      cost.backward_macs = total.backward_macs;
      cost.backward_flops = total.backward_flops;
      cost.uncounted_calls = total.uncounted_calls;
      if (total.costs_are_known) {
        cost.activations = total.activations;
        cost.activation_bytes = total.activation_bytes;
      }
      cost.cpu_time_total_ns = bounded(total.work.cpu_ns);
      cost.device_time_total_ns = bounded(total.work.device_ns);
      cost.backward_cpu_time_ns = bounded(total.work.backward_cpu_ns);
      cost.backward_device_time_ns = bounded(total.work.backward_device_ns);
      if (!cost.parent) continue;
      LayerNode& around = totals[*cost.parent];
      around.work += total.work;
      around.macs = saturating_sum(around.macs, total.macs);
      around.flops = saturating_sum(around.flops, total.flops);
      around.backward_macs = saturating_sum(around.backward_macs, total.backward_macs);
      around.backward_flops = saturating_sum(around.backward_flops, total.backward_flops);
      around.uncounted_calls += total.uncounted_calls;
      around.activations += total.activations;
      around.activation_bytes += total.activation_bytes;
    }
  }

  void add_parameters() {
    std::vector<std::size_t> row_of_part(parts_->parts.size(), 0);
    for (const std::size_t node : order_) {
      if (tree_.nodes[node].part) row_of_part[*tree_.nodes[node].part] = row_of_[node];
    }
    std::set<std::pair<std::size_t, std::size_t>> counted;  // row and tensor
    std::vector<std::size_t> first_row(parts_->tensors.size(), kNone);
    for (const ModelTensor& tensor : parts_->tensors) {
      const std::size_t own = row_of_part[tensor.part];
      const bool is_first = first_row[tensor.same_as] == kNone;
      if (is_first) first_row[tensor.same_as] = own;
      for (std::optional<std::size_t> row = own; row; row = rows_[*row].parent) {
        if (!counted.emplace(*row, tensor.same_as).second) continue;
        const bool is_tied = !is_first && !is_around(*row, first_row[tensor.same_as]);
        add_tensor(rows_[*row], tensor, is_tied);
      }
    }
  }

  bool is_around(std::size_t outer, std::size_t inner) const {
    std::optional<std::size_t> row = inner;
    while (row && *row != outer) row = rows_[*row].parent;
    return row.has_value();
  }

  static void add_tensor(LayerCost& row, const ModelTensor& tensor, bool is_tied) {
    const std::uint64_t elements = libtorch::elements_of(tensor.tensor);
    const std::uint64_t bytes = libtorch::bytes_of(tensor.tensor);
    if (!tensor.is_parameter) {
      row.buffers += elements;
      row.buffer_bytes += bytes;
      return;
    }
    row.parameters += elements;
    row.parameter_bytes += bytes;
    if (tensor.tensor.requires_grad()) row.trainable_parameters += elements;
    if (is_tied) row.tied_parameters += elements;
  }

  /// Layers that are too deep are part of the one around them.
  void cut() {
    std::vector<LayerCost> kept;
    std::vector<std::size_t> number(rows_.size(), kNone);
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      LayerCost& cost = rows_[row];
      if (cost.depth > depth_) continue;
      if (cost.parent) cost.parent = number[*cost.parent];
      if (cost.depth == depth_) {
        cost.self_cpu_time_ns = cost.cpu_time_total_ns;
        cost.self_device_time_ns = cost.device_time_total_ns;
      }
      number[row] = kept.size();
      kept.push_back(std::move(cost));
    }
    rows_ = std::move(kept);
  }

  LayerTree tree_;
  const ModelParts* parts_;
  std::size_t depth_;
  std::vector<std::size_t> order_;   // nodes by row
  std::vector<std::size_t> row_of_;  // by node
  std::vector<LayerCost> rows_;
};

/// torchinfo's estimate: what the innermost layers with parameters give, twice, in a forward and a
/// backward pass. Source: torchinfo/model_statistics.py.
std::uint64_t layer_bytes_of(const std::vector<LayerCost>& rows) {
  static const std::unordered_map<std::string_view, std::uint64_t> kBytes = {
      {"float64", 8}, {"int64", 8},    {"complex64", 8}, {"complex128", 16}, {"float16", 2},
      {"int16", 2},   {"bfloat16", 2}, {"int8", 1},      {"uint8", 1},       {"bool", 1}};
  std::vector<bool> has_modules(rows.size(), false);
  for (const LayerCost& row : rows) {
    if (row.kind == LayerKind::module && row.parent) has_modules[*row.parent] = true;
  }
  std::uint64_t bytes = 0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (has_modules[row] || rows[row].parameters == 0 || rows[row].outputs.empty()) continue;
    const TensorShape& output = rows[row].outputs.front();
    const auto known = kBytes.find(output.type);
    std::uint64_t size = known == kBytes.end() ? 4 : known->second;
    for (const std::int64_t length : output.sizes) {
      size = saturating_product(size, static_cast<std::uint64_t>(length));
    }
    bytes = saturating_sum(bytes, saturating_product(size, rows[row].calls.value_or(1)));
  }
  return saturating_product(bytes, 2);
}

/// Layers that are told apart by the operators that they run on the weight they share.
std::vector<std::string> notes_of_ties(const ModelParts& parts) {
  std::vector<std::string> notes;
  for (const ModelTensor& tensor : parts.tensors) {
    const ModelTensor& first = parts.tensors[tensor.same_as];
    if (first.part == tensor.part) continue;
    notes.push_back(tensor.path + " is the same memory as " + first.path +
                    ": each operator on it counts for the layer whose class has its name, else for "
                    "the first.");
  }
  return notes;
}

struct Given {
  const ModelParts* parts = nullptr;
  const torch::nn::Module* model = nullptr;
  std::vector<TensorShape> inputs;
  bool on_cuda = false;
};

ModelSummary summarize_run(const Given& given, const toolbox_detail::Run& run,
                           const ModelSummaryOptions& options) {
  if (options.warmup < 0) throw std::invalid_argument("warmup must be 0 or more");
  for (int warmup = 0; warmup < options.warmup; ++warmup) {
    toolbox_detail::ReturnedTensors ignored;
    run(ignored);
  }
  toolbox_detail::ReturnedTensors returned;
  libtorch::RunToRecord what;
  what.run = [&] { run(returned); };
  what.model = given.model;
  what.on_cuda = given.on_cuda;
  std::vector<at::Tensor> gradients;  // held, so that no tensor of the run gets the storage of one
  if (given.parts != nullptr) {
    for (const ModelTensor& tensor : given.parts->tensors) {
      gradients.push_back(tensor.tensor.grad());
      for (const at::Tensor& own : {tensor.tensor, gradients.back()}) {
        const void* const storage = libtorch::storage_of(own);
        if (storage != nullptr) what.storages.insert(storage);
      }
    }
  }
  libtorch::RecordedRun recorded = libtorch::record_run(what);
  LayerTree tree = libtorch::layer_tree_of(recorded, given.parts);
  if (given.parts != nullptr) libtorch::recognise_layers(tree, *given.parts);

  ModelSummary summary;
  summary.has_model = given.parts != nullptr;
  summary.uncounted = tree.uncounted;
  summary.notes = std::move(recorded.warnings);
  if (given.parts != nullptr) {
    const std::vector<std::string> ties = notes_of_ties(*given.parts);
    summary.notes.insert(summary.notes.begin(), ties.begin(), ties.end());
  }
  if (tree.ran_outside_operators) summary.notes.emplace_back(libtorch::kRanOutsideOperators);
  LayerNode& model = tree.nodes.front();
  model.calls = 1;
  model.calls_are_known = true;
  if (model.name.empty()) model.name = model.type = "callable";
  if (!options.name.empty()) model.name = options.name;
  if (!given.inputs.empty()) model.inputs = given.inputs;
  if (!returned.shapes.empty()) model.outputs = returned.shapes;
  const bool has_outputs = !recorded.operators.empty();
  // The estimate is of the innermost layers, however deep.
  std::vector<LayerCost> all = Rows(tree, given.parts, static_cast<std::size_t>(-2)).build();
  summary.layer_bytes = layer_bytes_of(all);
  summary.layers = Rows(std::move(tree), given.parts, options.depth).build();
  summary.on_device = summary.total().device_time_total_ns > 0;
  for (LayerCost& layer : summary.layers) {
    summary.depth = std::max(summary.depth, layer.depth);
    if (has_outputs) continue;
    layer.activations.reset();
    layer.activation_bytes.reset();
  }
  return summary;
}

}  // namespace

ModelSummary toolbox_detail::summarize(torch::nn::Module* model,
                                       const std::vector<at::Tensor>* inputs, const Run& run,
                                       const ModelSummaryOptions& options) {
  Given given;
  if (inputs != nullptr) {
    for (const at::Tensor& input : *inputs) {
      if (!input.defined()) throw std::invalid_argument("an input is a tensor without a value");
      given.inputs.push_back(libtorch::shape_of(input));
      given.on_cuda = given.on_cuda || input.is_cuda();
    }
  }
  if (model == nullptr) {
    given.on_cuda = libtorch::has_cuda();
    return summarize_run(given, run, options);
  }
  const ModelParts parts = libtorch::parts_of(*model);
  given.parts = &parts;
  given.model = model;
  given.on_cuda = given.on_cuda || libtorch::is_on_cuda(parts);
  const libtorch::ModeOfModel mode(*model, inputs == nullptr ? ModelMode::same : options.mode);
  return summarize_run(given, run, options);
}

ModelSummary model_summary(const torch::jit::Module& model, const std::vector<c10::IValue>& inputs,
                           const ModelSummaryOptions& options) {
  const ModelParts parts = libtorch::parts_of(model);
  Given given;
  given.parts = &parts;
  given.on_cuda = libtorch::is_on_cuda(parts);
  toolbox_detail::ReturnedTensors tensors;
  for (const c10::IValue& input : inputs) tensors.add(input);
  given.inputs = tensors.shapes;
  torch::jit::Module copy = model;  // of the handle
  const libtorch::ModeOfScript mode(model, options.mode);
  return summarize_run(
      given, [&](toolbox_detail::ReturnedTensors& returned) { returned.add(copy.forward(inputs)); },
      options);
}

void toolbox_detail::ReturnedTensors::add(const at::Tensor& tensor) {
  if (!tensor.defined()) return;
  shapes.push_back(libtorch::shape_of(tensor));
  if (kept != nullptr) kept->push_back(tensor);
}

void toolbox_detail::ReturnedTensors::add(const c10::IValue& value) {
  if (value.isTensor()) {
    add(value.toTensor());
  } else if (value.isTuple()) {
    for (const c10::IValue& part : value.toTupleRef().elements()) add(part);
  } else if (value.isList()) {
    for (const c10::IValue& part : value.toListRef()) add(part);
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) add(entry.value());
  }
}

void toolbox_detail::throw_wrong_inputs(std::size_t count) {
  throw std::invalid_argument("the model's forward() does not take " + std::to_string(count) +
                              " tensors; give as many inputs as it has, or a callable: "
                              "model_summary(*model, [&] { return model->forward(...); })");
}

std::string_view layer_kind_name(LayerKind kind) {
  return kind == LayerKind::module ? "module" : "function";
}

std::optional<double> LayerCost::flops_per_s() const {
  const std::int64_t ns = device_time_total_ns > 0 ? device_time_total_ns : cpu_time_total_ns;
  if (!flops || ns <= 0) return std::nullopt;
  return static_cast<double>(*flops) * 1e9 / static_cast<double>(ns);
}

const LayerCost* ModelSummary::layer(std::string_view path) const& {
  const auto found = std::find_if(layers.begin(), layers.end(),
                                  [&](const LayerCost& layer) { return layer.path == path; });
  return found == layers.end() ? nullptr : &*found;
}

std::ostream& operator<<(std::ostream& out, const ModelSummary& summary) {
  return out << summary.table();
}

}  // namespace tbtrace
