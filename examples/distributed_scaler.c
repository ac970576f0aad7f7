/* SPDX-License-Identifier: MIT */
/* Loss scaling over MPI ranks. Each rank has the whole network and a share of each batch;
 * gradients are f16, and are summed as floats. All ranks take the same verdict, and hold
 * the same scaler and weights to the last byte, which is checked in every step.
 *
 *     mpicc -O2 -I include examples/distributed_scaler.c -o distributed_scaler
 *     mpirun -n 4 ./distributed_scaler examples/digits.bin
 *
 * The ranks first tell each other what they found, 8 bytes: whether there is an Inf or
 * NaN, and the largest gradient. What will be skipped is not summed at all.
 * train_f16.c has the same training on one machine, and what else belongs to it. */
#include "adam.h"
#include "batches.h"

#include <mpi.h>
#include <signal.h>
#include <unistd.h>

enum { BATCH = 64, GLOBAL_BATCH = 4194304 }; /* see train_f16.c */

/* Where something goes wrong; step 0: nowhere. */
typedef struct place {
  uint64_t rank, step;
} place;
typedef struct options {
  uint64_t steps, wait;
  place inject, differ; /* an Inf in the gradients, another weight */
  place die, hang;
  const char *data;
} options;
typedef struct trainer {
  int rank, ranks;
  digits data;
  mlp net;
  adam optimizer_state;
  mpnum_grad_scaler scaler;
  mpnum_grad_optimizer optimizer;
  float *images, *gradients;
  float losses[BATCH];
  int64_t labels[BATCH];
} trainer;
/* What all ranks know after a step. */
typedef struct progress {
  uint32_t found_inf, amax_bits; /* a float that is not negative orders as its bits */
  float loss;
  mpnum_grad_verdict verdict;
} progress;

/* Ends all ranks. */
static void stop(const char *what, const char *why) {
  fprintf(stderr, "distributed_scaler: %s: %s\n", what, why);
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}
static void must(const char *what, mpnum_status status) {
  if (status != MPNUM_OK) stop(what, mpnum_status_string(status));
}

/* A collective does not return while a rank is missing. mpirun notices one that has
 * ended; this notices one that hangs. */
static char late[160];
static void tell_late(int signal_number) {
  (void)signal_number;
  if (write(STDERR_FILENO, late, strlen(late)) < 0) _exit(2);
  _exit(1);
}
static void watch(const trainer *t, uint64_t step, uint64_t seconds) {
  snprintf(
      late, sizeof late,
      "distributed_scaler: rank %d, step %llu: no answer from the others for %llu s\n",
      t->rank, (unsigned long long)step, (unsigned long long)seconds);
  signal(SIGALRM, tell_late);
  alarm((unsigned)seconds);
}

static void start(trainer *t, const options *chosen) {
  const size_t widths[] = {DIGITS_PIXELS, 32, 32, 32, DIGITS_CLASSES};
  const char *wrong = digits_load(&t->data, chosen->data);
  mpnum_grad_scaler_config scaling = mpnum_grad_scaler_default();
  if (wrong) stop(chosen->data, wrong);
  if (BATCH % t->ranks != 0) stop("ranks", "64 images cannot be shared among so many");
  if (!mlp_init(&t->net, 4, widths, (size_t)(BATCH / t->ranks)) ||
      !adam_init(&t->optimizer_state, mlp_count(&t->net)))
    stop("memory", "there is not enough");
  t->images = (float *)malloc((size_t)BATCH * DIGITS_PIXELS * sizeof(float));
  t->gradients = (float *)malloc(mlp_count(&t->net) * sizeof(float));
  if (!t->images || !t->gradients) stop("memory", "there is not enough");
  mlp_start(&t->net, 1, 0);
  t->net.value_type = t->net.gradient_type = MPNUM_TYPE_F16;
  scaling.growth_interval = 50;
  must("scaler", mpnum_grad_scaler_init(&t->scaler, scaling));
  t->optimizer = mpnum_grad_optimizer_of(&t->scaler);
}
static void end(trainer *t) {
  free(t->data.bytes);
  mlp_free(&t->net);
  adam_free(&t->optimizer_state);
  free(t->images);
  free(t->gradients);
}

