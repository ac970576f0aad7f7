/* SPDX-License-Identifier: MIT */
/* The .npz format of numpy.savez and savez_compressed: npy files in a ZIP archive
 * (APPNOTE 6.3.10 of PKWARE), stored or deflated, with sizes of 64 bits where they are
 * needed.
 *
 *   of each member: a local header, its bytes
 *   of each member: an entry of the central directory, which says where it is
 *   (a record and its locator for sizes of 64 bits), the end record
 *
 * What is deflated is inflated into a file without a name. Each refusal says at which
 * byte of the file it is about. */
#include "input.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if BENCH_HAVE_ZLIB
# include <zlib.h>
#endif

enum { END = 22, LOCATOR = 20, END_64 = 56, ENTRY = 46, LOCAL = 30 };
enum { COMMENT_LIMIT = 65535, DIRECTORY_LIMIT = 64 << 20, SHOWN_NAME = 64 };
enum { STORED = 0, DEFLATED = 8, ENCRYPTED = 1 };
/* The most that deflate makes of a byte. */
enum { MOST_INFLATED = 1032 };

typedef struct member {
  char *name;
  unsigned method, flags;
  uint32_t crc;
  uint64_t packed, size; /* bytes in the archive, and of the npy file */
  uint64_t local, data; /* bytes of the archive at which its header and its bytes begin */
} member;

typedef struct directory {
  uint64_t begin, size, count;
} directory;

static uint64_t number_at(const unsigned char *at, unsigned size) {
  uint64_t value = 0;
  while (size-- > 0)
    value = value << 8 | at[size];
  return value;
}

static bool has_mark(const unsigned char *at, unsigned char third, unsigned char fourth) {
  return at[0] == 'P' && at[1] == 'K' && at[2] == third && at[3] == fourth;
}

static bool refuse_at(refusal *why, uint64_t place, const char *what) {
  return refuse(why, "npz: at byte %" PRIu64 " %s", place, what);
}

/* --- the directory */

static bool read_end_64(const input *file, uint64_t end, directory *found, refusal *why) {
  unsigned char locator[LOCATOR], record[END_64];
  if (end < LOCATOR) return true;
  if (!input_bytes(file, end - LOCATOR, locator, LOCATOR, why)) return false;
  if (!has_mark(locator, 6, 7)) return true;
  const uint64_t place = number_at(locator + 8, 8);
  if (place > end - LOCATOR || end - LOCATOR - place < END_64)
    return refuse_at(why, end - LOCATOR, "a locator leads out of the file");
  if (!input_bytes(file, place, record, END_64, why)) return false;
  if (!has_mark(record, 6, 6))
    return refuse_at(why, place, "no record of 64 bits begins");
  found->count = number_at(record + 32, 8);
  found->size = number_at(record + 40, 8);
  found->begin = number_at(record + 48, 8);
  return true;
}

static bool find_directory(const input *file, directory *found, refusal *why) {
  const uint64_t most = END + COMMENT_LIMIT;
  const size_t size = (size_t)(file->size < most ? file->size : most);
  unsigned char *tail = malloc(size);
  if (!tail) return refuse(why, "out of memory");
  uint64_t end = UINT64_MAX;
  bool good = input_bytes(file, file->size - size, tail, size, why);
  for (size_t i = size; good && end == UINT64_MAX && i >= END; --i) {
    const unsigned char *at = tail + i - END;
    if (!has_mark(at, 5, 6) || number_at(at + 20, 2) != size - i) continue;
    end = file->size - size + i - END;
    found->count = number_at(at + 10, 2);
    found->size = number_at(at + 12, 4);
    found->begin = number_at(at + 16, 4);
  }
  free(tail);
  if (!good) return false;
  if (end == UINT64_MAX)
    return refuse(why, "is not an npz file: at byte %" PRIu64 " no ZIP archive ends",
                  file->size);
  if (!read_end_64(file, end, found, why)) return false;
  if (found->begin > end || found->size > end - found->begin)
    return refuse_at(why, end, "the directory is said to lie outside the file");
  if (found->size > DIRECTORY_LIMIT)
    return refuse_at(why, end, "the directory has over 64 MiB");
  if (found->count > found->size / ENTRY)
    return refuse_at(why, end, "there are more members than entries");
  return true;
}

