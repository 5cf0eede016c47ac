// SPDX-License-Identifier: Apache-2.0
// Reads the files of tests/data: tables with '#' comments, one line of column names, cells separated by tabs,
// and files of raw bytes. OFP8_TEST_DATA is the folder.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace ofp8::test {

inline std::string data_path(const std::string& name) { return std::string(OFP8_TEST_DATA) + "/" + name; }

inline std::uint64_t hex(const std::string& cell) {
  std::size_t used = 0;
  const std::uint64_t value = std::stoull(cell, &used, 16);
  if (used != cell.size()) throw std::runtime_error("not a hexadecimal number: " + cell);
  return value;
}

class golden_table {
 public:
  explicit golden_table(const std::string& name) {
    std::ifstream file(data_path(name));
    if (!file) throw std::runtime_error("cannot open " + data_path(name));
    for (std::string line; std::getline(file, line);) {
      if (line.empty() || line[0] == '#') continue;
      std::vector<std::string> cells = split(line);
      if (columns_.empty())
        columns_ = std::move(cells);
      else if (cells.size() == columns_.size())
        rows_.push_back(std::move(cells));
      else
        throw std::runtime_error(name + ": a row has " + std::to_string(cells.size()) + " cells");
    }
  }

  std::size_t rows() const { return rows_.size(); }

  std::size_t column(const std::string& name) const {
    const auto found = std::find(columns_.begin(), columns_.end(), name);
    if (found == columns_.end()) throw std::runtime_error("no column " + name);
    return static_cast<std::size_t>(found - columns_.begin());
  }
  const std::string& cell(std::size_t row, std::size_t column) const { return rows_[row][column]; }
  const std::string& cell(std::size_t row, const std::string& name) const { return rows_[row][column(name)]; }

 private:
  static std::vector<std::string> split(const std::string& line) {
    std::vector<std::string> cells;
    std::istringstream text(line);
    for (std::string cell; std::getline(text, cell, '\t');) cells.push_back(cell);
    if (line.back() == '\t') cells.emplace_back();
    return cells;
  }

  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
};

inline std::vector<unsigned char> golden_bytes(const std::string& name) {
  std::ifstream file(data_path(name), std::ios::binary);
  if (!file) throw std::runtime_error("cannot open " + data_path(name));
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace ofp8::test