/* This rank's gradients, still scaled, and its part of the mean loss. */
static float take_gradients(trainer *t, uint64_t step, int is_injected) {
  const size_t n = t->net.batch;
  const uint64_t first = step * BATCH + (uint64_t)t->rank * n;
  float scaled = 0, sum = 0;
  batches_take(t->images, t->labels, &t->data, 1, first, n);
  mlp_round_weights(&t->net);
  mlp_forward(&t->net, t->images, n);
  must("scale", mpnum_grad_scaler_scale_f32(&t->scaler, 1.0f / GLOBAL_BATCH, &scaled));
  must("loss", mlp_losses(&t->net, t->losses, t->labels, n, scaled));
  mlp_backward(&t->net, n);
  if (is_injected) {
    const float inf = mpnum_from_bits_f32(0x7f800000u);
    mlp_store(MPNUM_TYPE_F16, t->net.gradients, &inf, 1, MPNUM_OVERFLOW_IEEE);
  }
  for (size_t i = 0; i < n; ++i)
    sum += t->losses[i];
  return sum / BATCH;
}
/* What any rank found in its own gradients. */
static void share_findings(trainer *t, progress *now) {
  const mpnum_grad_tensor own = mpnum_grad_tensor_of(
      MPNUM_TYPE_F16, t->net.gradients, mlp_count(&t->net), MPNUM_TYPE_F32, NULL);
  mpnum_grad_findings findings;
  uint32_t words[2];
  must("check", mpnum_grad_read(&own, 1, t->scaler.inverse, &findings));
  words[0] = (uint32_t)mpnum_grad_found_inf(&findings);
  words[1] = mpnum_bits_f32(findings.stats.amax);
  MPI_Allreduce(MPI_IN_PLACE, words, 2, MPI_UINT32_T, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &now->loss, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  now->found_inf = words[0];
  now->amax_bits = words[1];
}
/* The gradients of all ranks, summed and unscaled; MPI libraries give each rank the same
 * bits. The sum is checked once more: parts that are finite can have one that is not. */
static void sum_gradients(trainer *t) {
  const size_t n = mlp_count(&t->net);
  const mpnum_grad_tensor sum =
      mpnum_grad_tensor_of(MPNUM_TYPE_F32, t->gradients, n, MPNUM_TYPE_F32, t->gradients);
  mlp_load(t->gradients, MPNUM_TYPE_F16, t->net.gradients, n);
  MPI_Allreduce(MPI_IN_PLACE, t->gradients, (int)n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  must("unscale", mpnum_grad_scaler_unscale(&t->scaler, &t->optimizer, &sum, 1, 0, NULL));
}
/* Ranks that agree on the largest checksum and on the largest complement of it have the
 * same one. */
static void compare_ranks(const trainer *t) {
  uint32_t sum = checksum(0, &t->scaler, sizeof t->scaler), words[2];
  sum = checksum(sum, &t->optimizer, sizeof t->optimizer);
  sum = checksum(sum, t->net.master, mlp_count(&t->net) * sizeof(float));
  words[0] = sum;
  words[1] = ~sum;
  MPI_Allreduce(MPI_IN_PLACE, words, 2, MPI_UINT32_T, MPI_MAX, MPI_COMM_WORLD);
  if (words[0] != ~words[1]) stop("ranks", "they no longer hold the same bytes");
}

static progress take_step(trainer *t, uint64_t step, int is_injected) {
  progress now;
  now.loss = take_gradients(t, step, is_injected);
  share_findings(t, &now);
  if (now.found_inf) {
    must("check", mpnum_grad_scaler_report_checked(&t->scaler, &t->optimizer, 1,
                                                   MPNUM_GRAD_NORM_UNKNOWN));
  } else {
    sum_gradients(t);
  }
  must("step", mpnum_grad_scaler_step(&t->scaler, &t->optimizer, &now.verdict));
  if (now.verdict == MPNUM_GRAD_APPLY)
    adam_step(&t->optimizer_state, t->net.master, t->gradients, mlp_count(&t->net),
              0.002f);
  must("update", mpnum_grad_scaler_update(&t->scaler, &t->optimizer));
  compare_ranks(t);
  return now;
}

static int is_here(const trainer *t, place where, uint64_t step) {
  return where.step == step && where.rank == (uint64_t)t->rank;
}
static void train(trainer *t, const options *chosen) {
  for (uint64_t step = 1; step <= chosen->steps; ++step) {
    progress now;
    if (is_here(t, chosen->die, step)) {
      fprintf(stderr, "distributed_scaler: rank %d ends before step %llu\n", t->rank,
              (unsigned long long)step);
      _exit(3);
    }
    while (is_here(t, chosen->hang, step))
      pause();
    watch(t, step, chosen->wait);
    if (is_here(t, chosen->differ, step)) t->net.master[0] += 1;
    now = take_step(t, step, is_here(t, chosen->inject, step));
    alarm(0);
    if (t->rank == 0 && now.verdict == MPNUM_GRAD_SKIP)
      printf("step %llu: all ranks skip, the scale is now %g\n", (unsigned long long)step,
             (double)t->scaler.scale);
    if (t->rank == 0 && (step % 50 == 0 || step == chosen->steps))
      printf("step %llu of %llu  loss %.4f  scale %g  amax %.2e  skipped %llu\n",
             (unsigned long long)step, (unsigned long long)chosen->steps,
             (double)now.loss, (double)t->scaler.scale,
             (double)mpnum_from_bits_f32(now.amax_bits),
             (unsigned long long)t->scaler.skipped);
  }
}

/* The next argument, a number; 0 if there is none or it is another. */
static int take_number(char ***at, uint64_t *number) {
  char *end = NULL;
  const char *text = *++*at;
  if (!text || *text < '0' || *text > '9') return 0;
  *number = strtoull(text, &end, 10);
  return *end == '\0' && *number <= 1000000;
}
static int parse(options *chosen, char **at) {
  const options usual = {400, 30, {0, 0}, {0, 0}, {0, 0}, {0, 0}, NULL};
  int is_right = 1;
  *chosen = usual;
  while (is_right && *++at) {
    place *where = strcmp(*at, "--inject") == 0   ? &chosen->inject
                   : strcmp(*at, "--differ") == 0 ? &chosen->differ
                   : strcmp(*at, "--die") == 0    ? &chosen->die
                   : strcmp(*at, "--hang") == 0   ? &chosen->hang
                                                  : NULL;
    if (where) {
      is_right = take_number(&at, &where->rank) && take_number(&at, &where->step);
    } else if (strcmp(*at, "--steps") == 0) {
      is_right = take_number(&at, &chosen->steps);
    } else if (strcmp(*at, "--wait") == 0) {
      is_right = take_number(&at, &chosen->wait) && chosen->wait > 0;
    } else {
      is_right = **at != '-' && !chosen->data;
      chosen->data = *at;
    }
  }
  return is_right && chosen->data;
}
int main(int count, char **arguments) {
  static trainer t;
  options chosen;
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* who is aborted has said what came before */
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &t.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &t.ranks);
  if (!parse(&chosen, arguments)) {
    if (t.rank == 0)
      fputs(
          "usage: distributed_scaler [--steps N] [--inject RANK STEP] [--die RANK STEP] "
          "[--hang RANK STEP] [--wait SECONDS] DIGITS\n",
          stderr);
    MPI_Finalize();
    return 2;
  }
  start(&t, &chosen);
  train(&t, &chosen);
  if (t.rank == 0)
    printf("%.1f %% of %llu test images right; %d ranks, steps skipped: %llu\n",
           100 * (double)batches_accuracy(&t.net, &t.data, t.images),
           (unsigned long long)(t.data.count - t.data.train), t.ranks,
           (unsigned long long)t.scaler.skipped);
  end(&t);
  MPI_Finalize();
  return 0;
}
