/// \file
/// Columns of whole numbers on their way into a page: differences of neighbours as bytes of seven bits, deflated,
/// base64.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shardlings::report {

struct PackedColumn {
  std::string name;
  std::size_t count = 0;
  bool wide = false;                     ///< some number does not fit into 32 bits
  std::optional<std::int64_t> constant;  ///< all numbers are this one, and take no bytes
};

class PackedColumns {
 public:
  /// Numbers up to 2^53 survive the way into a browser.
  void add(std::string name, const std::vector<std::int64_t>& values);
  const std::vector<PackedColumn>& columns() const { return columns_; }
  /// All columns that are not constant one after another, each number as the zigzag of its difference to the one before
  /// it (0 at first), in groups of seven bits, lowest first, all but the last with the eighth bit set.
  const std::string& bytes() const { return bytes_; }

 private:
  std::vector<PackedColumn> columns_;
  std::string bytes_;
};

/// The zlib form (RFC 1950). Throws std::runtime_error where memory is short.
std::string deflated(std::string_view bytes);
/// RFC 4648, section 4, without line ends.
std::string base64(std::string_view bytes);

}  // namespace shardlings::report
