/* SPDX-License-Identifier: MIT */
#include "escape.h"

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
