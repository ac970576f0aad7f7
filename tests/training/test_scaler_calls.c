/* SPDX-License-Identifier: MIT */
/* The loss scaler's calls: each at each stage, and long random sequences of them with
 * three optimizers against a small model. */
#include "../harness/control_word.h"
#include "../harness/must.h"
#include "scaler_checks.h"

#include <math.h>

/* What each call says at each stage, and where it leads. */
enum { OK = MPNUM_OK, CALLS = 10, STAGES = 6 };
enum { READY, CHECKED, UNSCALED, STEPPED, OPEN, CLOSED, SAME = -1 };
static const char *const call_names[CALLS] = {"begin_accumulation",
                                              "end_accumulation",
                                              "can_unscale",
                                              "report_checked",
                                              "report_unscaled",
                                              "can_clip",
                                              "report_changed",
                                              "multiplier",
                                              "step",
                                              "update"};
static const struct {
  int status, next;
} wanted[STAGES - 1][CALLS] = {
    /* READY */
    {{OK, OPEN},
     {MPNUM_ERROR_NOT_ACCUMULATING, SAME},
     {OK, SAME},
     {OK, CHECKED},
     {OK, UNSCALED},
     {MPNUM_ERROR_STILL_SCALED, SAME},
     {MPNUM_ERROR_STILL_SCALED, SAME},
     {MPNUM_ERROR_NOT_CHECKED, SAME},
     {MPNUM_ERROR_NOT_CHECKED, SAME},
     {MPNUM_ERROR_NOT_CHECKED, SAME}},
    /* CHECKED */
    {{MPNUM_ERROR_ALREADY_CHECKED, SAME},
     {MPNUM_ERROR_NOT_ACCUMULATING, SAME},
     {MPNUM_ERROR_ALREADY_CHECKED, SAME},
     {MPNUM_ERROR_ALREADY_CHECKED, SAME},
     {MPNUM_ERROR_ALREADY_CHECKED, SAME},
     {MPNUM_ERROR_STILL_SCALED, SAME},
     {MPNUM_ERROR_STILL_SCALED, SAME},
     {OK, SAME},
     {OK, STEPPED},
     {OK, READY}},
    /* UNSCALED */
    {{MPNUM_ERROR_ALREADY_UNSCALED, SAME},
     {MPNUM_ERROR_NOT_ACCUMULATING, SAME},
     {MPNUM_ERROR_ALREADY_UNSCALED, SAME},
     {MPNUM_ERROR_ALREADY_UNSCALED, SAME},
     {MPNUM_ERROR_ALREADY_UNSCALED, SAME},
     {OK, SAME},
     {OK, SAME},
     {MPNUM_ERROR_ALREADY_UNSCALED, SAME},
     {OK, STEPPED},
     {OK, READY}},
    /* STEPPED */
    {{MPNUM_ERROR_ALREADY_STEPPED, SAME},
     {MPNUM_ERROR_NOT_ACCUMULATING, SAME},
     {MPNUM_ERROR_ALREADY_STEPPED, SAME},
     {MPNUM_ERROR_ALREADY_STEPPED, SAME},
     {MPNUM_ERROR_ALREADY_STEPPED, SAME},
     {MPNUM_ERROR_ALREADY_STEPPED, SAME},
     {MPNUM_ERROR_ALREADY_STEPPED, SAME},
     {MPNUM_ERROR_ALREADY_STEPPED, SAME},
     {MPNUM_ERROR_ALREADY_STEPPED, SAME},
     {OK, READY}},
    /* OPEN: ready, gradients are being added */
    {{MPNUM_ERROR_ACCUMULATING, SAME},
     {OK, CLOSED},
     {MPNUM_ERROR_ACCUMULATING, SAME},
     {MPNUM_ERROR_ACCUMULATING, SAME},
     {MPNUM_ERROR_ACCUMULATING, SAME},
     {MPNUM_ERROR_STILL_SCALED, SAME},
     {MPNUM_ERROR_STILL_SCALED, SAME},
     {MPNUM_ERROR_NOT_CHECKED, SAME},
     {MPNUM_ERROR_ACCUMULATING, SAME},
     {MPNUM_ERROR_ACCUMULATING, SAME}}};