/* Sizes that 32 bits do not hold stand in a field of their own, those alone. */
static bool read_sizes_64(const unsigned char *extra, size_t size, member *found) {
  uint64_t *const wanted[] = {&found->size, &found->packed, &found->local};
  size_t used = 4, length;
  bool is_complete = true;
  for (; size >= 4; extra += 4 + length, size -= 4 + length) {
    length = (size_t)number_at(extra + 2, 2);
    if (length > size - 4) return false;
    if (number_at(extra, 2) == 1) break;
  }
  for (int i = 0; i < 3; ++i) {
    if (*wanted[i] != UINT32_MAX) continue;
    is_complete = is_complete && size >= 4 && used + 8 <= 4 + number_at(extra + 2, 2);
    if (is_complete) *wanted[i] = number_at(extra + used, 8);
    used += 8;
  }
  return is_complete;
}

/* One entry, and how many bytes it takes. */
static bool read_entry(const unsigned char *at, size_t left, uint64_t place,
                       member *found, size_t *taken, refusal *why) {
  if (left < ENTRY || !has_mark(at, 1, 2))
    return refuse_at(why, place, "no entry of the directory begins");
  const size_t name = (size_t)number_at(at + 28, 2),
               extra = (size_t)number_at(at + 30, 2);
  *taken = ENTRY + name + extra + (size_t)number_at(at + 32, 2);
  if (*taken > left) return refuse_at(why, place, "an entry ends past the directory");
  found->flags = (unsigned)number_at(at + 8, 2);
  found->method = (unsigned)number_at(at + 10, 2);
  found->crc = (uint32_t)number_at(at + 16, 4);
  found->packed = number_at(at + 20, 4);
  found->size = number_at(at + 24, 4);
  found->local = number_at(at + 42, 4);
  if (!read_sizes_64(at + ENTRY + name, extra, found))
    return refuse_at(why, place, "an entry lacks its sizes of 64 bits");
  if (memchr(at + ENTRY, 0, name))
    return refuse_at(why, place, "a name has a zero byte in it");
  if (!(found->name = malloc(name + 1))) return refuse(why, "out of memory");
  memcpy(found->name, at + ENTRY, name);
  found->name[name] = 0;
  return true;
}

/* Where the bytes of a member begin, and that they lie before the directory. */
static bool find_data(const input *file, uint64_t end, member *of, refusal *why) {
  unsigned char head[LOCAL];
  if (of->local > end || end - of->local < LOCAL)
    return refuse_at(why, of->local, "a member is said to begin, past the last one");
  if (!input_bytes(file, of->local, head, LOCAL, why)) return false;
  if (!has_mark(head, 3, 4)) return refuse_at(why, of->local, "no member begins");
  of->data = of->local + LOCAL + number_at(head + 26, 2) + number_at(head + 28, 2);
  if (of->data > end || of->packed > end - of->data)
    return refuse_at(why, of->local, "a member ends inside the directory");
  if (of->flags & ENCRYPTED) return refuse_at(why, of->local, "a member is encrypted");
  if (of->method != STORED && of->method != DEFLATED)
    return refuse(why,
                  "npz: at byte %" PRIu64 " a member is packed by method %u, not 0 or 8",
                  of->local, of->method);
  if (of->method == STORED && of->packed != of->size)
    return refuse_at(why, of->local, "a stored member has two sizes");
  return true;
}

/* --- members */

#if BENCH_HAVE_ZLIB

/* Under TMPDIR, gone when it is closed. */
static FILE *open_nameless(void) {
  static const char ending[] = "/mpnum-XXXXXX";
  const char *folder = getenv("TMPDIR");
  if (!folder || !folder[0]) folder = "/tmp";
  char *path = malloc(strlen(folder) + sizeof ending);
  if (!path) return NULL;
  strcat(strcpy(path, folder), ending);
  const int descriptor = mkstemp(path);
  if (descriptor >= 0) unlink(path);
  free(path);
  return descriptor >= 0 ? fdopen(descriptor, "w+") : NULL;
}

/* Appends what comes out of a member to the nameless file. */
static bool inflate_all(const input *file, const member *of, z_stream *stream,
                        refusal *why) {
  enum { PIECE = 1 << 15 };
  unsigned char packed[PIECE], out[PIECE];
  uint64_t read = 0, written = 0;
  uLong crc = crc32(0, NULL, 0);
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    if (stream->avail_in == 0 && read < of->packed) {
      const uint64_t left = of->packed - read;
      stream->avail_in = left < PIECE ? (uInt)left : PIECE;
      stream->next_in = packed;
      if (!input_bytes(file, of->data + read, packed, stream->avail_in, why))
        return false;
      read += stream->avail_in;
    }
    stream->next_out = out;
    stream->avail_out = PIECE;
    status = inflate(stream, Z_NO_FLUSH);
    const size_t made = PIECE - stream->avail_out;
    if ((status != Z_OK && status != Z_STREAM_END) || made > of->size - written)
      return refuse_at(why, of->data + read - stream->avail_in,
                       "a member is no deflated data of its size");
    crc = crc32(crc, out, (uInt)made);
    written += made;
    if (fwrite(out, 1, made, file->inflated) != made)
      return refuse(why, "cannot be unpacked: %s", strerror(errno));
  }
  if (written != of->size || stream->avail_in > 0 || read < of->packed)
    return refuse_at(why, of->local, "a member has other sizes than its entry says");
  return crc == of->crc || refuse_at(why, of->local, "the checksum of a member is wrong");
}

