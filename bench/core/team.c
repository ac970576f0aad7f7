/* SPDX-License-Identifier: MIT */
#include "team.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

enum { SPINS = 4096 };

typedef struct member {
  team *all;
  unsigned thread;
  pthread_t handle;
} member;

struct team {
  unsigned threads;
  void (*work)(const void *context, unsigned thread);
  const void *context;
  unsigned turn;    /* counts pieces of work; atomic */
  unsigned pending; /* members that have not finished this one; atomic */
  bool ends;
  member members[];
};

/* Waits actively, as waking a thread takes longer than a short array; but lets others run
 * where there are more threads than processors. */
static void pause_after(unsigned *spins) {
  if (++*spins >= SPINS) sched_yield();
}

static void *serve(void *place) {
  const member *self = place;
  team *all = self->all;
  unsigned seen = 0;
  for (;;) {
    unsigned spins = 0, turn;
    while ((turn = __atomic_load_n(&all->turn, __ATOMIC_ACQUIRE)) == seen)
      pause_after(&spins);
    seen = turn;
    if (all->ends) return NULL;
    all->work(all->context, self->thread);
    __atomic_sub_fetch(&all->pending, 1, __ATOMIC_RELEASE);
  }
}

team *team_start(unsigned threads) {
  team *made = calloc(1, sizeof *made + threads * sizeof *made->members);
  if (!made) return NULL;
  for (made->threads = 1; made->threads < threads; ++made->threads) {
    member *next = &made->members[made->threads];
    next->all = made;
    next->thread = made->threads;
    if (pthread_create(&next->handle, NULL, serve, next) == 0) continue;
    team_stop(made);
    return NULL;
  }
  return made;
}

static void next_turn(team *self) {
  __atomic_add_fetch(&self->turn, 1, __ATOMIC_RELEASE);
}

void team_stop(team *self) {
  if (!self) return;
  self->ends = true;
  next_turn(self);
  for (unsigned i = 1; i < self->threads; ++i)
    pthread_join(self->members[i].handle, NULL);
  free(self);
}

void team_run(team *self, void (*work)(const void *context, unsigned thread),
              const void *context) {
  unsigned spins = 0;
  self->work = work;
  self->context = context;
  __atomic_store_n(&self->pending, self->threads - 1, __ATOMIC_RELAXED);
  next_turn(self);
  work(context, 0);
  while (__atomic_load_n(&self->pending, __ATOMIC_ACQUIRE) != 0)
    pause_after(&spins);
}
