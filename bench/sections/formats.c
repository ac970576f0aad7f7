/* SPDX-License-Identifier: MIT */
#include "sections.h"

#include <mpnum/core/query.h>

#include "../core/formats.h"
#include "../report/view.h"

static const char section[] = "formats";

void formats_list(figures *to) {
  for (int i = 0; i < FORMAT_COUNT; ++i) {
    const mpnum_format format = mpnum_format_of(bench_formats[i].type);
    figures_at(to, section, "", mpnum_type_name(bench_formats[i].type), "");
    figures_add(to, "bits", format_bits(format), "bit");
    figures_add(to, "storage", bench_formats[i].storage_size, "byte");
    figures_add(to, "sign_bits", format.sign_bits, "bit");
    figures_add(to, "exponent_bits", format.exponent_bits, "bit");
    figures_add(to, "mantissa_bits", format.mantissa_bits, "bit");
    figures_add(to, "bias", format.bias, "");
    figures_add(to, "max", (double)mpnum_format_max(format), "");
    figures_add(to, "min_normal", (double)mpnum_format_min(format), "");
    figures_add(to, "smallest", (double)mpnum_format_true_min(format), "");
    figures_add(to, "epsilon", (double)mpnum_format_epsilon(format), "");
    figures_add(to, "has_inf", format.inf_code != 0, "");
    figures_add(to, "has_nan", format.nan_code != 0, "");
    figures_add(to, "has_negative_zero", format.has_negative_zero, "");
  }
}

bool formats_print(const figures *from, FILE *to) {
  static const view_column columns[] = {
      {.heading = "format", .metric = VIEW_NAME},
      {.heading = "bits", .metric = "bits", .format = "%.0f"},
      {.heading = "s", .metric = "sign_bits", .format = "%.0f"},
      {.heading = "e", .metric = "exponent_bits", .format = "%.0f"},
      {.heading = "m", .metric = "mantissa_bits", .format = "%.0f"},
      {.heading = "max", .metric = "max", .format = "%.7g"},
      {.heading = "min normal", .metric = "min_normal", .format = "%.7g"},
      {.heading = "smallest", .metric = "smallest", .format = "%.7g"},
      {.heading = "epsilon", .metric = "epsilon", .format = "%.7g"},
      {.heading = "Inf", .metric = "has_inf", .show = show_truth},
      {.heading = "NaN", .metric = "has_nan", .show = show_truth},
      {.heading = "-0", .metric = "has_negative_zero", .show = show_truth},
  };
  static const view shown = {.section = section, VIEW_COLUMNS(columns)};
  return view_print(
      &shown, from, to,
      "\nFormats: values each can hold; bits of sign, exponent, mantissa\n");
}
