/* SPDX-License-Identifier: MIT */
/* For train_step.cu: products of matrices on the tensor cores by cuBLASLt, or by plain
 * loops with the same operands where it is absent (-DEXAMPLES_PLAIN_PRODUCTS) or has no
 * algorithm for them, as for 8 bits before sm_89.
 *
 * Both operands have the dimension that is summed over along their rows, since products
 * of 8 bits come in no other form before Blackwell: out = a b^T, in f32. */
#ifndef EXAMPLES_PRODUCTS_CUH
#define EXAMPLES_PRODUCTS_CUH

#include <mpnum/kernels.cuh>

#include <cstdio>
#include <cstdlib>

#ifndef EXAMPLES_PLAIN_PRODUCTS
# include <cublasLt.h>
#endif

inline void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "train_step: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

/* Launches a kernel with a thread for each of n elements. */
template <class... P, class... A>
void launch(void (*kernel)(P...), size_t n, cudaStream_t stream, A... arguments) {
  const unsigned threads = 256,
                 blocks = static_cast<unsigned>((n + threads - 1) / threads);
  kernel<<<blocks, threads, 0, stream>>>(arguments...);
  check(cudaGetLastError());
}

/* A matrix: codes times *inverse, a float in device memory; NULL: 1. */
template <class T> struct factor {
  const T *codes;
  const float *inverse;
  int rows, columns;
};

__device__ inline float value_of(float x) { return x; }
template <class T> __device__ float value_of(T x) { return mpnum::to_float(x); }

template <class A, class B>
__global__ void multiply(float *out, factor<A> a, factor<B> b) {
  const int i = static_cast<int>(mpnum_grid_index());
  if (i >= a.rows * b.rows) return;
  const A *left = a.codes + static_cast<size_t>(i / b.rows) * a.columns;
  const B *right = b.codes + static_cast<size_t>(i % b.rows) * b.columns;
  float sum = 0;
  for (int j = 0; j < a.columns; ++j)
    sum += value_of(left[j]) * value_of(right[j]);
  if (a.inverse) sum *= *a.inverse;
  if (b.inverse) sum *= *b.inverse;
  out[i] = sum;
}

#ifndef EXAMPLES_PLAIN_PRODUCTS

inline void check(cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  std::fprintf(stderr, "train_step: cuBLASLt: %s\n", cublasLtGetStatusString(status));
  std::exit(1);
}
template <class T> struct cuda_type;
template <> struct cuda_type<float> { static const cudaDataType_t value = CUDA_R_32F; };
template <> struct cuda_type<mpnum_f16> {
  static const cudaDataType_t value = CUDA_R_16F;
};
template <> struct cuda_type<mpnum_bf16> {
  static const cudaDataType_t value = CUDA_R_16BF;
};
template <> struct cuda_type<mpnum_e4m3> {
  static const cudaDataType_t value = CUDA_R_8F_E4M3;
};
template <> struct cuda_type<mpnum_e5m2> {
  static const cudaDataType_t value = CUDA_R_8F_E5M2;
};

/* cuBLASLt, and the memory that its products work in, one after another. */
struct library {
  cublasLtHandle_t handle = nullptr;
  size_t bytes = 32 << 20;
  void *workspace = nullptr;
  library() {
    check(cudaMalloc(&workspace, bytes));
    check(cublasLtCreate(&handle));
  }
  library(const library &) = delete;
  ~library() {
    cublasLtDestroy(handle);
    cudaFree(workspace);
  }
};

/* out, a.rows x b.rows, becomes a b^T. */
template <class A, class B> class product {
public:
  product(const library &its, float *out, factor<A> a, factor<B> b)
      : its_(its), out_(out), a_(a), b_(b) {
    const cublasOperation_t transposed = CUBLAS_OP_T;
    cublasLtMatmulPreference_t limits = nullptr;
    /* cuBLASLt counts along columns: what it calls A is our b, and out is transposed. */
    check(cublasLtMatmulDescCreate(&operation_, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    set(CUBLASLT_MATMUL_DESC_TRANSA, transposed);
    if (b.inverse) set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, b.inverse);
    if (a.inverse) set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, a.inverse);
    check(cublasLtMatrixLayoutCreate(&left_, cuda_type<B>::value, b.columns, b.rows,
                                     b.columns));
    check(cublasLtMatrixLayoutCreate(&right_, cuda_type<A>::value, a.columns, a.rows,
                                     a.columns));
    check(cublasLtMatrixLayoutCreate(&result_, CUDA_R_32F, b.rows, a.rows, b.rows));
    check(cublasLtMatmulPreferenceCreate(&limits));
    check(cublasLtMatmulPreferenceSetAttribute(
        limits, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &its.bytes, sizeof its.bytes));
    int found = 0;
    const cublasStatus_t status =
        cublasLtMatmulAlgoGetHeuristic(its.handle, operation_, left_, right_, result_,
                                       result_, limits, 1, &chosen_, &found);
    is_fast_ = status == CUBLAS_STATUS_SUCCESS && found > 0;
    cublasLtMatmulPreferenceDestroy(limits);
  }
  product(const product &) = delete;
  ~product() {
    cublasLtMatrixLayoutDestroy(left_);
    cublasLtMatrixLayoutDestroy(right_);
    cublasLtMatrixLayoutDestroy(result_);
    cublasLtMatmulDescDestroy(operation_);
  }
  bool is_fast() const { return is_fast_; }
  void run(cudaStream_t stream) const {
    const float one = 1, zero = 0;
    if (is_fast_)
      check(cublasLtMatmul(its_.handle, operation_, &one, b_.codes, left_, a_.codes,
                           right_, &zero, out_, result_, out_, result_, &chosen_.algo,
                           its_.workspace, its_.bytes, stream));
    else
      launch(multiply<A, B>, static_cast<size_t>(a_.rows) * b_.rows, stream, out_, a_,
             b_);
  }

private:
  const library &its_;
  float *out_;
  factor<A> a_;
  factor<B> b_;
  bool is_fast_ = false;
  cublasLtMatmulDesc_t operation_ = nullptr;
  cublasLtMatrixLayout_t left_ = nullptr, right_ = nullptr, result_ = nullptr;
  cublasLtMatmulHeuristicResult_t chosen_;
  template <class V> void set(cublasLtMatmulDescAttributes_t attribute, const V &value) {
    check(cublasLtMatmulDescSetAttribute(operation_, attribute, &value, sizeof value));
  }
};

#else

struct library {};
template <class A, class B> class product {
public:
  product(const library &, float *out, factor<A> a, factor<B> b)
      : out_(out), a_(a), b_(b) {}
  bool is_fast() const { return false; }
  void run(cudaStream_t stream) const {
    launch(multiply<A, B>, static_cast<size_t>(a_.rows) * b_.rows, stream, out_, a_, b_);
  }

private:
  float *out_;
  factor<A> a_;
  factor<B> b_;
};

#endif

#endif
