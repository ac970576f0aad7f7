/* SPDX-License-Identifier: MIT */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mpnum/core/round.h>
#include <mpnum/types/f32.h>

const char *element_name(mpnum_type type) { return mpnum_type_name(type); }

bool is_byte_type(mpnum_type type) {
  const mpnum_format format = mpnum_format_of(type);
  const int width = format.sign_bits + format.exponent_bits + format.mantissa_bits;
  return width == 8 || width == 7; /* ue4m3 */
}

unsigned element_size(mpnum_type type) {
  if (type == MPNUM_TYPE_F64) return 8;
  if (type == MPNUM_TYPE_F32) return 4;
  return is_byte_type(type) ? 1 : 2;
}

bool multiply(uint64_t a, uint64_t b, uint64_t *product) {
  if (a != 0 && b > UINT64_MAX / a) return false;
  *product = a * b;
  return true;
}

bool input_bytes(const input *file, uint64_t offset, void *dst, size_t size,
                 refusal *why) {
  unsigned char *to = dst;
  while (size > 0) {
    ssize_t got = pread(file->descriptor, to, size, (off_t)offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return refuse(why, "cannot be read: %s", strerror(errno));
    if (got == 0) return refuse(why, "became shorter while it was read");
    to += got;
    offset += (uint64_t)got;
    size -= (size_t)got;
  }
  return true;
}

bool input_add(input *file, const char *name, const tensor *found, refusal *why) {
  size_t bytes = (file->tensor_count + 1) * sizeof(tensor);
  tensor *grown = realloc(file->tensors, bytes);
  if (!grown) return refuse(why, "out of memory");
  file->tensors = grown;
  grown += file->tensor_count;
  *grown = *found;
  grown->name = copy_text(name);
  grown->shape = malloc((found->rank + 1) * sizeof *grown->shape);
  if (!grown->name || !grown->shape) {
    free(grown->name);
    free(grown->shape);
    return refuse(why, "out of memory");
  }
  if (found->rank > 0)
    memcpy(grown->shape, found->shape, found->rank * sizeof *grown->shape);
  ++file->tensor_count;
  return true;
}

static bool append_text(char ***list, size_t *count, const char *text, refusal *why) {
  char **grown = realloc(*list, (*count + 1) * sizeof *grown);
  if (grown) *list = grown;
  if (!grown || !(grown[*count] = copy_text(text))) return refuse(why, "out of memory");
  ++*count;
  return true;
}

bool input_add_name(input *file, const char *name, refusal *why) {
  return append_text(&file->names, &file->name_count, name, why);
}

bool input_note(input *file, refusal *why, const char *format, ...) {
  char line[320];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  clean_text(line);
  return append_text(&file->notes, &file->note_count, line, why);
}

bool ends_in(const char *text, const char *ending) {
  size_t length = strlen(text), ending_length = strlen(ending);
  return length >= ending_length && strcmp(text + length - ending_length, ending) == 0;
}

const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static bool read_table(input *file, refusal *why) {
  struct stat status;
  bool npy = ends_in(file->path, ".npy");
  if (fstat(file->descriptor, &status) != 0)
    return refuse(why, "cannot be examined: %s", strerror(errno));
  if (!S_ISREG(status.st_mode)) return refuse(why, "is not a regular file");
  if (status.st_size == 0) return refuse(why, "is empty");
  if (!npy && !ends_in(file->path, ".safetensors"))
    return refuse(why, "has a name that ends in neither .npy nor .safetensors");
  file->size = (uint64_t)status.st_size;
  if (!(npy ? npy_read(file, why) : safetensors_read(file, why))) return false;
  /* With notes it holds others, which is no fault of the file's. */
  return file->tensor_count + file->note_count > 0 || refuse(why, "holds no values");
}

static bool open_as(input *file, const char *path, int descriptor, mpnum_type codes,
                    refusal *why) {
  memset(file, 0, sizeof *file);
  file->path = path;
  file->descriptor = descriptor;
  file->codes = codes;
  if (read_table(file, why)) return true;
  input_close(file);
  return false;
}

bool input_open_descriptor(input *file, const char *path, int descriptor, refusal *why) {
  return open_as(file, path, descriptor, (mpnum_type)0, why);
}

bool input_open_codes(input *file, const char *path, mpnum_type codes, refusal *why) {
  /* O_NONBLOCK: opening a FIFO without a writer would wait for one. */
  int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0) return refuse(why, "cannot be opened: %s", strerror(errno));
  return open_as(file, path, descriptor, codes, why);
}

bool input_open(input *file, const char *path, refusal *why) {
  return input_open_codes(file, path, (mpnum_type)0, why);
}

static void free_texts(char **list, size_t count) {
  for (size_t i = 0; i < count; ++i)
    free(list[i]);
  free(list);
}

void input_close(input *file) {
  for (size_t i = 0; i < file->tensor_count; ++i) {
    free(file->tensors[i].name);
    free(file->tensors[i].shape);
  }
  free(file->tensors);
  free_texts(file->names, file->name_count);
  free_texts(file->notes, file->note_count);
  close(file->descriptor);
  memset(file, 0, sizeof *file);
  file->descriptor = -1;
}

static uint64_t load_code(const unsigned char *at, unsigned size, bool big_endian) {
  uint64_t code = 0;
  for (unsigned i = 0; i < size; ++i)
    code = code << 8 | at[big_endian ? i : size - 1 - i];
  return code;
}

static float code_to_float(mpnum_type type, uint64_t code) {
  double wide;
  if (type == MPNUM_TYPE_F32) return mpnum_from_bits_f32((uint32_t)code);
  if (type != MPNUM_TYPE_F64) return mpnum_decode(mpnum_format_of(type), (uint32_t)code);
  memcpy(&wide, &code, sizeof wide);
  return mpnum_f64_to_f32(wide);
}

bool input_floats(const input *file, const tensor *source, uint64_t first, float *dst,
                  size_t count, refusal *why) {
  unsigned char raw[4096];
  unsigned size = element_size(source->type);
  while (count > 0) {
    size_t i, now = count < sizeof raw / size ? count : sizeof raw / size;
    if (!input_bytes(file, source->offset + first * size, raw, now * size, why))
      return false;
    for (i = 0; i < now; ++i)
      dst[i] = code_to_float(source->type,
                             load_code(raw + i * size, size, source->big_endian));
    dst += now;
    first += now;
    count -= now;
  }
  return true;
}
