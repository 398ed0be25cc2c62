#include "base/hash.h"

#include <fmt/format.h>

#include "base/file.h"

namespace shardlings {
namespace {

constexpr std::uint64_t kOtherStart = 0x6C62272E07BB0142ULL;  // the upper half of FNV-1a's 128-bit beginning

std::uint64_t hash_of_all(const std::vector<std::string>& texts, std::uint64_t hash) {
  for (const std::string& text : texts) hash = hash_of(text, hash_of(std::to_string(text.size()) + ":", hash));
  return hash;
}

}  // namespace

std::uint64_t hash_of(std::string_view bytes, std::uint64_t hash) {
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * kHashPrime;
  return hash;
}

std::string content_hash(std::string_view content) {
  return fmt::format("{:016x}", hash_of(content));
}

std::string file_hash(const std::string& path) {
  const auto content = read_file(path);
  return content ? content_hash(*content) : std::string();
}

std::string content_key(const std::vector<std::string>& texts) {
  return fmt::format("{:016x}{:016x}", hash_of_all(texts, kHashStart), hash_of_all(texts, kOtherStart));
}

}  // namespace shardlings
