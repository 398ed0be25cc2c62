#include "site/search_index.h"

#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "base/utf8.h"

namespace shardlings::site {

using nlohmann::json;

namespace {

constexpr char32_t kAlpha = 0x3B1, kOmega = 0x3C9, kCapitalAlpha = 0x391, kCapitalOmega = 0x3A9;

/// What search finds and shows.
struct Finding {
  std::string address, title, heading, text;
  bool folded = false;
};

std::string joined_lines(const std::string& text) {
  std::string result;
  for (const std::string& line : lines_of(text)) {
    if (const std::string words = trimmed(line); !words.empty()) result += (result.empty() ? "" : " ") + words;
  }
  return result;
}

std::vector<Finding> findings_of(const std::vector<Page>& pages, const std::vector<ApiName>& names) {
  std::vector<Finding> findings;
  for (const Page& page : pages) {
    const auto add = [&](const Section& section, bool folded) {
      const std::string address = page.address + (section.anchor.empty() ? "" : "#" + section.anchor);
      const std::string text = joined_lines(section.text);
      if (section.heading.empty() && text.empty()) return;
      findings.push_back({address, page.title, section.heading, text, folded});
    };
    for (const Section& section : page.sections) add(section, false);
    for (const Section& section : page.folded) add(section, true);
  }
  for (const ApiName& name : names) findings.push_back({name.address, name.name, "", "", false});
  return findings;
}

/// MiniSearch's form, version 2: https://github.com/lucaong/minisearch, MiniSearch.toJSON.
class IndexWriter {
 public:
  void add(const Finding& finding) {
    const std::string number = std::to_string(count_++);
    documents_[number] = number;
    const std::vector<std::string> fields = {finding.title + " " + finding.heading, finding.text};
    for (std::size_t field = 0; field < fields.size(); ++field) {
      const std::vector<std::string> words = words_of(fields[field]);
      for (const std::string& word : words) ++words_[word][std::to_string(field)][number];
      const auto different = std::set<std::string>(words.begin(), words.end()).size();
      lengths_[number].push_back(different);
      sums_[field] += static_cast<double>(different);
    }
    stored_[number] = {{"address", finding.address}, {"title", finding.title}, {"heading", finding.heading}};
    if (finding.folded) {
      stored_[number]["folded"] = true;
    } else {
      stored_[number]["text"] = finding.text;
    }
  }

  json index() const {
    json terms = json::array();
    for (const auto& [word, fields] : words_) terms.push_back({word, fields});
    return {{"documentCount", count_},
            {"nextId", count_},
            {"documentIds", documents_},
            {"fieldIds", {{"heading", 0}, {"text", 1}}},
            {"fieldLength", lengths_},
            {"averageFieldLength", {sums_[0] / count_, sums_[1] / count_}},
            {"storedFields", stored_},
            {"dirtCount", 0},
            {"index", terms},
            {"serializationVersion", 2}};
  }

 private:
  using Frequencies = std::map<std::string, int>;

  int count_ = 0;
  json documents_ = json::object(), lengths_ = json::object(), stored_ = json::object();
  double sums_[2] = {0, 0};
  std::map<std::string, std::map<std::string, Frequencies>> words_;
};

}  // namespace

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  bool inside = false;
  for (std::size_t at = 0; at < text.size();) {
    const Character next = first_character(std::string_view(text).substr(at));
    std::string letter = text.substr(at, next.size);
    at += next.size;
    const bool ascii = next.code < 0x80 && std::isalnum(static_cast<int>(next.code)) != 0;
    const bool capital = next.code >= kCapitalAlpha && next.code <= kCapitalOmega;
    if (!ascii && !capital && !(next.code >= kAlpha && next.code <= kOmega)) {
      inside = false;
      continue;
    }
    if (ascii) letter[0] = static_cast<char>(std::tolower(letter[0]));
    if (capital) {
      const char32_t small = next.code + (kAlpha - kCapitalAlpha);
      letter = {static_cast<char>(0xC0 | (small >> 6)), static_cast<char>(0x80 | (small & 0x3F))};
    }
    if (!inside) words.emplace_back();
    inside = true;
    words.back() += letter;
  }
  return words;
}

std::string search_script(const std::vector<Page>& pages, const std::vector<ApiName>& names) {
  IndexWriter writer;
  for (const Finding& finding : findings_of(pages, names)) writer.add(finding);
  return "const searchIndex = " + writer.index().dump(-1, ' ', false, json::error_handler_t::replace) + ";\n";
}

}  // namespace shardlings::site