/* Where gradients were added all is as where nothing has happened. */
static int row_of(int stage) { return stage == CLOSED ? READY : stage; }

static mpnum_status call_of(int call, mpnum_grad_scaler *scaler,
                            mpnum_grad_optimizer *optimizer, uint32_t found,
                            mpnum_grad_verdict *verdict, float *multiplier) {
  const float infinity = mpnum_from_bits_f32(0x7f800000u);
  switch (call) {
  case 0: return mpnum_grad_scaler_begin_accumulation(scaler, optimizer);
  case 1: return mpnum_grad_scaler_end_accumulation(scaler, optimizer);
  case 2: return mpnum_grad_scaler_can_unscale(scaler, optimizer);
  case 3: return mpnum_grad_scaler_report_checked(scaler, optimizer, found, 3);
  case 4: return mpnum_grad_scaler_report_unscaled(scaler, optimizer, found, 3);
  case 5: return mpnum_grad_scaler_can_clip(scaler, optimizer);
  case 6: return mpnum_grad_scaler_report_changed(scaler, optimizer, found, 2);
  case 7: return mpnum_grad_scaler_multiplier(scaler, optimizer, infinity, multiplier);
  case 8: return mpnum_grad_scaler_step(scaler, optimizer, verdict);
  default: return mpnum_grad_scaler_update(scaler, optimizer);
  }
}
static mpnum_grad_optimizer at_stage(const mpnum_grad_scaler *scaler, int stage) {
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(scaler);
  if (stage < OPEN) {
    optimizer.stage = (uint32_t)(mpnum_grad_stage)stage;
  } else {
    optimizer.window = (uint32_t)(mpnum_grad_window)(stage - OPEN + 1);
  }
  return optimizer;
}
static int stage_of(const mpnum_grad_optimizer *optimizer) {
  if (optimizer->stage != MPNUM_GRAD_READY) return (int)optimizer->stage;
  if (optimizer->window == MPNUM_GRAD_WINDOW_NONE) return READY;
  return optimizer->window == MPNUM_GRAD_WINDOW_OPEN ? OPEN : CLOSED;
}
/* In the table both stages behind a step are one. */
static int told_stage(const mpnum_grad_optimizer *optimizer) {
  return optimizer->stage == MPNUM_GRAD_SKIPPED ? (int)STEPPED : stage_of(optimizer);
}
/* How: 0 as it is, 1 not enabled, 2 the scale has changed, 3 an update left it out. */
static void each_call_at_each_stage(void) {
  for (int stage = 0; stage < STAGES; ++stage)
    for (int call = 0; call < CALLS; ++call)
      for (int how = 0; how < 4; ++how) {
        mpnum_grad_scaler_config config = mpnum_grad_scaler_default();
        config.enabled = how != 1;
        mpnum_grad_scaler scaler = made(config);
        mpnum_grad_optimizer optimizer = at_stage(&scaler, stage);
        mpnum_grad_verdict verdict = (mpnum_grad_verdict)7;
        float multiplier = 7;
        if (how == 2) must(mpnum_grad_scaler_set_scale(&scaler, 1024));
        if (how == 3) {
          mpnum_grad_optimizer other = at_stage(&scaler, STEPPED);
          must(mpnum_grad_scaler_update(&scaler, &other));
        }
        const mpnum_grad_scaler scaler_before = scaler;
        const mpnum_grad_optimizer optimizer_before = optimizer;
        const mpnum_status status =
            call_of(call, &scaler, &optimizer, 0, &verdict, &multiplier);
        const int is_stale = how == 3 || (how == 2 && stage != READY);
        int want = how == 1 ? OK : wanted[row_of(stage)][call].status;
        if (is_stale && (call != 9 || stage != OPEN))
          want = how == 3 ? MPNUM_ERROR_STALE_HANDLE : MPNUM_ERROR_STALE_SCALE;
        CHECK((int)status == want, "%s at stage %d, %d: %s, want %s", call_names[call],
              stage, how, mpnum_status_string(status),
              mpnum_status_string((mpnum_status)want));
        if (status == MPNUM_OK && how != 1)
          CHECK(stage_of(&optimizer) == (wanted[row_of(stage)][call].next == SAME
                                             ? stage
                                             : wanted[row_of(stage)][call].next),
                "%s at stage %d leads to %d", call_names[call], stage,
                stage_of(&optimizer));
        if (status != MPNUM_OK)
          CHECK(memcmp(&scaler, &scaler_before, sizeof scaler) == 0 &&
                    memcmp(&optimizer, &optimizer_before, sizeof optimizer) == 0 &&
                    (int)verdict == (call == 8 ? MPNUM_GRAD_SKIP : 7) && multiplier == 7,
                "%s at stage %d changed something", call_names[call], stage);
      }
}

