/* SPDX-License-Identifier: MIT */
/* The units h100.* of hardware/product.h beside what an H100 gave: h100_sums.bin, which
 * test_tensor_cores --record wrote there; a tile of each kind, of each unit. */
#include "tensor_cores.hpp"

#include "../../harness/tap.h"

#include <cstdio>

namespace {

FILE *record;

/* The results of a tile. */
bool read_tile(const tensor::unit &how, uint32_t *to) {
  for (int i = 0; i < tensor::DOTS; ++i) {
    unsigned char bytes[4] = {0, 0, 0, 0};
    const std::size_t size = how.is_half() ? 2 : 4;
    if (std::fread(bytes, 1, size, record) != size) return false;
    to[i] = 0;
    for (std::size_t k = size; k-- > 0;)
      to[i] = to[i] << 8 | bytes[k];
  }
  return true;
}

void the_model_gives_what_an_h100_gave() {
  for (const tensor::instruction &one : tensor::h100) {
    const tensor::unit how = tensor::unit_of(one);
    for (unsigned kind = 0; kind < tensor::KINDS; ++kind) {
      uint32_t results[tensor::DOTS];
      const bool is_read = read_tile(how, results);
      CHECK(is_read, "%s: the file ends", how.name);
      if (!is_read) return;
      const unsigned wrong =
          tensor::count_wrong(how, tensor::make_tile(how, kind), results);
      CHECK(wrong == 0, "%s, kind %u: %u of %d differ", how.name, kind, wrong,
            tensor::DOTS);
    }
  }
  CHECK(std::fgetc(record) == EOF, "the file goes on");
}

/* Other bits, groups and roundings are told from these. */
void another_model_does_not() {
  std::rewind(record);
  for (const tensor::instruction &one : tensor::h100) {
    const tensor::unit how = tensor::unit_of(one);
    unsigned bits = 0, kept = 0, groups = 0;
    for (unsigned kind = 0; kind < tensor::KINDS; ++kind) {
      uint32_t results[tensor::DOTS];
      if (!read_tile(how, results)) return;
      const tensor::tile from = tensor::make_tile(how, kind);
      tensor::unit other = how;
      other.how.bits += 1;
      bits += tensor::count_wrong(other, from, results);
      other = how;
      other.how.kept -= 1;
      kept += tensor::count_wrong(other, from, results);
      other = how;
      other.how.products /= 2;
      groups += tensor::count_wrong(other, from, results);
    }
    CHECK(bits > 0 && groups > 0 && kept > 0, "%s: %u, %u, %u", how.name, bits, kept,
          groups);
  }
}

/* The search that says what a GPU's sums are finds each model from its sums. */
void models_are_found_by_their_sums() {
  static const int models[][4] = {/* groups of the products, bits, kept, to nearest */
                                  {4, 23, 23, 0},
                                  {2, 13, 13, 0},
                                  {1, 25, 23, 1}};
  for (int which : {0, 2}) { /* f16, tf32 */
    const tensor::unit known = tensor::unit_of(tensor::h100[which]);
    for (const int(&model)[4] : models) {
      tensor::unit hidden = known;
      hidden.how.products = tensor::types[known.of].numbers() / model[0];
      hidden.how.bits = model[1];
      hidden.how.kept = model[2];
      hidden.how.is_nearest = model[3];
      hidden.how.run = hidden.how.joins = 0;
      std::vector<tensor::tile> tiles;
      std::vector<uint32_t> sums;
      for (unsigned kind = 0; kind < 6; kind += 2) {
        tiles.push_back(tensor::make_tile(known, kind));
        const tensor::tile &from = tiles.back();
        for (int i = 0; i < tensor::DOTS; ++i)
          sums.push_back(tensor::dot(hidden, from.a + i / tensor::COLS * tensor::WORDS,
                                     from.b + i % tensor::COLS * tensor::WORDS,
                                     from.c[i]));
      }
      unsigned wrong = 1;
      const mpnum_product_unit found = tensor::find_model(known, tiles, sums, &wrong).how;
      CHECK(wrong == 0 && found.products == hidden.how.products &&
                found.bits == model[1] && found.kept == model[2] &&
                found.is_nearest == model[3],
            "%s: %d products, %d bits, %d kept, nearest %d, %u wrong", known.name,
            found.products, found.bits, found.kept, found.is_nearest, wrong);
    }
  }
}

} // namespace

int main(void) {
  record = std::fopen(H100_SUMS, "rb");
  if (!record) {
    std::printf("Bail out! %s cannot be read\n", H100_SUMS);
    return 2;
  }
  TAP_RUN(the_model_gives_what_an_h100_gave);
  TAP_RUN(another_model_does_not);
  TAP_RUN(models_are_found_by_their_sums);
  return tap_done();
}
