/* SPDX-License-Identifier: MIT */
#define DEFINE_LINKED_FUNCTIONS
#include "row_functions.h"
