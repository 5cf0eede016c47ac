// SPDX-License-Identifier: Apache-2.0
// A minimal reader of safetensors files: reads the whole file, trusts none of it. Every refusal names the file
// and the byte where the offending part begins.
//
//   const safetensors_file file("model.safetensors");
//   const tensor_entry& t = file.at("lm_head.weight");             // t.dtype, t.shape
//   const matrix<bf16> w = file.matrix_of<bf16>(t);                // a copy: file data may lie unaligned
//
// Layout: 8 bytes N (little-endian) | N bytes of JSON | data. An entry is
// {"dtype": "BF16", "shape": [2, 3], "data_offsets": [begin, end]}, offsets counted from the data's begin.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <ofp8/ofp8.hpp>

namespace example {

static_assert(std::endian::native == std::endian::little, "safetensors data is little-endian");

/// Names come from the file: nothing of them but printable ASCII reaches a terminal.
inline std::string printable(std::string text) {
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text;
}

/// "model.safetensors: byte 8: the header is no JSON: ..."
struct file_refused : std::runtime_error {
  file_refused(const std::string& path, std::uint64_t byte, const std::string& sentence)
      : std::runtime_error(path + ": byte " + std::to_string(byte) + ": " + printable(sentence)) {}
};

/// One tensor of the file. `begin` and `end` are offsets into the file, in bytes.
struct tensor_entry {
  std::string name;
  std::string dtype;
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0, end = 0;

  std::uint64_t bytes() const { return end - begin; }
};

/// Bytes per element of the dtypes this reader knows; 0 for others.
inline std::uint64_t element_bytes(std::string_view dtype) {
  static constexpr std::array<std::pair<std::string_view, int>, 14> known{{{"F64", 8},
                                                                           {"I64", 8},
                                                                           {"U64", 8},
                                                                           {"F32", 4},
                                                                           {"I32", 4},
                                                                           {"U32", 4},
                                                                           {"BF16", 2},
                                                                           {"F16", 2},
                                                                           {"I16", 2},
                                                                           {"U16", 2},
                                                                           {"F8_E4M3", 1},
                                                                           {"F8_E5M2", 1},
                                                                           {"I8", 1},
                                                                           {"U8", 1}}};
  for (const auto& [name, bytes] : known) {
    if (name == dtype) return static_cast<std::uint64_t>(bytes);
  }
  return 0;
}

/// The dtype name of an element type.
template <class T>
constexpr std::string_view dtype_of = "";
template <>
inline constexpr std::string_view dtype_of<ofp8::bf16> = "BF16";
template <>
inline constexpr std::string_view dtype_of<ofp8::fp16> = "F16";
template <>
inline constexpr std::string_view dtype_of<float> = "F32";

inline std::string shape_text(const std::vector<std::uint64_t>& shape) {
  std::string text;
  for (const std::uint64_t n : shape) text += (text.empty() ? "" : "x") + std::to_string(n);
  return text.empty() ? "scalar" : text;
}

class safetensors_file {
 public:
  explicit safetensors_file(std::string path) : path_(std::move(path)) {
    read_bytes();
    parse_entries(parse_header());
    check_coverage();
  }

  safetensors_file(const safetensors_file&) = delete;
  safetensors_file& operator=(const safetensors_file&) = delete;

  const std::string& path() const { return path_; }

  /// In the order in which they lie in the file.
  const std::vector<tensor_entry>& tensors() const { return tensors_; }

  const tensor_entry& at(std::string_view name) const {
    for (const tensor_entry& t : tensors_) {
      if (t.name == name) return t;
    }
    refuse(header_at, "there is no tensor " + std::string(name));
  }

  /// The tensor as rows x cols numbers of type T (a vector is one row).
  template <class T>
  ofp8::matrix<T> matrix_of(const tensor_entry& t) const {
    if (t.dtype != dtype_of<T>) {
      refuse(t.begin, t.name + " is " + t.dtype + ", expected " + std::string(dtype_of<T>));
    }
    if (t.shape.empty() || t.shape.size() > 2) {
      refuse(t.begin, t.name + " is " + shape_text(t.shape) + ", expected a vector or a matrix");
    }
    const std::uint64_t rows = t.shape.size() == 2 ? t.shape[0] : 1;
    ofp8::matrix<T> m(static_cast<std::ptrdiff_t>(rows), static_cast<std::ptrdiff_t>(t.shape.back()));
    if (t.bytes() != 0) std::memcpy(m.data(), bytes_.data() + t.begin, t.bytes());
    return m;
  }

 private:
  static constexpr std::uint64_t header_at = 8;
  static constexpr std::uint64_t header_limit = 100'000'000;  // the reference reader's

  [[noreturn]] void refuse(std::uint64_t byte, const std::string& sentence) const {
    throw file_refused(path_, byte, sentence);
  }

  void read_bytes() {
    std::ifstream in(path_, std::ios::binary | std::ios::ate);
    if (!in) refuse(0, "cannot be opened");
    const auto size = static_cast<std::streamoff>(in.tellg());
    if (size < 0) refuse(0, "has no size: not a file");
    bytes_.resize(static_cast<std::size_t>(size));
    in.seekg(0);
    in.read(reinterpret_cast<char*>(bytes_.data()), size);
    if (in.gcount() != size)
      refuse(static_cast<std::uint64_t>(in.gcount()), "ends before its size of " + std::to_string(size));
  }

