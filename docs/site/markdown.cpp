#include "site/markdown.h"

#include <md4c.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "report/harmless.h"
#include "site/anchor.h"
#include "site/formula.h"

namespace shardlings::site {

using report::markup;

namespace {

// Below all headings.
constexpr int kEntryLevel = 7;

std::string value_of(const MD_ATTRIBUTE& attribute) {
  return {attribute.text == nullptr ? "" : attribute.text, attribute.size};
}

/// What md4c calls, one block and one span after another.
class HtmlWriter {
 public:
  HtmlWriter(const std::string& source, const Surroundings& surroundings) : source_(source), around_(surroundings) {
    result_.sections.emplace_back();
  }

  Rendered write() {
    MD_PARSER parser = {};
    parser.flags = MD_FLAG_TABLES | MD_FLAG_PERMISSIVEURLAUTOLINKS | MD_FLAG_NOHTML | MD_FLAG_NOINDENTEDCODEBLOCKS;
    parser.enter_block = [](MD_BLOCKTYPE type, void* detail, void* self) {
      return static_cast<HtmlWriter*>(self)->guarded([&](HtmlWriter& writer) { writer.enter(type, detail); });
    };
    parser.leave_block = [](MD_BLOCKTYPE type, void* detail, void* self) {
      return static_cast<HtmlWriter*>(self)->guarded([&](HtmlWriter& writer) { writer.leave(type, detail); });
    };
    parser.enter_span = [](MD_SPANTYPE type, void* detail, void* self) {
      return static_cast<HtmlWriter*>(self)->guarded([&](HtmlWriter& writer) { writer.enter_span(type, detail); });
    };
    parser.leave_span = [](MD_SPANTYPE type, void* detail, void* self) {
      return static_cast<HtmlWriter*>(self)->guarded([&](HtmlWriter& writer) { writer.leave_span(type, detail); });
    };
    parser.text = [](MD_TEXTTYPE type, const MD_CHAR* text, MD_SIZE size, void* self) {
      return static_cast<HtmlWriter*>(self)->guarded(
          [&](HtmlWriter& writer) { writer.add(type, std::string(text, size), text); });
    };
    md_parse(source_.data(), static_cast<MD_SIZE>(source_.size()), &parser, this);
    if (error_) std::rethrow_exception(error_);
    return std::move(result_);
  }

 private:
  /// No exception goes through the library, which is C.
  template <class Action>
  int guarded(Action action) {
    try {
      action(*this);
      return 0;
    } catch (...) {
      error_ = std::current_exception();
      return 1;
    }
  }

  [[noreturn]] void fail(const std::string& what) const {
    const auto line = 1 + std::count(source_.begin(), source_.begin() + static_cast<std::ptrdiff_t>(code_at_), '\n');
    throw std::runtime_error(fmt::format("{}:{}: {}", around_.path, line, what));
  }

  void html(std::string_view text) { result_.html += text; }

  /// Prose is collected until something else comes, so that a formula may go on in the next line.
  void flush() {
    if (prose_.empty()) return;
    (in_picture_ ? picture_words_ : result_.html) += in_picture_ ? prose_ : prose_with_formulas(prose_);
    prose_.clear();
  }

  void plain(std::string_view text) {
    if (in_heading_) {
      heading_ += text;
    } else {
      result_.sections.back().text += text;
    }
  }

  int level_of(const void* detail) const {
    return std::min(6, static_cast<int>(static_cast<const MD_BLOCK_H_DETAIL*>(detail)->level) + around_.deeper);
  }

  static std::string side_of(const void* detail) {
    switch (static_cast<const MD_BLOCK_TD_DETAIL*>(detail)->align) {
      case MD_ALIGN_RIGHT: return " class=\"right\"";
      case MD_ALIGN_CENTER: return " class=\"center\"";
      default: return "";
    }
  }