static bool inflate_member(input *file, const member *of, npy_part *part, refusal *why) {
  z_stream stream;
  memset(&stream, 0, sizeof stream);
  if (!file->inflated && !(file->inflated = open_nameless()))
    return refuse(why, "cannot be unpacked: %s", strerror(errno));
  part->is_inflated = true;
  part->begin = (uint64_t)ftello(file->inflated);
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return refuse(why, "out of memory");
  bool good = inflate_all(file, of, &stream, why);
  inflateEnd(&stream);
  if (good && fflush(file->inflated) != 0)
    good = refuse(why, "cannot be unpacked: %s", strerror(errno));
  return good;
}

#else

static bool inflate_member(input *file, const member *of, npy_part *part, refusal *why) {
  (void)file;
  (void)part;
  return refuse_at(why, of->local,
                   "a member is deflated; zlib was not found when this was built");
}

#endif

static bool read_member(input *file, const member *of, uint64_t *inflated, refusal *why) {
  char shown[4 * SHOWN_NAME + 4], before[4 * SHOWN_NAME + 16];
  const size_t length = strlen(of->name);
  npy_part part = {false, of->data, of->size, of->name, before};
  refusal inner;
  shorten(shown, sizeof shown, SHOWN_NAME, of->name);
  if (!ends_in(of->name, ".npy"))
    return input_note(file, why, "'%s' left out: it is no .npy file", shown);
  snprintf(before, sizeof before, "'%s' ", shown);
  if (of->method == DEFLATED) {
    if (of->size > MOST_INFLATED * file->size - *inflated)
      return refuse_at(why, of->local, "a member is said to be larger than it can be");
    *inflated += of->size;
    if (!inflate_member(file, of, &part, why)) return false;
  }
  of->name[length - 4] = 0;
  return (input_add_name(file, of->name, why) && npy_read_part(file, &part, &inner)) ||
         refuse(why, "npz: '%s' at byte %" PRIu64 ": %s", shown, of->data, inner.text);
}

static int compare_names(const void *a, const void *b) {
  const char *const *left = a, *const *right = b;
  return strcmp(*left, *right);
}

/* A name that two members have; NULL: none. */
static const char *find_twice(const input *file) {
  const char *found = NULL;
  char **sorted = malloc((file->name_count + 1) * sizeof *sorted);
  if (!sorted) return NULL;
  if (file->name_count > 0)
    memcpy(sorted, file->names, file->name_count * sizeof *sorted);
  qsort(sorted, file->name_count, sizeof *sorted, compare_names);
  for (size_t i = 1; i < file->name_count && !found; ++i) {
    if (strcmp(sorted[i - 1], sorted[i]) == 0) found = sorted[i];
  }
  free(sorted);
  return found;
}

static bool read_members(input *file, const directory *from, const unsigned char *entries,
                         refusal *why) {
  char shown[4 * SHOWN_NAME + 4];
  uint64_t inflated = 0;
  size_t at = 0, taken = 0;
  for (uint64_t i = 0; i < from->count; ++i, at += taken) {
    member of;
    memset(&of, 0, sizeof of);
    bool good = read_entry(entries + at, (size_t)from->size - at, from->begin + at, &of,
                           &taken, why) &&
                find_data(file, from->begin, &of, why) &&
                read_member(file, &of, &inflated, why);
    free(of.name);
    if (!good) return false;
  }
  if (at != from->size)
    return refuse_at(why, from->begin + at, "the directory holds more than its entries");
  const char *twice = find_twice(file);
  shorten(shown, sizeof shown, SHOWN_NAME, twice ? twice : "");
  return !twice || refuse(why, "npz: at byte %" PRIu64 " the directory names '%s' twice",
                          from->begin, shown);
}

bool npz_read(input *file, refusal *why) {
  directory found;
  memset(&found, 0, sizeof found);
  if (!find_directory(file, &found, why)) return false;
  unsigned char *entries = malloc((size_t)found.size + 1);
  if (!entries) return refuse(why, "out of memory");
  bool good = input_bytes(file, found.begin, entries, (size_t)found.size, why) &&
              read_members(file, &found, entries, why);
  free(entries);
  return good;
}