  /// The header as JSON, its size checked before anything is made of it.
  nlohmann::json parse_header() {
    if (bytes_.size() < header_at) {
      refuse(0, "holds " + std::to_string(bytes_.size()) + " bytes, the header's size takes 8");
    }
    std::uint64_t size = 0;
    std::memcpy(&size, bytes_.data(), sizeof size);
    const std::uint64_t available = std::min<std::uint64_t>(bytes_.size() - header_at, header_limit);
    if (size > available) {
      refuse(0, "the header is said to take " + std::to_string(size) + " bytes, at most " +
                    std::to_string(available) + " are possible");
    }
    header_ = {reinterpret_cast<const char*>(bytes_.data()) + header_at, static_cast<std::size_t>(size)};
    data_at_ = header_at + size;
    if (header_.empty() || header_.front() != '{') refuse(header_at, "the header does not begin with {");
    try {
      return nlohmann::json::parse(header_, key_guard());
    } catch (const nlohmann::json::parse_error& e) {
      refuse(header_at + (e.byte > 0 ? e.byte - 1 : 0), std::string("the header is no JSON: ") + e.what());
    }
  }

  /// Refuses what a JSON object tree would lose or choke on: a repeated key, deep nesting.
  nlohmann::json::parser_callback_t key_guard() {
    using event = nlohmann::json::parse_event_t;
    return [this, seen = std::vector<std::set<std::string>>(1)](int depth, event e,
                                                                nlohmann::json& value) mutable {
      if (depth > 3) refuse(header_at, "the header nests deeper than an entry can");
      if (e == event::object_start) seen.emplace_back();
      if (e == event::object_end) seen.pop_back();
      if (e == event::key && !seen.back().insert(value.get<std::string>()).second) {
        refuse(header_at, "the header has the key " + value.dump() + " twice");
      }
      return true;
    };
  }

  void parse_entries(const nlohmann::json& header) {
    for (const auto& [name, fields] : header.items()) {
      if (name == "__metadata__") continue;
      tensors_.push_back(parse_entry(name, fields));
    }
    std::sort(tensors_.begin(), tensors_.end(), [](const tensor_entry& a, const tensor_entry& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
  }

  tensor_entry parse_entry(const std::string& name, const nlohmann::json& fields) const {
    const std::uint64_t at = header_at + std::min(header_.find(nlohmann::json(name).dump()), header_.size());
    const auto field = [&](const char* key) -> const nlohmann::json& {
      if (!fields.is_object() || !fields.contains(key)) refuse(at, name + " has no " + key);
      return fields.at(key);
    };
    tensor_entry t{.name = name, .dtype = {}, .shape = natural_numbers(field("shape"), name + ": shape", at)};
    if (!field("dtype").is_string()) refuse(at, name + ": dtype is no string");
    t.dtype = field("dtype").get<std::string>();
    const auto offsets = natural_numbers(field("data_offsets"), name + ": data_offsets", at);
    if (offsets.size() != 2)
      refuse(at, name + " has " + std::to_string(offsets.size()) + " data_offsets, not 2");

    const std::uint64_t data_bytes = bytes_.size() - data_at_;
    if (offsets[0] > offsets[1] || offsets[1] > data_bytes) {
      refuse(at, name + " lies at " + std::to_string(offsets[0]) + " .. " + std::to_string(offsets[1]) +
                     ", the data are " + std::to_string(data_bytes) + " bytes");
    }
    t.begin = data_at_ + offsets[0];
    t.end = data_at_ + offsets[1];
    const std::uint64_t needed = bytes_of(t, at);
    if (needed != t.bytes()) {
      refuse(at, name + " is " + t.dtype + " " + shape_text(t.shape) + ": " + std::to_string(needed) +
                     " bytes, its data_offsets hold " + std::to_string(t.bytes()));
    }
    return t;
  }

  std::vector<std::uint64_t> natural_numbers(const nlohmann::json& list, const std::string& what,
                                             std::uint64_t at) const {
    std::vector<std::uint64_t> numbers;
    if (!list.is_array()) refuse(at, what + " is no list");
    for (const nlohmann::json& number : list) {
      if (!number.is_number_unsigned()) refuse(at, what + " holds " + number.dump() + ", no natural number");
      numbers.push_back(number.get<std::uint64_t>());
    }
    return numbers;
  }

  std::uint64_t bytes_of(const tensor_entry& t, std::uint64_t at) const {
    std::uint64_t bytes = element_bytes(t.dtype);
    if (bytes == 0) refuse(at, t.name + " has the dtype " + t.dtype + ", unknown to this reader");
    for (const std::uint64_t n : t.shape) {
      if (__builtin_mul_overflow(bytes, n, &bytes)) refuse(at, t.name + ": its size exceeds 64 bits");
    }
    return bytes;
  }

  /// The tensors fill the data section: no overlap, no hole, nothing after the last.
  void check_coverage() const {
    std::uint64_t expected = data_at_;
    for (const tensor_entry& t : tensors_) {
      if (t.begin != expected) {
        refuse(t.begin, t.name + " begins here, the tensor before it ends at " + std::to_string(expected));
      }
      expected = t.end;
    }
    if (expected != bytes_.size()) {
      refuse(expected, "the last tensor ends here, the file at " + std::to_string(bytes_.size()));
    }
  }

  std::string path_;
  std::vector<std::byte> bytes_;
  std::string_view header_;  // into bytes_
  std::uint64_t data_at_ = 0;
  std::vector<tensor_entry> tensors_;
};

}  // namespace example
