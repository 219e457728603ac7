#include "kernel_names.h"

#include <string_view>

#include <fmt/format.h>

namespace tbtrace::benchmarks {
namespace {

std::string binary(std::string_view functor) {
  return fmt::format(
      "at::native::BinaryFunctor<float, float, float, at::native::binary_internal::{}<float> >",
      functor);
}

std::string unary(std::string_view operation) {
  return fmt::format(
      "at::native::{}_kernel_cuda(at::TensorIteratorBase&)::{{lambda()#1}}::operator()() "
      "const::{{lambda()#2}}::operator()() const::{{lambda(float)#1}}",
      operation);
}

std::string vectorized(std::string_view functor, int arrays) {
  const std::string array = fmt::format("at::detail::Array<char*, {}>", arrays);
  return fmt::format("void at::native::vectorized_elementwise_kernel<4, {0}, {1} >(int, {0}, {1})",
                     functor, array);
}

std::string strided(std::string_view functor) {
  const std::string body = fmt::format(
      "at::native::gpu_kernel_impl<{0} >(at::TensorIteratorBase&, {0} const&)::{{lambda(int)#1}}",
      functor);
  return fmt::format("void at::native::elementwise_kernel<128, 2, {0}>(int, {0})", body);
}

std::string reduction(int threads, std::string_view functor) {
  const std::string op = fmt::format(
      "at::native::ReduceOp<float, at::native::func_wrapper_t<float, {}>, unsigned int, float, 4>",
      functor);
  return fmt::format("void at::native::reduce_kernel<{0}, 1, {1} >({1})", threads, op);
}

KernelNames make_names() {
  KernelNames names;
  names.elementwise = {vectorized("at::native::CUDAFunctor_add<float>", 3),
                       vectorized("at::native::FillFunctor<float>", 1),
                       vectorized(binary("MulFunctor"), 3), vectorized(binary("DivFunctor"), 3)};
  for (const char* operation :
       {"sigmoid", "tanh", "relu", "rsqrt", "exp", "log", "neg", "reciprocal", "clamp_min_scalar",
        "threshold", "gelu", "silu", "abs"}) {
    names.elementwise.push_back(vectorized(unary(operation), 2));
  }
  for (const char* functor : {"MulFunctor", "DivFunctor"}) {
    names.strided.push_back(strided(binary(functor)));
  }
  names.strided.push_back(strided("at::native::CUDAFunctor_add<float>"));
  for (const char* operation :
       {"direct_copy", "sigmoid_backward", "tanh_backward", "bfloat16_copy"}) {
    names.strided.push_back(strided(unary(operation)));
  }
  for (const int threads : {128, 256, 512}) {
    for (const char* functor : {"sum_functor", "MeanOps", "MaxNanFunctor"}) {
      names.reduction.push_back(
          reduction(threads, fmt::format("at::native::{}<float, float, float>", functor)));
    }
  }
  for (const char* tile : {"128x64", "64x64", "128x128", "32x128"}) {
    for (const char* layout : {"nn", "nt", "tn"}) {
      names.matmul.push_back(fmt::format("volta_sgemm_{}_{}", tile, layout));
    }
  }
  names.all_reduce = "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)";
  return names;
}

}  // namespace

const KernelNames& kernel_names() {
  static const KernelNames names = make_names();
  return names;
}

}  // namespace tbtrace::benchmarks
