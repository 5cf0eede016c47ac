// SPDX-License-Identifier: Apache-2.0
// A line plot with a logarithmic x axis as an SVG file: axes with ticks and labels, a legend, one line a curve.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

struct curve {
  std::string name, color, dashes;                // dashes as in stroke-dasharray, empty for a solid line
  std::vector<std::pair<double, double>> points;  // x above 0
};

class svg_plot {
 public:
  svg_plot(std::string title, std::string x_label, std::string y_label)
      : title_(std::move(title)), x_label_(std::move(x_label)), y_label_(std::move(y_label)) {}

  void add(curve c) { curves_.push_back(std::move(c)); }

  /// x from 1 to x_max, y from 0 to y_max. Returns whether the file was written.
  bool write(const char* path, double x_max, double y_max, double y_step) const {
    std::FILE* file = std::fopen(path, "w");
    if (file == nullptr) return false;
    std::fprintf(
        file,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"900\" height=\"520\" viewBox=\"0 0 900 520\" "
        "font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"900\" height=\"520\" "
        "fill=\"white\"/>\n");
    text(file, (left + right) / 2, 28, "middle", title_, "font-size=\"16\"");
    text(file, (left + right) / 2, 505, "middle", x_label_);
    text(file, 0, 0, "middle", y_label_, "transform=\"translate(22 250) rotate(-90)\"");
    for (double y = 0; y <= y_max; y += y_step) {
      line(file, left, y_at(y, y_max), right, y_at(y, y_max), "#dddddd");
      text(file, left - 8, y_at(y, y_max) + 4, "end", number(y));
    }
    for (double x = 1; x <= x_max; x *= 10) {
      line(file, x_at(x, x_max), top, x_at(x, x_max), bottom, "#dddddd");
      text(file, x_at(x, x_max), bottom + 20, "middle", number(x));
    }
    line(file, left, bottom, right, bottom, "black");
    line(file, left, top, left, bottom, "black");
    for (std::size_t i = 0; i < curves_.size(); ++i) draw(file, curves_[i], i, x_max, y_max);
    std::fprintf(file, "</svg>\n");
    return std::fclose(file) == 0;
  }

 private:
  static constexpr double left = 70, right = 690, top = 50, bottom = 460;  // of the axes, in pixels

  static double x_at(double x, double x_max) {
    return left + (right - left) * std::log10(x) / std::log10(x_max);
  }
  static double y_at(double y, double y_max) {
    return bottom - (bottom - top) * std::clamp(y, 0.0, y_max) / y_max;
  }
  static std::string number(double x) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", x);
    return text;
  }
  static void text(std::FILE* file, double x, double y, const char* anchor, const std::string& words,
                   const char* more = "") {
    std::fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" %s>%s</text>\n", x, y, anchor, more,
                 words.c_str());
  }
  static void line(std::FILE* file, double x1, double y1, double x2, double y2, const char* color) {
    std::fprintf(file, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", x1, y1, x2,
                 y2, color);
  }
  static void draw(std::FILE* file, const curve& c, std::size_t index, double x_max, double y_max) {
    const std::string style = "fill=\"none\" stroke-width=\"2\" stroke=\"" + c.color + "\"" +
                              (c.dashes.empty() ? "" : " stroke-dasharray=\"" + c.dashes + "\"");
    std::fprintf(file, "<polyline %s points=\"", style.c_str());
    for (const auto& [x, y] : c.points) std::fprintf(file, "%.1f,%.1f ", x_at(x, x_max), y_at(y, y_max));
    const double y = top + 14 + 24 * static_cast<double>(index);
    std::fprintf(file, "\"/>\n<line x1=\"710\" y1=\"%.1f\" x2=\"750\" y2=\"%.1f\" %s/>\n", y, y,
                 style.c_str());
    text(file, 758, y + 4, "start", c.name);
  }

  std::string title_, x_label_, y_label_;
  std::vector<curve> curves_;
};
