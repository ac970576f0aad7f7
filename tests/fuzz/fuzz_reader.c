/* SPDX-License-Identifier: MIT */
/* One reader of tensor files against any bytes: built once for each, FUZZ_NAME
 * "fuzz.npy", "fuzz.npz", "fuzz.gguf" or "fuzz.safetensors". A libFuzzer target; mutate.c
 * drives it where libFuzzer is missing. */
#include "fuzz_reader.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "input/input.h"

enum { FLOATS = 256 };

static void require(int condition) {
  if (!condition) abort();
}

/* Each value of a table that was accepted can be read, and names are as they were found.
 */
static void check_tensor(const input *file, const tensor *found) {
  float values[FLOATS];
  refusal why;
  const uint64_t bytes = stored_bytes(found);
  uint64_t first;
  size_t count;
  require(found->count > 0 && found->name != NULL);
  require(found->is_inflated ||
          (found->offset <= file->size && bytes <= file->size - found->offset));
  for (first = 0; first < found->count; first += count) {
    count = found->count - first < FLOATS ? (size_t)(found->count - first) : FLOATS;
    require(input_floats(file, found, first, values, count, &why));
  }
}

static void check_note(const char *note) {
  for (; *note; ++note)
    require((unsigned char)*note >= 0x20 && *note != 0x7f);
}

/* What is wrong, and in files of many parts at which byte. */
static void check_refusal(const refusal *why) {
  const bool is_binary = ends_in(FUZZ_NAME, ".npz") || ends_in(FUZZ_NAME, ".gguf");
  require(why->text[0] != 0 && why->advice == NULL);
  require(!is_binary || strstr(why->text, "byte") || strcmp(why->text, "is empty") == 0 ||
          strcmp(why->text, "holds no values") == 0);
}

bool fuzz_reader(const uint8_t *data, size_t size) {
  int descriptor = memfd_create("fuzz", 0);
  input file;
  refusal why = {"", NULL};
  size_t i;
  require(descriptor >= 0 && write(descriptor, data, size) == (ssize_t)size);
  if (!input_open_descriptor(&file, FUZZ_NAME, descriptor, &why)) {
    require(file.descriptor == -1);
    check_refusal(&why);
    return false;
  }
  require(file.tensor_count + file.note_count > 0);
  for (i = 0; i < file.tensor_count; ++i)
    check_tensor(&file, &file.tensors[i]);
  for (i = 0; i < file.note_count; ++i)
    check_note(file.notes[i]);
  input_close(&file);
  return true;
}

/* libFuzzer calls this; refused files are as good to go on from as others. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  (void)fuzz_reader(data, size);
  return 0;
}
