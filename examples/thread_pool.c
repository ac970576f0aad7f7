/* SPDX-License-Identifier: MIT */
/* A pool of threads for calls of arrays, and from which size on it pays: prints what one
 * call takes in one thread, in threads that are created for it, and in a pool, after
 * comparing their bits.
 *
 *     gcc -O2 -pthread -Iinclude examples/thread_pool.c -o thread_pool && ./thread_pool
 * [THREADS]
 *
 * THREADS is 2 to 64, without it as many as there are processors. docs/threads.md says
 * where each kind of call may be cut; here arrays are, at multiples of 2048 elements. */
#define _POSIX_C_SOURCE 200809L /* NOLINT(bugprone-reserved-identifier) */
#include <mpnum/mpnum.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAX_THREADS = 64, UNIT = 2048, LEAST_ELEMENTS = 1 << 12, MOST_ELEMENTS = 1 << 24 };

/* Part `part` of `parts` of a job. */
typedef void work_function(void *job, int part, int parts);

/* The thread that runs a job takes parts itself; the others sleep between jobs. */
typedef struct thread_pool {
  pthread_mutex_t lock;
  pthread_cond_t begins,
      ends; /* a job begins, or the pool ends; the last part of a job ends */
  work_function *work;
  void *job;
  int parts, next,
      left; /* of the job: its parts, the first one that nobody took, those not done */
  int is_ending, started;
  pthread_t threads[MAX_THREADS];
} thread_pool;

/* Takes parts until none is left. Call it with the lock held; it holds it again at the
 * end. */
static void take_parts(thread_pool *pool) {
  while (pool->next < pool->parts) {
    const int part = pool->next++;
    pthread_mutex_unlock(&pool->lock);
    pool->work(pool->job, part, pool->parts);
    pthread_mutex_lock(&pool->lock);
    if (--pool->left == 0) pthread_cond_signal(&pool->ends);
  }
}

static void *live_in_pool(void *at) {
  thread_pool *pool = (thread_pool *)at;
  pthread_mutex_lock(&pool->lock);
  while (!pool->is_ending) {
    take_parts(pool);
    if (!pool->is_ending) pthread_cond_wait(&pool->begins, &pool->lock);
  }
  pthread_mutex_unlock(&pool->lock);
  return NULL;
}

/* Starts threads - 1: the caller is the last one. What cannot be started is done by the
 * others. */
static void thread_pool_init(thread_pool *pool, int threads) {
  memset(pool, 0, sizeof *pool);
  pthread_mutex_init(&pool->lock, NULL);
  pthread_cond_init(&pool->begins, NULL);
  pthread_cond_init(&pool->ends, NULL);
  while (pool->started < threads - 1 &&
         pthread_create(&pool->threads[pool->started], NULL, live_in_pool, pool) == 0)
    ++pool->started;
}

/* A job of one part wakes nobody. More parts than threads are right: who is woken late,
 * or is slow, takes fewer of them. */
static void thread_pool_run(thread_pool *pool, work_function *work, void *job,
                            int parts) {
  if (parts < 2) {
    work(job, 0, 1);
    return;
  }
  pthread_mutex_lock(&pool->lock);
  pool->work = work;
  pool->job = job;
  pool->next = 0;
  pool->parts = pool->left = parts;
  pthread_cond_broadcast(&pool->begins);
  take_parts(pool);
  while (pool->left != 0)
    pthread_cond_wait(&pool->ends, &pool->lock);
  pthread_mutex_unlock(&pool->lock);
}

static void thread_pool_end(thread_pool *pool) {
  pthread_mutex_lock(&pool->lock);
  pool->is_ending = 1;
  pthread_cond_broadcast(&pool->begins);
  pthread_mutex_unlock(&pool->lock);
  while (pool->started != 0)
    pthread_join(pool->threads[--pool->started], NULL);
  pthread_cond_destroy(&pool->ends);
  pthread_cond_destroy(&pool->begins);
  pthread_mutex_destroy(&pool->lock);
}

/* The same with threads that live for one job. */
typedef struct created {
  work_function *work;
  void *job;
  int part, parts;
} created;
static void *run_created(void *at) {
  const created *own = (const created *)at;
  own->work(own->job, own->part, own->parts);
  return NULL;
}
static void run_in_created_threads(work_function *work, void *job, int threads) {
  pthread_t ids[MAX_THREADS];
  created parts[MAX_THREADS];
  int i, started = 0;
  for (i = 0; i < threads; ++i) {
    parts[i].work = work;
    parts[i].job = job;
    parts[i].part = i;
    parts[i].parts = threads;
  }
  while (started < threads - 1 &&
         pthread_create(&ids[started], NULL, run_created, &parts[started]) == 0)
    ++started;
  for (i = started; i < threads; ++i)
    run_created(&parts[i]);
  while (started != 0)
    pthread_join(ids[--started], NULL);
}

typedef struct array_job {
  void *dst;
  const float *src;
  size_t n;
} array_job;

static size_t part_begin(size_t n, int part, int parts) {
  const size_t units = (n + UNIT - 1) / UNIT,
               begin = units * (size_t)part / (size_t)parts * UNIT;
  return begin < n ? begin : n;
}
/* Four for each thread, of at least 32 units: to wake a thread takes as long as some
 * units. */
