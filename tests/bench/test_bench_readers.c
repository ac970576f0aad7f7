/* SPDX-License-Identifier: MIT */
/* Parts of the readers of tensor files that no file alone can show. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "input/input.h"
#include "../harness/tap.h"

static const char header[] =
    "\x93NUMPY\x01\0\x3a\0"
    "{'descr': '<f2', 'fortran_order': False, 'shape': (3,)}  \n";
static const unsigned char values[] = {0x00, 0x3c, 0x01,
                                       0x00, 0xff, 0xfb}; /* 1, 2^-24, -65504 */

static bool open_array(input *file, int *descriptor, refusal *why) {
  *descriptor = memfd_create("array", 0);
  return write(*descriptor, header, sizeof header - 1) == (ssize_t)sizeof header - 1 &&
         write(*descriptor, values, sizeof values) == (ssize_t)sizeof values &&
         input_open_descriptor(file, "folder/array.npy", *descriptor, why);
}

static void values_are_read_in_parts(void) {
  input file;
  refusal why = {"", NULL};
  int descriptor;
  float got[2] = {0, 0};
  bool opened = open_array(&file, &descriptor, &why);
  CHECK(opened, "%s", why.text);
  if (!opened) return;
  CHECK(strcmp(file.tensors[0].name, "array.npy") == 0, "%s", file.tensors[0].name);
  CHECK(input_floats(&file, file.tensors, 1, got, 2, &why), "%s", why.text);
  CHECK(got[0] == 0x1p-24f && got[1] == -65504.0f, "%a %a", (double)got[0],
        (double)got[1]);
  input_close(&file);
}

/* A GGUF file of one tensor, 2 x 32 in q8_0: codes 0 to 31, scale 0.5, and again. */
static void blocks_are_read_from_anywhere(void) {
  unsigned char bytes[96 + 68] = "GGUF\3\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                                 "\1\0\0\0\0\0\0\0a\2\0\0\0"
                                 "\40\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\10";
  input file;
  refusal why = {"", NULL};
  float got[33];
  const int descriptor = memfd_create("blocks", 0);
  for (int i = 0; i < 68; ++i)
    bytes[96 + i] = (unsigned char)(i % 34 == 0 ? 0 : i % 34 == 1 ? 0x38 : i % 34 - 2);
  bool opened = write(descriptor, bytes, sizeof bytes) == (ssize_t)sizeof bytes &&
                input_open_descriptor(&file, "blocks.gguf", descriptor, &why);
  CHECK(opened, "%s", why.text);
  if (!opened) return;
  CHECK(input_floats(&file, file.tensors, 17, got, 33, &why), "%s", why.text);
  for (int i = 0; i < 33; ++i)
    CHECK(got[i] == 0.5f * (float)((17 + i) % 32), "%d: %a", i, (double)got[i]);
  input_close(&file);
}

static void a_file_that_shrinks_is_refused(void) {
  input file;
  refusal why = {"", NULL};
  int descriptor;
  float got[3];
  bool opened = open_array(&file, &descriptor, &why);
  CHECK(opened, "%s", why.text);
  if (!opened) return;
  CHECK(ftruncate(descriptor, sizeof header + 2) == 0, "ftruncate");
  CHECK(!input_floats(&file, file.tensors, 0, got, 3, &why), "read past the end");
  CHECK(strcmp(why.text, "became shorter while it was read") == 0, "%s", why.text);
  input_close(&file);
}

static void products_past_64_bits_are_told(void) {
  uint64_t product = 0;
  CHECK(multiply(UINT32_MAX, UINT32_MAX, &product) && product == 0xfffffffe00000001u,
        "%llx", (unsigned long long)product);
  CHECK(multiply(0, UINT64_MAX, &product) && product == 0, "0 times anything");
  CHECK(multiply(UINT64_MAX, 1, &product) && product == UINT64_MAX, "times 1");
  CHECK(!multiply(1ull << 32, 1ull << 32, &product), "2^64");
  CHECK(!multiply(UINT64_MAX, 2, &product), "2^65 - 2");
}

/* Three dots in the middle; no character of more than one byte is cut in two. */
static void long_names_are_cut_between_characters(void) {
  char cut[64];
  shorten(cut, sizeof cut, 9, "exactly-9");
  CHECK(strcmp(cut, "exactly-9") == 0, "%s", cut);
  shorten(cut, sizeof cut, 9, "abcdefghijkl");
  CHECK(strcmp(cut, "abc...jkl") == 0, "%s", cut);
  shorten(cut, sizeof cut, 8,
          "\xc3\xa4\xc3\xb6\xc3\xbc\xe2\x82\xac 12\xe2\x82\xac\xc3\x9f");
  CHECK(strcmp(cut, "\xc3\xa4\xc3\xb6\xc3\xbc...\xe2\x82\xac\xc3\x9f") == 0, "%s", cut);
  CHECK(columns(cut) == 8, "%u columns", (unsigned)columns(cut));
}

static void control_characters_become_question_marks(void) {
  char text[] = "a\nb\x1b[0m\x7f\xc2\x9b\xc3\xa4";
  clean_text(text);
  CHECK(strcmp(text, "a?b?[0m???\xc3\xa4") == 0, "%s", text);
}

int main(void) {
  TAP_RUN(values_are_read_in_parts);
  TAP_RUN(blocks_are_read_from_anywhere);
  TAP_RUN(a_file_that_shrinks_is_refused);
  TAP_RUN(products_past_64_bits_are_told);
  TAP_RUN(long_names_are_cut_between_characters);
  TAP_RUN(control_characters_become_question_marks);
  return tap_done();
}
