#include "analyses/attribution/communication.h"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/gpu.h>
#include <tbtrace/kernels.h>
#include <tbtrace/steps.h>

#include "fixtures/chrome_text.h"
#include "fixtures/read_text.h"

namespace tbtrace::analyses {
namespace {

using fixtures::ChromeEvent;
using fixtures::op;
using fixtures::read;
using fixtures::trace_text;

TEST(Communication, IsKnownByTheNamesOfItsLibraries) {
  for (const std::string_view name :
       {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "ncclSymkDevKernel_AllReduce_AGxLL_R_sum_bf16(ncclSymkDevWorkArgs)",
        "ncclKernel_Generic_4(ncclDevComm*)",
        "rccl_main_kernel",
        "mscclKernel_Sum_half_LL(int)",
        "void mscclpp::collective::allreducePacket<__half>(void*)",
        "void nvshmemi_reduce_threadgroup_kernel<float>(int)",
        "oneccl_allreduce_ring",
        "void vllm::cross_device_reduce_2stage<__half, 8>(vllm::RankData*)",
        "void sglang::cross_device_reduce_1stage<__nv_bfloat16, 4>(int)",
        "void aiter::allreduce_prototype_twoshot<quickreduce::CodecFP>(int)",
        "void "
        "flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<int>(int)",
        "void tensorrt_llm::kernels::twoShotAllReduceKernel<__half, 8>(AllReduceParams)",
        "void multimem_all_reduce_kernel<c10::BFloat16, 16>(unsigned char*)",
        "void (anonymous namespace)::put_signal_kernel(unsigned int**)",
        "void deep_ep::internode_ll::dispatch<true, 3, 7168>(void*)",
        "void deep_ep::intranode::combine<__nv_bfloat16, 8, 768>(int4*)",
        "void deep_ep::intranode::cached_notify_combine<8>(void**)",
        "void dpsk::ep::internode::combine<__nv_bfloat16, 8, true>(int4*)",
        "void vendor::ep::intranode::dispatch<8, 768, 8192>(int4*)",
        "void vendor::ep::internode_ll::dispatch<true, 7168>(void*)",
        "void hybrid_ep::combine_kernel<hybrid_ep::INTER_NODE_GROUP, 7168>(int)",
        "void uccl::internode_ll::combine<true, 7168, 9>(void*)",
        "void a2a_combine_recv_kernel<__nv_bfloat16>(void*)",
        "_ZN4vllm26cross_device_reduce_1stageI6__halfLi8EEEvPNS_8RankDataE"}) {
    EXPECT_TRUE(is_communication_kernel(name)) << name;
  }
  for (const std::string_view name :
       {"triton_poi_fused__to_copy_all_gather_into_tensor_wait_tensor_0",
        "triton_red_fused_add_all_reduce_native_layer_norm_3",
        "void deep_ep::layout::get_dispatch_layout<256>(long const*)",
        "void hybrid_ep::permute_kernel<unsigned short>(int)",
        "void hybrid_ep::scan<512, 8>(bool const*)",
        "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(int)",
        "void flash_fwd_splitkv_combine_kernel<Traits>(Flash_fwd_params)",
        "void vectorized_gather_kernel<16, long>(char*)", "nvjet_tst_128x64_64x8_2x1_v_bz_TNT",
        "void my_kernel(nccl_like_parameter)", ""}) {
    EXPECT_FALSE(is_communication_kernel(name)) << name;
  }
}

ChromeEvent launch(std::string_view start, std::string_view correlation) {
  return op("cudaLaunchKernel", start, "1")
      .with("cat", "\"cuda_runtime\"")
      .arg("correlation", correlation);
}

ChromeEvent kernel(std::string_view name, std::string_view start, std::string_view duration,
                   std::string_view correlation) {
  return op(name, start, duration)
      .with("cat", "\"kernel\"")
      .with("pid", "0")
      .with("tid", "7")
      .arg("device", "0")
      .arg("stream", "7")
      .arg("correlation", correlation);
}

// Of a kernel that shows it by its name, one that only its operator shows, and one that computes.
TEST(Communication, HasOneAmountInEveryTable) {
  const Trace trace = read(trace_text(
      {op("_C_custom_ar::all_reduce", "0", "5"), launch("1", "1"),
       op("record_param_comms", "10", "5"), launch("11", "2"), op("aten::add", "20", "5"),
       launch("21", "3"),
       kernel("void sglang::cross_device_reduce_1stage<float, 4>(int)", "30", "10", "1"),
       kernel("helper<float>", "50", "20", "2"), kernel("helper<float>", "80", "40", "3")}));
  const std::vector<GpuUse> gpus = *gpu_use(trace);
  ASSERT_EQ(gpus.size(), 1U);
  EXPECT_EQ(gpus[0].communication_ns, 30'000);
  EXPECT_EQ(gpus[0].computation_ns, 40'000);
  EXPECT_EQ(step_breakdown(trace).steps.at(0).ns(StepRole::communication), 30'000);
  std::int64_t in_families = 0;
  const KernelSummary by_family = *kernel_summary(trace, {.group_by = KernelGrouping::family});
  for (const KernelGroup& group : by_family.groups) {
    if (group.family == KernelFamily::collective) in_families += group.total_ns;
  }
  EXPECT_EQ(in_families, 30'000);
  // A name that does both has two rows.
  std::int64_t in_names = 0;
  const KernelSummary by_name = *kernel_summary(trace);
  EXPECT_EQ(by_name.groups.size(), 3U);
  for (const KernelGroup& group : by_name.groups) {
    if (group.family == KernelFamily::collective) in_names += group.total_ns;
  }
  EXPECT_EQ(in_names, 30'000);
}

ChromeEvent copy(std::string_view kind, std::string_view start, std::string_view correlation) {
  return kernel("Memcpy " + std::string(kind) + " (Device -> Device)", start, "10", correlation)
      .with("cat", "\"gpu_memcpy\"");
}

ChromeEvent annotation(std::string_view name, std::string_view start, std::string_view duration) {
  return op(name, start, duration).with("cat", "\"user_annotation\"");
}

std::int64_t communication_ns(std::vector<ChromeEvent> events) {
  return gpu_use(read(trace_text(std::move(events))))->at(0).communication_ns;
}

TEST(Communication, IsWhatACollectiveCopiesItself) {
  EXPECT_EQ(communication_ns({op("record_param_comms", "0", "50"),
                              annotation("nccl:_all_gather_base", "5", "40"), launch("10", "1"),
                              launch("12", "2"), copy("DtoD", "60", "1"), copy("DtoD", "70", "2")}),
            20'000);
  EXPECT_EQ(communication_ns({op("record_param_comms", "0", "5"), launch("1", "1"),
                              kernel("fill", "60", "10", "1").with("cat", "\"gpu_memset\"")}),
            10'000);
}

// An operator in a collective gathers and scatters tensors on the device, or sends them away.
TEST(Communication, IsACopyToAnotherDeviceAnywhereInACollective) {
  const auto inside = [](std::string_view kind) {
    return communication_ns({annotation("nccl:all_gather", "0", "50"), op("aten::copy_", "5", "40"),
                             launch("10", "1"), copy(kind, "60", "1")});
  };
  EXPECT_EQ(inside("PtoP"), 10'000);
  EXPECT_EQ(inside("DtoD"), 0);
  EXPECT_EQ(
      communication_ns({op("aten::copy_", "5", "40"), launch("10", "1"), copy("PtoP", "60", "1")}),
      0)
      << "a program that copies to another GPU without a collective";
}

TEST(Communication, IsWhatCollectivesOfSymmetricMemoryLaunch) {
  EXPECT_EQ(
      communication_ns({op("symm_mem::low_contention_all_gather", "0", "50"),
                        op("aten::copy_", "5", "40"), launch("10", "1"), copy("DtoD", "60", "1")}),
      10'000);
  EXPECT_EQ(communication_ns({op("symm_mem::two_shot_all_reduce_", "0", "50"), launch("10", "1"),
                              kernel("twoShotKernel", "60", "10", "1")}),
            10'000);
  EXPECT_EQ(communication_ns({op("symm_mem::fused_all_gather_matmul", "0", "50"), launch("10", "1"),
                              kernel("gemm", "60", "10", "1"), launch("20", "2"),
                              copy("DtoD", "80", "2")}),
            10'000)
      << "the copies of the fused operator, not its product";
}

}  // namespace
}  // namespace tbtrace::analyses
