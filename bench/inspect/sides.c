/* SPDX-License-Identifier: MIT */
#include "sides.h"

#include <stdlib.h>
#include <string.h>

#include "../verdict/verdict.h"

static int compare_sides(const void *a, const void *b) {
  return strcmp(((const side *)a)->values->name, ((const side *)b)->values->name);
}

static int compare_name(const void *name, const void *of) {
  return strcmp(name, ((const side *)of)->values->name);
}

side *find_side(const side_list *from, const char *name) {
  return bsearch(name, from->sides, from->count, sizeof *from->sides, compare_name);
}

const char *type_of_side(const side *of) {
  return of->blocks ? block_format_of(of->blocks->number).name : stored_name(of->values);
}

bool is_taken(const side_list *from, const unread *bytes) {
  for (size_t i = 0; i < from->taken_count; ++i) {
    if (from->taken[i] == bytes) return true;
  }
  return false;
}

/* "x_scale" of "x_packed"; malloc'd. */
static char *with_ending(const char *name, const char *ending, const char *other) {
  const size_t base = strlen(name) - strlen(ending);
  char *made = malloc(base + strlen(other) + 1);
  if (!made) return NULL;
  memcpy(made, name, base);
  strcpy(made + base, other);
  return made;
}

static side *find_ending(const side_list *from, const char *name, const char *ending,
                         const char *other) {
  char *wanted = with_ending(name, ending, other);
  side *found = wanted ? find_side(from, wanted) : NULL;
  free(wanted);
  return found;
}

/* Bytes, U8, of that name. */
static const unread *find_bytes(const input_set *set, const char *name,
                                const char *ending, const char *other,
                                const input **file) {
  char *wanted = with_ending(name, ending, other);
  const unread *found = NULL;
  for (size_t f = 0; wanted && f < set->count && !found; ++f) {
    *file = &set->files[f];
    for (size_t i = 0; i < (*file)->other_count && !found; ++i) {
      const unread *at = &(*file)->others[i];
      if (strcmp(at->name, wanted) == 0 && strcmp(at->dtype, "U8") == 0) found = at;
    }
  }
  free(wanted);
  return found;
}

static bool is_one_float(const side *of) {
  return of && of->values->type == MPNUM_TYPE_F32 && !of->values->blocks &&
         of->values->count == 1;
}

/* --- one scale for all */

static bool take_scales(side_list *made, refusal *why) {
  for (size_t i = 0; i < made->count; ++i) {
    side *of = &made->sides[i];
    float scale;
    if (!is_one_float(of) || !ends_in(of->values->name, "_scale")) continue;
    side *codes = find_ending(made, of->values->name, "_scale", "");
    if (!codes || !is_byte_type(codes->values->type)) continue;
    if (!input_floats(of->file, of->values, 0, &scale, 1, why)) return false;
    codes->factor = (double)scale;
    of->is_scale = true;
  }
  return true;
}

/* --- blocks */

static blocked *add_blocked(side_list *made, refusal *why) {
  const size_t count = made->block_count + 1;
  blocked **blocks = realloc(made->blocks, count * sizeof(void *));
  if (blocks) made->blocks = blocks;
  const unread **taken = realloc(made->taken, 2 * count * sizeof(void *));
  if (taken) made->taken = taken;
  blocked *added = blocks && taken ? calloc(1, sizeof *added) : NULL;
  if (!added) return refuse(why, "out of memory"), NULL;
  return made->blocks[made->block_count++] = added;
}

/* The format that codes and scales of so many bytes have. */
static bool find_format(uint64_t codes, uint64_t scales, bool has_whole,
                        unsigned *number) {
  static const unsigned numbers[] = {BLOCK_nvfp4, BLOCK_mx_e2m1, BLOCK_mx_e2m3};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
    const mpnum_blockscale_format format = block_format_of(numbers[i]).format;
    const uint64_t block = format.columns / 8 * (uint64_t)format.element_bits;
    *number = numbers[i];
    if (has_whole == (numbers[i] == BLOCK_nvfp4) && scales > 0 && codes == scales * block)
      return true;
  }
  return false;
}

static bool has_its_bytes(const unread *of) {
  uint64_t count = 1;
  for (unsigned i = 0; i < of->rank; ++i) {
    if (!multiply(count, of->shape[i], &count)) return false;
  }
  return of->rank > 0 && count == of->bytes;
}

/* x for x_packed, with its last size that of the values. */
static bool name_values(blocked *of, const unread *codes, refusal *why) {
  const mpnum_blockscale_format format = block_format_of(of->number).format;
  tensor *values = &of->values;
  values->type = MPNUM_TYPE_F32;
  values->rank = codes->rank;
  values->name = with_ending(codes->name, "_packed", "");
  values->shape = malloc((codes->rank + 1) * sizeof *values->shape);
  if (!values->name || !values->shape) return refuse(why, "out of memory");
  memcpy(values->shape, codes->shape, codes->rank * sizeof *values->shape);
  values->shape[codes->rank - 1] =
      values->shape[codes->rank - 1] * 8 / (uint64_t)format.element_bits;
  values->count = codes->bytes * 8 / (uint64_t)format.element_bits;
  return true;
}

