/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_special(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

/* Folder of path, malloc'd. */
static char *folder_of(const char *path) {
  char *folder = copy_text(path);
  char *slash = folder ? strrchr(folder, '/') : NULL;
  if (!folder) return NULL;
  if (!slash) return strcpy(folder, path[0] ? "." : "");
  slash[slash == folder] = 0;
  return folder;
}

static bool is_input(const char *path, const input *files, size_t count) {
  struct stat out, in;
  if (stat(path, &out) != 0) return false;
  for (size_t i = 0; i < count; ++i) {
    if (fstat(files[i].descriptor, &in) == 0 && in.st_dev == out.st_dev &&
        in.st_ino == out.st_ino)
      return true;
  }
  return false;
}

static bool output_check(const output *to, const input *files, size_t count,
                         refusal *why) {
  const char *path = to->path;
  struct stat status;
  if (path[0] == 0) return refuse(why, "an output file has no name");
  if (is_input(path, files, count))
    return refuse(why, "is an input; it is not overwritten");
  if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
    return refuse(why, "cannot be written: %s", strerror(EISDIR));
  if (is_special(path)) return true;
  if (to->is_kept && lstat(path, &status) == 0)
    return refuse(why, "is there already; --force overwrites it");
  char *folder = folder_of(path);
  if (!folder) return refuse(why, "out of memory");
  bool good = access(folder, W_OK | X_OK) == 0 ||
              refuse(why, "cannot be written: %s", strerror(errno));
  free(folder);
  return good;
}

static bool finish(FILE *to, bool written) {
  bool good = written && fflush(to) == 0 && !ferror(to);
  return fclose(to) == 0 && good;
}

/* Why a file could not be written: as its writer says, else by the stream. */
static bool refuse_written(const report *about, refusal *why) {
  if (!about->refused || !about->refused->text[0])
    return refuse(why, "cannot be written: %s", strerror(errno));
  *why = *about->refused;
  return false;
}

static bool write_special(const char *path, report_writer *write, const report *about,
                          refusal *why) {
  FILE *to = fopen(path, "w");
  if (to && finish(to, write(about, to))) return true;
  return refuse_written(about, why);
}

/* mkstemp makes files that only their owner reads; results follow the umask. */
static void set_usual_mode(int descriptor) {
  mode_t mask = umask(0);
  umask(mask);
  if (fchmod(descriptor, 0666 & ~mask) != 0) return; /* readable by the owner is enough */
}

static bool write_beside(const char *path, char *temporary, report_writer *write,
                         const report *about) {
  int descriptor = mkstemp(temporary), error;
  FILE *to = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
  if (!to) return false;
  set_usual_mode(descriptor);
  if (finish(to, write(about, to)) && rename(temporary, path) == 0) return true;
  error = errno;
  unlink(temporary);
  errno = error;
  return false;
}

static bool output_write(const char *path, report_writer *write, const report *about,
                         refusal *why) {
  static const char suffix[] = ".XXXXXX";
  if (is_special(path)) return write_special(path, write, about, why);
  char *real = realpath(path, NULL); /* through a symbolic link, which stays */
  if (!real) real = copy_text(path);
  char *temporary = real ? malloc(strlen(real) + sizeof suffix) : NULL;
  if (temporary) strcat(strcpy(temporary, real), suffix);
  bool good = temporary && write_beside(real, temporary, write, about);
  if (!good) refuse_written(about, why);
  free(real);
  free(temporary);
  return good;
}

bool outputs_check(const output list[OUTPUTS], const input *files, size_t count) {
  refusal why;
  for (size_t i = 0; i < OUTPUTS; ++i) {
    const char *path = list[i].path;
    bool good = !path || output_check(&list[i], files, count, &why);
    for (size_t other = 0; other < i && good && path; ++other) {
      if (!list[other].path || strcmp(path, list[other].path) != 0) continue;
      good = refuse(&why, "is named for %s and for %s", list[other].kind, list[i].kind);
    }
    if (!good) return complain(path, why.text), false;
  }
  return true;
}

bool outputs_write(const output list[OUTPUTS], const report *about) {
  refusal why;
  for (size_t i = 0; i < OUTPUTS; ++i) {
    const char *path = list[i].path;
    if (path && !output_write(path, list[i].write, about, &why))
      return complain(path, why.text), false;
  }
  return true;
}

bool finish_output(bool good) {
  if (fflush(stdout) == 0 && !ferror(stdout) && good) return true;
  return complain("standard output", strerror(errno)), false;
}
