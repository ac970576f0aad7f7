/* SPDX-License-Identifier: MIT */
/* ggml's rows, of its backend for CPUs. */
#include "peers.h"

#include <ggml-cpu.h>
#include <ggml.h>

static int prepare(void) {
  ggml_cpu_init();
  return 1;
}

static void f32_to_f16(void *dst, const void *src, size_t count) {
  ggml_cpu_fp32_to_fp16((const float *)src, (ggml_fp16_t *)dst, (int64_t)count);
}

static void f16_to_f32(void *dst, const void *src, size_t count) {
  ggml_cpu_fp16_to_fp32((const ggml_fp16_t *)src, (float *)dst, (int64_t)count);
}

static void f32_to_bf16(void *dst, const void *src, size_t count) {
  ggml_cpu_fp32_to_bf16((const float *)src, (ggml_bf16_t *)dst, (int64_t)count);
}

static void bf16_to_f32(void *dst, const void *src, size_t count) {
  ggml_cpu_bf16_to_fp32((const ggml_bf16_t *)src, (float *)dst, (int64_t)count);
}

static const array_peer_loop loops[] = {
    {"f32 to f16", "ggml_cpu_fp32_to_fp16", f32_to_f16},
    {"f16 to f32", "ggml_cpu_fp16_to_fp32", f16_to_f32},
    {"f32 to bf16", "ggml_cpu_fp32_to_bf16", f32_to_bf16},
    {"bf16 to f32", "ggml_cpu_bf16_to_fp32", bf16_to_f32},
};
const array_peer peer_ggml = {"ggml", NULL, loops, PEER_COUNT(loops), prepare};
