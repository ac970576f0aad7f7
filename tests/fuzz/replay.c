/* SPDX-License-Identifier: MIT */
/* What is in place of libFuzzer's main: replay FILE... */
#include "replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int main(int argc, char **argv) {
  return replay(argc, argv, LLVMFuzzerTestOneInput, 100);
}
