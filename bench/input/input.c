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

#include "ggml_blocks.h"

const char *element_name(mpnum_type type) { return mpnum_type_name(type); }

int element_width(mpnum_type type) {
  const mpnum_format format = mpnum_format_of(type);
  if (type == MPNUM_TYPE_F64) return 64;
  return format.sign_bits + format.exponent_bits + format.mantissa_bits;
}

bool is_byte_type(mpnum_type type) {
  const int width = element_width(type);
  return width == 8 || width == 7; /* ue4m3 */
}

unsigned element_size(mpnum_type type) { return ((unsigned)element_width(type) + 7) / 8; }

bool multiply(uint64_t a, uint64_t b, uint64_t *product) {
  if (a != 0 && b > UINT64_MAX / a) return false;
  *product = a * b;
  return true;
}

const char *stored_name(const tensor *of) {
  return of->blocks ? ggml_type_of(of->blocks)->name : element_name(of->type);
}

uint64_t stored_bytes(const tensor *of) {
  const ggml_type *blocks = of->blocks ? ggml_type_of(of->blocks) : NULL;
  return blocks ? of->count / blocks->values * blocks->bytes
                : of->count * element_size(of->type);
}

bool input_bytes(const input *file, uint64_t offset, void *dst, size_t size,
                 refusal *why) {
  return part_bytes(file, false, offset, dst, size, why);
}

bool part_bytes(const input *file, bool is_inflated, uint64_t offset, void *dst,
                size_t size, refusal *why) {
  const int descriptor = is_inflated ? fileno(file->inflated) : file->descriptor;
  unsigned char *to = dst;
  while (size > 0) {
    ssize_t got = pread(descriptor, to, size, (off_t)offset);
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

bool input_add_other(input *file, const char *name, const char *dtype,
                     const tensor *found, uint64_t bytes, refusal *why) {
  unread *grown = realloc(file->others, (file->other_count + 1) * sizeof *grown);
  if (!grown) return refuse(why, "out of memory");
  file->others = grown;
  grown += file->other_count++;
  grown->name = copy_text(name);
  grown->dtype = copy_text(dtype);
  grown->rank = found->rank;
  grown->shape = malloc((found->rank + 1) * sizeof *grown->shape);
  grown->offset = found->offset;
  grown->bytes = bytes;
  if (!grown->name || !grown->dtype || !grown->shape) return refuse(why, "out of memory");
  if (found->rank > 0)
    memcpy(grown->shape, found->shape, found->rank * sizeof *grown->shape);
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

static const struct {
  const char *ending;
  bool (*read)(input *file, refusal *why);
} readers[] = {{".npy", npy_read},
               {".npz", npz_read},
               {".safetensors", safetensors_read},
               {".gguf", gguf_read}};
enum { READERS = sizeof readers / sizeof *readers };

static bool read_table(input *file, refusal *why) {
  struct stat status;
  size_t r = 0;
  if (fstat(file->descriptor, &status) != 0)
    return refuse(why, "cannot be examined: %s", strerror(errno));
  if (!S_ISREG(status.st_mode)) return refuse(why, "is not a regular file");
  if (status.st_size == 0) return refuse(why, "is empty");
  if (refuse_foreign(file->path, why)) return false;
  while (r < READERS && !ends_in(file->path, readers[r].ending))
    ++r;
  if (r == READERS)
    return refuse(why, "has a name that ends in none of .npy, .npz, .safetensors, .gguf");
  file->size = (uint64_t)status.st_size;
  if (!readers[r].read(file, why)) return false;
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
  for (size_t i = 0; i < file->other_count; ++i) {
    free(file->others[i].name);
    free(file->others[i].dtype);
    free(file->others[i].shape);
  }
  free(file->others);
  free_texts(file->names, file->name_count);
  free_texts(file->notes, file->note_count);
  if (file->inflated) fclose(file->inflated);
  close(file->descriptor);
  memset(file, 0, sizeof *file);
  file->descriptor = -1;
}

/* --- values */

static bool host_is_big_endian(void) {
  const uint16_t one = 1;
  unsigned char first;
  memcpy(&first, &one, 1);
  return first == 0;
}

static void swap_bytes(void *values, unsigned size, size_t count) {
  unsigned char *at = values;
  for (; count > 0; --count, at += size) {
    for (unsigned i = 0; i < size / 2; ++i) {
      const unsigned char kept = at[i];
      at[i] = at[size - 1 - i];
      at[size - 1 - i] = kept;
    }
  }
}

/* Of blocks, which the elements may begin and end amid. */
static bool blocks_values(const input *file, const tensor *source, uint64_t first,
                          float *dst, size_t count, refusal *why) {
  enum { PIECE = 4096 };
  const ggml_type *type = ggml_type_of(source->blocks);
  unsigned char raw[PIECE / 16 * 9]; /* 36 bytes for 64 values at most, 34 for 32 */
  float values[PIECE];
  unsigned char *const from = raw;
  while (count > 0) {
    const uint64_t block = first / type->values;
    const size_t skipped = (size_t)(first % type->values);
    const size_t room = sizeof raw / type->bytes * type->values;
    const size_t most = room < PIECE ? room : PIECE;
    const size_t wanted = count < most - skipped ? count : most - skipped;
    const size_t held = (skipped + wanted + type->values - 1) / type->values;
    if (!input_bytes(file, source->offset + block * type->bytes, from, held * type->bytes,
                     why))
      return false;
    ggml_to_floats(type, values, from, held);
    memcpy(dst, values + skipped, wanted * sizeof *dst);
    dst += wanted;
    first += wanted;
    count -= wanted;
  }
  return true;
}

bool input_values(const input *file, const tensor *source, uint64_t first, void *dst,
                  size_t count, refusal *why) {
  const unsigned size = element_size(source->type);
  if (source->blocks) return blocks_values(file, source, first, dst, count, why);
  if (!part_bytes(file, source->is_inflated, source->offset + first * size, dst,
                  count * size, why))
    return false;
  if (source->big_endian != host_is_big_endian()) swap_bytes(dst, size, count);
  return true;
}

static float to_float(mpnum_type type, const unsigned char *at) {
  uint16_t two;
  float value;
  double wide;
  if (is_byte_type(type)) return mpnum_decode(mpnum_format_of(type), *at);
  if (type == MPNUM_TYPE_F32) return memcpy(&value, at, sizeof value), value;
  if (type == MPNUM_TYPE_F64)
    return memcpy(&wide, at, sizeof wide), mpnum_f64_to_f32(wide);
  memcpy(&two, at, sizeof two);
  return mpnum_decode(mpnum_format_of(type), two);
}

bool input_floats(const input *file, const tensor *source, uint64_t first, float *dst,
                  size_t count, refusal *why) {
  unsigned char raw[4096];
  unsigned size = element_size(source->type);
  while (count > 0) {
    size_t i, now = count < sizeof raw / size ? count : sizeof raw / size;
    if (!input_values(file, source, first, raw, now, why)) return false;
    for (i = 0; i < now; ++i)
      dst[i] = to_float(source->type, raw + i * size);
    dst += now;
    first += now;
    count -= now;
  }
  return true;
}