  void enter(MD_BLOCKTYPE type, void* detail) {
    flush();
    switch (type) {
      case MD_BLOCK_QUOTE: html("<blockquote>"); break;
      case MD_BLOCK_UL: html("<ul>\n"); break;
      case MD_BLOCK_OL:
        html(fmt::format("<ol start=\"{}\">\n", static_cast<MD_BLOCK_OL_DETAIL*>(detail)->start));
        break;
      case MD_BLOCK_LI: html("<li>"); break;
      case MD_BLOCK_HR: html("<hr>\n"); break;
      case MD_BLOCK_H:
        in_heading_ = true;
        heading_.clear();
        heading_html_ = result_.html.size();
        break;
      case MD_BLOCK_CODE:
        language_ = value_of(static_cast<MD_BLOCK_CODE_DETAIL*>(detail)->lang);
        code_.clear();
        in_code_ = true;
        code_at_ = 0;
        break;
      case MD_BLOCK_P: html("<p>"); break;
      case MD_BLOCK_TABLE: html("<div class=\"scroll\"><table>\n"); break;
      case MD_BLOCK_THEAD: html("<thead>"); break;
      case MD_BLOCK_TBODY: html("<tbody>"); break;
      case MD_BLOCK_TR:
        row_ = result_.html.size();
        first_cell_ = true;
        html("<tr>");
        break;
      case MD_BLOCK_TH: cell_ = result_.html.size(); break;
      case MD_BLOCK_TD:
        word_ = result_.sections.back().text.size();
        html("<td" + side_of(detail) + ">");
        break;
      default: break;
    }
  }

  void leave(MD_BLOCKTYPE type, void* detail) {
    flush();
    if (type == MD_BLOCK_TD && around_.entries && std::exchange(first_cell_, false)) begin_entry();
    if (type != MD_BLOCK_H) plain("\n");
    switch (type) {
      case MD_BLOCK_QUOTE: html("</blockquote>\n"); break;
      case MD_BLOCK_UL: html("</ul>\n"); break;
      case MD_BLOCK_OL: html("</ol>\n"); break;
      case MD_BLOCK_LI: html("</li>\n"); break;
      case MD_BLOCK_H: end_heading(level_of(detail)); break;
      case MD_BLOCK_CODE: end_code(); break;
      case MD_BLOCK_P: html("</p>\n"); break;
      case MD_BLOCK_TABLE: html("</table></div>\n"); break;
      case MD_BLOCK_THEAD: html("</thead>\n"); break;
      case MD_BLOCK_TBODY: html("</tbody>"); break;
      case MD_BLOCK_TR: html("</tr>\n"); break;
      case MD_BLOCK_TH: end_header_cell(side_of(detail)); break;
      case MD_BLOCK_TD: html("</td>"); break;
      default: break;
    }
  }

  /// A header without words is no header: readers of screens would announce nothing.
  void end_header_cell(const std::string& side) {
    const std::string words = result_.html.substr(cell_);
    result_.html.resize(cell_);
    html(words.empty() ? "<td></td>" : "<th scope=\"col\"" + side + ">" + words + "</th>");
  }

  /// The first cell of a row names what the others explain.
  void begin_entry() {
    std::string& before = result_.sections.back().text;
    const std::string word = before.substr(word_);
    before.resize(word_);
    const std::string anchor = around_.prefix + anchor_of(word);
    if (word.empty() || !anchors_.insert(anchor).second) return;
    result_.html.insert(row_ + 3, " id=\"" + markup(anchor) + "\"");
    result_.sections.push_back({kEntryLevel, anchor, word, ""});
  }

  void end_heading(int level) {
    in_heading_ = false;
    std::string anchor = around_.prefix + anchor_of(heading_);
    for (int i = 1; !anchors_.insert(anchor).second; ++i) {
      anchor = fmt::format("{}{}-{}", around_.prefix, anchor_of(heading_), i);
    }
    const std::string words = result_.html.substr(heading_html_);
    result_.html.resize(heading_html_);
    html(fmt::format("<h{0} id=\"{1}\">{2}</h{0}>\n", level, markup(anchor), words));
    result_.sections.push_back({level, anchor, heading_, ""});
  }