static bool take_packed(const input_set *set, side_list *made, const input *file,
                        const unread *codes, side **next, refusal *why) {
  const input *scales_file = NULL;
  side *whole = find_ending(made, codes->name, "_packed", "_global_scale");
  side *scales = find_ending(made, codes->name, "_packed", "_scale");
  const unread *bytes = find_bytes(set, codes->name, "_packed", "_scale", &scales_file);
  unsigned number;
  if (find_ending(made, codes->name, "_packed", "") || (bytes && whole)) return true;
  if (!bytes &&
      (!scales || scales->values->type != MPNUM_TYPE_E4M3 || !is_one_float(whole)))
    return true;
  if (!find_format(codes->bytes, bytes ? bytes->bytes : scales->values->count, !bytes,
                   &number))
    return true;
  blocked *of = add_blocked(made, why);
  if (!of) return false;
  of->number = number;
  of->codes_file = file;
  of->codes = codes->offset;
  of->scales_file = bytes ? scales_file : scales->file;
  of->scales = bytes ? bytes->offset : scales->values->offset;
  of->scale = 1;
  made->taken[made->taken_count++] = codes;
  if (bytes) made->taken[made->taken_count++] = bytes;
  if (!name_values(of, codes, why)) return false;
  if (!bytes) {
    scales->is_scale = whole->is_scale = true;
    if (!input_floats(whole->file, whole->values, 0, &of->scale, 1, why)) return false;
  }
  *(*next)++ = (side){file, &of->values, 1, of, false};
  return true;
}

/* Codes of 8 bits: x and x_scale. */
static bool take_mx(const input_set *set, side_list *made, side *codes, refusal *why) {
  const input *file = NULL;
  const unread *bytes = find_bytes(set, codes->values->name, "", "_scale", &file);
  const tensor *values = codes->values;
  if (values->type != MPNUM_TYPE_E4M3 || !bytes || bytes->bytes > values->count ||
      bytes->bytes * 32 != values->count)
    return true;
  blocked *of = add_blocked(made, why);
  if (!of) return false;
  of->number = BLOCK_mx_e4m3;
  of->codes_file = codes->file;
  of->codes = values->offset;
  of->scales_file = file;
  of->scales = bytes->offset;
  of->scale = 1;
  codes->blocks = of;
  made->taken[made->taken_count++] = bytes;
  return true;
}

static bool take_blocks(const input_set *set, side_list *made, side *next, refusal *why) {
  for (size_t i = 0; i < made->count; ++i) {
    if (!take_mx(set, made, &made->sides[i], why)) return false;
  }
  for (size_t f = 0; f < set->count; ++f) {
    const input *file = &set->files[f];
    for (size_t i = 0; i < file->other_count; ++i) {
      const unread *codes = &file->others[i];
      if (strcmp(codes->dtype, "U8") != 0 || !ends_in(codes->name, "_packed") ||
          !has_its_bytes(codes))
        continue;
      if (!take_packed(set, made, file, codes, &next, why)) return false;
    }
  }
  made->count = (size_t)(next - made->sides);
  return true;
}

/* --- the list */

bool sides_of(const input_set *set, side_list *made, refusal *why) {
  size_t room = 1, kept = 0;
  memset(made, 0, sizeof *made);
  for (size_t f = 0; f < set->count; ++f)
    room += set->files[f].tensor_count + set->files[f].other_count;
  if (!(made->sides = calloc(room, sizeof *made->sides)))
    return refuse(why, "out of memory");
  for (size_t f = 0; f < set->count; ++f) {
    const input *file = &set->files[f];
    for (size_t t = 0; t < file->tensor_count; ++t)
      made->sides[made->count++] = (side){file, &file->tensors[t], 1, NULL, false};
  }
  qsort(made->sides, made->count, sizeof *made->sides, compare_sides);
  if (!take_scales(made, why) || !take_blocks(set, made, made->sides + made->count, why))
    return false;
  for (size_t i = 0; i < made->count; ++i) {
    if (!made->sides[i].is_scale) made->sides[kept++] = made->sides[i];
  }
  made->count = kept;
  qsort(made->sides, made->count, sizeof *made->sides, compare_sides);
  return true;
}

void sides_free(side_list *made) {
  for (size_t i = 0; i < made->block_count; ++i) {
    free(made->blocks[i]->values.name);
    free(made->blocks[i]->values.shape);
    free(made->blocks[i]);
  }
  free(made->blocks);
  free(made->taken);
  free(made->sides);
  memset(made, 0, sizeof *made);
}

/* --- values */

static bool block_values(const blocked *of, uint64_t first, float *dst, size_t count,
                         unsigned char *raw, refusal *why) {
  const mpnum_blockscale_format format = block_format_of(of->number).format;
  const size_t bits = (size_t)format.element_bits, blocks = count / format.columns;
  const mpnum_blockscaled codes = {raw, count, raw + count, blocks, 0, of->scale};
  if (!input_bytes(of->codes_file, of->codes + first / 8 * bits, raw, count / 8 * bits,
                   why) ||
      !input_bytes(of->scales_file, of->scales + first / format.columns, raw + count,
                   blocks, why))
    return false;
  must(from_blocks(&format, mpnum_matrix_of(MPNUM_TYPE_F32, dst, 1, count), codes));
  return true;
}

bool side_values(const side *from, uint64_t first, double *dst, size_t count,
                 unsigned char *raw, float *floats, refusal *why) {
  if (from->values->type == MPNUM_TYPE_F64)
    return input_values(from->file, from->values, first, dst, count, why);
  if (!(from->blocks
            ? block_values(from->blocks, first, floats, count, raw, why)
            : read_floats(from->file, from->values, first, raw, floats, count, why)))
    return false;
  for (size_t i = 0; i < count; ++i)
    dst[i] = (double)floats[i] * from->factor;
  return true;
}
