/* One dialect for OpenCL C and CUDA C++. */
#ifdef __OPENCL_VERSION__
#ifdef PF_DOUBLES
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#pragma OPENCL FP_CONTRACT OFF
#define PF_KERNEL __kernel
#define PF_KERNEL_8 __kernel __attribute__((reqd_work_group_size(8, 1, 1)))
#define PF_KERNEL_256 __kernel __attribute__((reqd_work_group_size(256, 1, 1)))
#define PF_KERNEL_256_BY_4 PF_KERNEL_256
#define PF_GLOBAL __global
#define PF_LOCAL __local
#define PF_LOCAL_OF(T) __local T
#define PF_ALIGNED __attribute__((aligned(16)))
#define PF_BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define PF_LANE ((uint)get_local_id(0))
#define PF_GROUP_SIZE ((uint)get_local_size(0))
#define PF_GROUP ((uint)get_group_id(0))
#define PF_GROUPS ((uint)get_num_groups(0))
#define PF_BITS_F32(bits) as_float(bits##u)
#define PF_BITS_F64(bits) as_double(bits##UL)
#define PF_F32_OF(word) as_float((uint)(word))
#define PF_F64_OF(word) as_double(word)
#define PF_OF_F32(v) ((ulong)as_uint(v))
#define PF_OF_F64(v) as_ulong(v)
#define pf_pair ulong2
#define pf_u32 uint
#define pf_i64 long
#define pf_u64 ulong
#else
#define PF_KERNEL extern "C" __global__
#define PF_KERNEL_256 extern "C" __global__ __launch_bounds__(256)
/* Four groups on a multiprocessor; NVIDIA's OpenCL C cannot be asked for that. */
#define PF_KERNEL_256_BY_4 extern "C" __global__ __launch_bounds__(256, 4)
#define PF_GLOBAL
#define PF_LOCAL __shared__
#define PF_LOCAL_OF(T) T
#define PF_ALIGNED __align__(16)
#define PF_BARRIER __syncthreads()
#define PF_LANE (threadIdx.x)
#define PF_GROUP_SIZE (blockDim.x)
#define PF_GROUP (blockIdx.x)
#define PF_GROUPS (gridDim.x)
#define PF_BITS_F32(bits) __uint_as_float(bits##u)
#define PF_BITS_F64(bits) __longlong_as_double((long long)bits##ull)
#define PF_F32_OF(word) __uint_as_float((unsigned int)(word))
#define PF_F64_OF(word) __longlong_as_double((long long)(word))
#define PF_OF_F32(v) ((unsigned long long)__float_as_uint(v))
#define PF_OF_F64(v) ((unsigned long long)__double_as_longlong(v))
#define pf_pair ulonglong2
#define restrict __restrict__
#define pf_u32 unsigned int
#define pf_i64 long long
#define pf_u64 unsigned long long
#endif
/* The work item's number in all groups. */
#define PF_NUMBER ((pf_index)PF_GROUP * (pf_index)PF_GROUP_SIZE + PF_LANE)
#define pf_f32 float
#define pf_f64 double
#define pf_i32 int
#define pf_bool int
#ifdef PF_WIDE
#define pf_index pf_i64
#else
#define pf_index int
#endif