/* The model: where each handle stands, by the table above; the scale as an exponent. */
typedef struct model {
  int exponent, clean, updates, changes, overflows, applied, skipped;
  struct {
    int stage, found, skips, updates, changes;
  } at[3];
} model;
static void model_scale(model *m, int exponent) {
  m->changes += m->exponent != exponent;
  m->exponent = exponent;
}
static int model_is_stale(const model *m, int place) {
  if (m->at[place].updates != m->updates) return MPNUM_ERROR_STALE_HANDLE;
  return m->at[place].stage != READY && m->at[place].changes != m->changes
             ? MPNUM_ERROR_STALE_SCALE
             : MPNUM_OK;
}
static void model_ready(model *m, int place) {
  m->at[place].stage = READY;
  m->at[place].found = 0;
  m->at[place].updates = m->updates;
}
static int model_says(model *m, int call, int place, int found) {
  const int stage = m->at[place].stage, next = wanted[row_of(stage)][call].next;
  if (model_is_stale(m, place)) return model_is_stale(m, place);
  if (wanted[row_of(stage)][call].status != OK) return wanted[row_of(stage)][call].status;
  if (call == 3 || call == 4) m->at[place].found = found;
  if (call == 6) m->at[place].found |= found;
  if (call == 8) {
    m->at[place].skips = m->at[place].found ? m->at[place].skips + 1 : 0;
    m->applied += !m->at[place].found;
    m->skipped += m->at[place].found;
  }
  if (stage == READY && next != SAME) m->at[place].changes = m->changes;
  if (next != SAME) m->at[place].stage = next;
  return MPNUM_OK;
}
static int model_updates(model *m, const int *places, int count) {
  int any = 0, overflow = 0, is_open = 0, is_dropped = 0, stale = OK;
  for (int i = 0; i < count; ++i) {
    const int stage = m->at[places[i]].stage;
    is_open |= stage == OPEN;
    if (stale != MPNUM_ERROR_STALE_HANDLE && model_is_stale(m, places[i]))
      stale = model_is_stale(m, places[i]);
    is_dropped |= stage == CLOSED;
    any |= stage != READY && stage < OPEN;
    overflow |= m->at[places[i]].found;
  }
  if (is_open) return MPNUM_ERROR_ACCUMULATING;
  if (stale != OK) return stale;
  if (!any || is_dropped) return MPNUM_ERROR_NOT_CHECKED;
  m->updates += 1;
  m->overflows += overflow;
  m->clean = overflow ? 0 : m->clean + 1;
  if (overflow && m->exponent > 0) model_scale(m, m->exponent - 1);
  if (m->clean == 3) {
    m->clean = 0;
    if (m->exponent < 126) model_scale(m, m->exponent + 1);
  }
  for (int i = 0; i < count; ++i)
    model_ready(m, places[i]);
  return MPNUM_OK;
}
/* Three of them in any order, of which most updates name all. */
static int any_places(int *places) {
  static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                   {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  const int *order = orders[draw(6)];
  for (int i = 0; i < 3; ++i)
    places[i] = order[i];
  return draw(4) ? 3 : (int)draw(2) + 1;
}
static void three_handles_in_any_order_follow_the_table(void) {
  mpnum_grad_scaler_config config = mpnum_grad_scaler_default();
  config.growth_interval = 3;
  mpnum_grad_scaler scaler = made(config);
  mpnum_grad_optimizer optimizers[3];
  model m;
  int counts[CALLS] = {0}, stale = 0, updates = 0;
  memset(&m, 0, sizeof m);
  m.exponent = 16;
  for (int i = 0; i < 3; ++i)
    optimizers[i] = mpnum_grad_optimizer_of(&scaler);
  for (int i = 0; i < 1000000; ++i) {
    const int call = (int)draw(CALLS + 2), place = (int)draw(3);
    const int found = draw(8) < (i / 50000 % 2 ? 1u : 4u);
    mpnum_grad_optimizer *optimizer = &optimizers[place];
    mpnum_grad_verdict verdict = MPNUM_GRAD_APPLY;
    float multiplier = 7;
    const int skips = m.at[place].found;
    int want = OK, places[3] = {0, 1, 2};
    mpnum_status status = MPNUM_OK;
    if (call == CALLS) { /* few, as gradients of another scale are lost */
      if (draw(10)) continue;
      const int exponent = (int)draw(30);
      model_scale(&m, exponent);
      m.clean = 0;
      status = mpnum_grad_scaler_set_scale(&scaler, ldexpf(1, exponent));
    } else if (call == CALLS + 1) {
      if (!model_is_stale(&m, place) && draw(20)) continue;
      model_ready(&m, place);
      mpnum_grad_scaler_discard(&scaler, optimizer);
    } else if (call == 9) {
      const int count = any_places(places);
      mpnum_grad_optimizer *named[3];
      for (int k = 0; k < count; ++k)
        named[k] = &optimizers[places[k]];
      want = model_updates(&m, places, count);
      status = mpnum_grad_scaler_update_all(&scaler, named, count);
      updates += status == MPNUM_OK && count < 3;
    } else {
      want = model_says(&m, call, place, found);
      status = call_of(call, &scaler, optimizer, (uint32_t)found, &verdict, &multiplier);
      if (optimizer->found_inf && draw(2)) optimizer->found_inf += draw(1000);
    }
    CHECK((int)status == want, "call %d, %d: %s, want %s", i, call,
          mpnum_status_string(status), mpnum_status_string((mpnum_status)want));
    CHECK((double)scaler.scale == ldexp(1, m.exponent), "call %d: %a, want 2^%d", i,
          (double)scaler.scale, m.exponent);
    CHECK(told_stage(optimizer) == m.at[place].stage, "call %d: stage", i);
    CHECK(optimizer->consecutive_skips == (uint32_t)m.at[place].skips, "call %d: skips",
          i);
    if (call == 8 && status == MPNUM_OK)
      CHECK((verdict == MPNUM_GRAD_SKIP) == skips, "call %d: verdict", i);
    if (call == 7 && status == MPNUM_OK)
      CHECK(multiplier == (skips ? 0 : scaler.inverse), "call %d: multiplier", i);
    if (call < CALLS) counts[call] += status == MPNUM_OK;
    stale += status == MPNUM_ERROR_STALE_SCALE || status == MPNUM_ERROR_STALE_HANDLE;
  }
  CHECK(scaler.updates == (uint64_t)m.updates && scaler.count == m.clean &&
            scaler.overflows == (uint64_t)m.overflows &&
            scaler.applied == (uint64_t)m.applied &&
            scaler.skipped == (uint64_t)m.skipped &&
            scaler.scale_changes == (uint32_t)m.changes,
        "counters");
  for (int call = 0; call < CALLS; ++call)
    CHECK(counts[call] > 1000, "%s: %d times", call_names[call], counts[call]);
  CHECK(stale > 1000 && updates > 1000, "%d stale, %d updates of some", stale, updates);
}

int main(void) {
  set_control_word(control_word_of(FE_TONEAREST)); /* -ffast-math starts in another */
  TAP_RUN(each_call_at_each_stage);
  TAP_RUN(three_handles_in_any_order_follow_the_table);
  return tap_done();
}
