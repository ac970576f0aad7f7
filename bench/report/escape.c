/* SPDX-License-Identifier: MIT */
#include "escape.h"

#include <math.h>
#include <string.h>

json_t *json_text(const char *text) {
  char plain[4096], *at;
  json_t *made = json_string(text);
  if (made) return made;
  snprintf(plain, sizeof plain, "%s", text);
  for (at = plain; *at; ++at) {
    if ((unsigned char)*at >= 0x80) *at = '?';
  }
  return json_string(plain);
}

bool json_put(FILE *to, const char *before, json_t *value) {
  const bool good = value && fputs(before, to) != EOF &&
                    json_dumpf(value, to, JSON_COMPACT | JSON_ENCODE_ANY) == 0;
  json_decref(value);
  return good;
}

void csv_text(FILE *to, const char *text) {
  const bool quoted = strpbrk(text, ",\"\r\n") != NULL;
  if (quoted) fputc('"', to);
  for (; *text; ++text) {
    if (*text == '"') fputc('"', to);
    fputc(*text, to);
  }
  if (quoted) fputc('"', to);
}

void svg_text(FILE *to, const char *text) {
  for (; *text; ++text) {
    const unsigned char byte = (unsigned char)*text;
    switch (byte) {
    case '&': fputs("&amp;", to); break;
    case '<': fputs("&lt;", to); break;
    case '>': fputs("&gt;", to); break;
    case '"': fputs("&quot;", to); break;
    default: fputc(byte < 0x20 || byte >= 0x7f ? '?' : byte, to);
    }
  }
}

void svg_label(FILE *to, double x, double y, const char *anchor, const char *text) {
  fprintf(to, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
  svg_text(to, text);
  fputs("</text>\n", to);
}

void svg_title(FILE *to, double x, double y, const char *text) {
  fprintf(to, "<text x=\"%g\" y=\"%.1f\" font-size=\"15\" font-weight=\"bold\">", x, y);
  svg_text(to, text);
  fputs("</text>\n", to);
}

void svg_line(FILE *to, double x1, double y1, double x2, double y2, const char *colour) {
  fprintf(to, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n",
          x1, y1, x2, y2, colour);
}

void svg_page(FILE *to, unsigned width, double height) {
  fprintf(to,
          "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%.0f\" "
          "viewBox=\"0 0 %u %.0f\" font-family=\"sans-serif\" font-size=\"14\">\n"
          "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
          width, height, width, height);
}

double svg_step(double largest) {
  const double power = pow(10, floor(log10(largest / 5)));
  const double share = largest / 5 / power;
  return power * (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10);
}