  void end_code() {
    in_code_ = false;
    plain(code_);
    if (language_ == "formula") {
      try {
        html("<div class=\"formula scroll\">" + formula_block(code_) + "</div>\n");
      } catch (const std::runtime_error& error) {
        fail(error.what());
      }
      return;
    }
    if (around_.marked && language_.empty() && looks_like_formula(code_)) {
      fail("this block reads like a formula: mark it as formula, or as text if it is to stay as it is");
    }
    html("<pre class=\"scroll\"><code>" + markup(code_) + "</code></pre>\n");
  }

  void enter_span(MD_SPANTYPE type, void* detail) {
    flush();
    switch (type) {
      case MD_SPAN_EM: html("<em>"); break;
      case MD_SPAN_STRONG: html("<strong>"); break;
      case MD_SPAN_CODE: html("<code>"); break;
      case MD_SPAN_A: {
        const Target target = around_.link(value_of(static_cast<MD_SPAN_A_DETAIL*>(detail)->href));
        is_link_ = !target.address.empty();
        html(is_link_ ? "<a href=\"" + markup(target.address) + "\">"
                      : "<span class=\"place\" title=\"In the repository: " + markup(target.place) + "\">");
        break;
      }
      case MD_SPAN_IMG:
        in_picture_ = true;
        picture_words_.clear();
        break;
      default: break;
    }
  }

  void leave_span(MD_SPANTYPE type, void* detail) {
    flush();
    switch (type) {
      case MD_SPAN_EM: html("</em>"); break;
      case MD_SPAN_STRONG: html("</strong>"); break;
      case MD_SPAN_CODE: html("</code>"); break;
      case MD_SPAN_A: html(is_link_ ? "</a>" : "</span>"); break;
      case MD_SPAN_IMG: {
        in_picture_ = false;
        const std::string address = markup(around_.picture(value_of(static_cast<MD_SPAN_IMG_DETAIL*>(detail)->src)));
        html(fmt::format("<a class=\"picture scroll\" href=\"{0}\"><img src=\"{0}\" alt=\"{1}\" loading=\"lazy\"></a>",
                         address, markup(picture_words_)));
        break;
      }
      default: break;
    }
  }

  void add(MD_TEXTTYPE type, const std::string& text, const char* where) {
    if (in_code_) {
      const bool inside = where >= source_.data() && where < source_.data() + source_.size();
      if (code_.empty() && inside) code_at_ = static_cast<std::size_t>(where - source_.data());
      code_ += text;
      return;
    }
    const bool is_break = type == MD_TEXT_SOFTBR || type == MD_TEXT_BR;
    plain(is_break ? " " : text);
    if (type == MD_TEXT_CODE) {
      (in_picture_ ? picture_words_ : result_.html) += in_picture_ ? text : markup(text);
    } else if (type == MD_TEXT_ENTITY) {
      flush();
      html(text);
    } else {
      prose_ += is_break ? "\n" : text;
    }
  }

  const std::string& source_;
  const Surroundings& around_;
  Rendered result_;
  std::exception_ptr error_;
  std::set<std::string> anchors_;
  std::string prose_, heading_, code_, language_, picture_words_;
  std::size_t heading_html_ = 0, cell_ = 0, row_ = 0, word_ = 0, code_at_ = 0;
  bool first_cell_ = false, in_heading_ = false, in_code_ = false, in_picture_ = false, is_link_ = false;
};

}  // namespace

Rendered rendered_markdown(const std::string& text, const Surroundings& surroundings) {
  return HtmlWriter(text, surroundings).write();
}

}  // namespace shardlings::site
