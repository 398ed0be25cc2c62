#include "report/plain_page.h"

#include <fmt/format.h>

#include "report/harmless.h"

namespace shardlings::report {
namespace {

constexpr const char* kFrameStyle = R"CSS(:root { color-scheme: light dark; }
body { font-family: ui-sans-serif, system-ui, "Segoe UI", Roboto, sans-serif; margin: 2rem auto; max-width: 62rem;
  padding: 0 1rem; line-height: 1.4; }
h1 { font-size: 1.3rem; } h2 { font-size: 1.05rem; margin-top: 2rem; }
table { border-collapse: collapse; } caption { text-align: left; padding: .6rem 0; font-weight: 600; }
th, td { padding: .35rem .7rem; text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
th { font-weight: 600; } .note { text-align: left; } .scroll { overflow-x: auto; }
)CSS";

}  // namespace

std::string plain_page(const std::string& title, const std::string& subtitle, const std::string& style,
                       const std::string& body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width\">\n<title>{0}</title>\n<style>\n{1}{2}</style>\n</head>\n<body>\n<main>\n<h1>{0}</"
      "h1>\n"
      "<p>{3}</p>\n{4}</main>\n</body>\n</html>\n",
      markup(title), kFrameStyle, style, markup(subtitle), body);
}

}  // namespace shardlings::report
