// The class in a readable C++ name.
// Any text is accepted as a name.
#pragma once

#include <string>
#include <string_view>

namespace tbtrace {

/// The last part of a qualified name: `torch::nn::Linear<a::B>` is `Linear<a::B>`.
std::string_view last_part(std::string_view name);

/// The class of a member function, `net::Block<4>` of `net::Block<4>::forward`; empty for a name
/// without a scope.
std::string_view scope_of(std::string_view function);

/// A class without its namespaces, and without the `Impl` that LibTorch's modules end in:
/// `torch::nn::LinearImpl` is `Linear`.
std::string short_class_name(std::string_view name);

/// Whether a class of layers is named as an operator: `MaxPool2d` as `aten::max_pool2d_`.
bool is_named_as(std::string_view class_name, std::string_view op);

}  // namespace tbtrace
