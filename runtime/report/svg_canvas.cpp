#include "report/svg_canvas.h"

#include <fmt/format.h>

#include "report/harmless.h"
#include "report/svg_style.h"

namespace shardlings::report {
namespace {

/// Hundredths are enough, and the same on every machine.
std::string number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

const char* anchor_name(SvgCanvas::Anchor anchor) {
  return anchor == SvgCanvas::Anchor::middle ? "middle" : "end";
}

}  // namespace

std::string xml_text(std::string_view text) {
  // harmless_line() leaves neither control characters nor broken UTF-8.
  return markup(harmless_line(text, Charset::unicode));
}

void SvgCanvas::rect(const Box& box, std::string_view style, double radius) {
  const std::string corners = radius > 0 ? fmt::format(" rx=\"{}\"", number(radius)) : "";
  body_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{} class=\"{}\"/>\n", number(box.x),
                       number(box.y), number(box.width), number(box.height), corners, style);
}

void SvgCanvas::line(double x1, double y1, double x2, double y2, std::string_view style) {
  body_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" class=\"{}\"/>\n", number(x1), number(y1),
                       number(x2), number(y2), style);
}

void SvgCanvas::path(const std::string& data, std::string_view style) {
  body_ += fmt::format("<path d=\"{}\" class=\"{}\"/>\n", data, style);
}

void SvgCanvas::text(double x, double y, std::string_view text, std::string_view style, Anchor anchor) {
  const std::string where = anchor == Anchor::start ? "" : fmt::format(" text-anchor=\"{}\"", anchor_name(anchor));
  body_ += fmt::format("<text x=\"{}\" y=\"{}\"{} class=\"{}\">{}</text>\n", number(x), number(y), where, style,
                       xml_text(text));
}

void SvgCanvas::open_group(std::string_view title) {
  body_ += fmt::format("<g><title>{}</title>\n", xml_text(title));
}

void SvgCanvas::close_group() {
  body_ += "</g>\n";
}

std::string SvgCanvas::document(double width, double height, std::string_view title,
                                std::string_view description) const {
  const std::string w = number(width), h = number(height);
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
             "role=\"img\" "
             "aria-labelledby=\"shardlings-title shardlings-description\">\n"
             "<title id=\"shardlings-title\">{2}</title>\n<desc id=\"shardlings-description\">{3}</desc>\n{4}",
             w, h, xml_text(title), xml_text(description), kSvgStyle) +
         fmt::format("<rect width=\"{}\" height=\"{}\" rx=\"8\" class=\"ground\"/>\n", w, h) + body_ + "</svg>\n";
}

std::string point(char command, double x, double y) {
  return fmt::format("{}{} {}", command, number(x), number(y));
}

}  // namespace shardlings::report
