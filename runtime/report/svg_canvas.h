/// \file
/// The elements of an SVG document, written one after another. Coordinates are in user units.
#pragma once

#include <string>
#include <string_view>

namespace shardlings::report {

/// Text as the content or an attribute of XML: markup escaped, characters that XML 1.0 has none of replaced.
std::string xml_text(std::string_view text);

class SvgCanvas {
 public:
  struct Box {
    double x = 0, y = 0, width = 0, height = 0;
  };
  enum class Anchor { start, middle, end };

  /// `style`: class names; `radius`: of the corners.
  void rect(const Box& box, std::string_view style, double radius = 0);
  void line(double x1, double y1, double x2, double y2, std::string_view style);
  /// Straight lines through path data made by point().
  void path(const std::string& data, std::string_view style);
  void text(double x, double y, std::string_view text, std::string_view style, Anchor anchor = Anchor::start);
  /// Opens a group with a title, which viewers show on hover and read aloud.
  void open_group(std::string_view title);
  void close_group();

  /// The document: everything so far on a ground of that size, with an accessible title and description.
  std::string document(double width, double height, std::string_view title, std::string_view description) const;

 private:
  std::string body_;
};

/// "M 3.25 4" for path data; the first letter is the command.
std::string point(char command, double x, double y);

}  // namespace shardlings::report