static int pool_parts(size_t n, int threads) {
  const size_t most = n / (32 * UNIT);
  return most < 4 * (size_t)threads ? (int)most : 4 * threads;
}
static void convert_part(void *at, int part, int parts) {
  const array_job *job = (const array_job *)at;
  const size_t from = part_begin(job->n, part, parts),
               to = part_begin(job->n, part + 1, parts);
  mpnum_f32_to_e4m3_sat_array((mpnum_e4m3 *)job->dst + from, job->src + from, to - from);
}
static void gelu_part(void *at, int part, int parts) {
  const array_job *job = (const array_job *)at;
  const size_t from = part_begin(job->n, part, parts),
               to = part_begin(job->n, part + 1, parts);
  mpnum_gelu_f32_array((float *)job->dst + from, job->src + from, to - from);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

enum { ONE_THREAD, CREATED, POOL, WAYS };
static void run_way(int way, thread_pool *pool, int threads, work_function *work,
                    array_job *job) {
  if (way == ONE_THREAD) work(job, 0, 1);
  if (way == CREATED) run_in_created_threads(work, job, threads);
  if (way == POOL) thread_pool_run(pool, work, job, pool_parts(job->n, threads));
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Microseconds a call: medians of rounds in which the ways take turns. */
static void measure(double *us, thread_pool *pool, int threads, work_function *work,
                    array_job *job) {
  enum { ROUNDS = 11 };
  double times[WAYS][ROUNDS];
  const int calls = job->n < 1 << 20 ? (1 << 20) / (int)job->n : 1;
  int round, way, call;
  for (round = 0; round < ROUNDS; ++round)
    for (way = 0; way < WAYS; ++way) {
      const double begin = seconds();
      for (call = 0; call < calls; ++call)
        run_way(way, pool, threads, work, job);
      times[way][round] = 1e6 * (seconds() - begin) / calls;
    }
  for (way = 0; way < WAYS; ++way) {
    qsort(times[way], ROUNDS, sizeof(double), by_size);
    us[way] = times[way][ROUNDS / 2];
  }
}

/* Whether all ways give the bytes that one thread gives, at odd lengths, too. */
static int ways_agree(thread_pool *pool, int threads, work_function *work, size_t bytes,
                      unsigned char *dst, unsigned char *expected, const float *src) {
  static const size_t lengths[] = {
      0, 1, UNIT, 3 * UNIT + 5, 100 * UNIT - 1, LEAST_ELEMENTS};
  size_t i;
  int way;
  for (i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
    array_job job;
    job.src = src;
    job.n = lengths[i];
    job.dst = expected;
    run_way(ONE_THREAD, pool, threads, work, &job);
    job.dst = dst;
    for (way = CREATED; way < WAYS; ++way) {
      memset(dst, 0x55, job.n * bytes + 1);
      run_way(way, pool, threads, work, &job);
      if (memcmp(dst, expected, job.n * bytes) != 0 || dst[job.n * bytes] != 0x55)
        return 0;
    }
  }
  return 1;
}

static void print_table(const char *name, thread_pool *pool, int threads,
                        work_function *work, array_job *job) {
  size_t pays_from = 0;
  printf("\n%s, us a call\n%9s %12s %12s %12s %8s\n", name, "elements", "one thread",
         "created", "pool", "speedup");
  for (job->n = LEAST_ELEMENTS; job->n <= MOST_ELEMENTS; job->n *= 4) {
    double us[WAYS];
    measure(us, pool, threads, work, job);
    printf("%9lu %12.1f %12.1f %12.1f %8.2f\n", (unsigned long)job->n, us[ONE_THREAD],
           us[CREATED], us[POOL], us[ONE_THREAD] / us[POOL]);
    if (us[POOL] > .9 * us[ONE_THREAD])
      pays_from = 0;
    else if (pays_from == 0)
      pays_from = job->n;
  }
  if (pays_from == 0)
    puts("the pool takes 90 % of one thread's time or more at the largest");
  else
    printf("from %lu elements on the pool takes less than 90 %% of one thread's time\n",
           (unsigned long)pays_from);
}

int main(int count, char **arguments) {
  static thread_pool pool;
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  int threads = processors < 2             ? 2
                : processors > MAX_THREADS ? MAX_THREADS
                                           : (int)processors,
      is_right;
  float *memory, *src, *dst, *expected;
  array_job job;
  size_t i;
  if (count > 1) threads = atoi(arguments[1]);
  if (count > 2 || threads < 2 || threads > MAX_THREADS) {
    fprintf(stderr, "usage: thread_pool [THREADS], 2 to %d\n", (int)MAX_THREADS);
    return 2;
  }
  memory = (float *)malloc((3 * (size_t)MOST_ELEMENTS + 2) * sizeof *memory);
  if (memory == NULL) {
    fprintf(stderr, "thread_pool: not enough memory\n");
    return 1;
  }
  src = memory;
  dst = src + MOST_ELEMENTS;
  expected = dst + MOST_ELEMENTS + 1;
  for (i = 0; i < MOST_ELEMENTS; ++i)
    src[i] = (float)((uint32_t)i * 2654435761u >> 8) / 4194304.0f - 2; /* -2 to 2 */
  thread_pool_init(&pool, threads);
  is_right = ways_agree(&pool, threads, convert_part, sizeof(mpnum_e4m3),
                        (unsigned char *)dst, (unsigned char *)expected, src) &&
             ways_agree(&pool, threads, gelu_part, sizeof(float), (unsigned char *)dst,
                        (unsigned char *)expected, src);
  printf("%d threads give the bits of one: %s\n", pool.started + 1,
         is_right ? "yes" : "NO");
  job.dst = dst;
  job.src = src;
  print_table("f32 to e4m3", &pool, threads, convert_part, &job);
  print_table("gelu of f32", &pool, threads, gelu_part, &job);
  thread_pool_end(&pool);
  free(memory);
  return is_right ? 0 : 1;
}
