// SPDX-License-Identifier: Apache-2.0
// A float does not become a float8 in silence: every conversion is spelled.
// EXPECT-ERROR: conversion from .float. to|no viable conversion from .float.
#include <ofp8/core/convert.hpp>

int main() {
  ofp8::e4m3 code = ofp8::convert<ofp8::e4m3>(0.5f);
#ifdef OFP8_BREAK
  const ofp8::e4m3 implicit = 0.5f;
  code = implicit;
#endif
  return code.bits() == 0x30 ? 0 : 1;
}
