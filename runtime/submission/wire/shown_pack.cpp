#include "submission/wire/shown_pack.h"

#include <cmath>

#include "base/dtype.h"
#include "base/extents.h"

namespace shardlings::wire {
namespace {

using front::Shown;
using front::ShownRow;

constexpr std::size_t kMostRows = Shown::kFirstRows + Shown::kLastRows;
constexpr std::size_t kMostColumns = Shown::kFirstColumns + Shown::kLastColumns;

void pack_shape(const Shape& shape, Packer& out) {
  out.put<std::int32_t>(shape.rank());
  for (int i = 0; i < Shape::kMaxDims; ++i) out.put<Count>(i < shape.rank() ? shape[i] : 0);
}

Shape unpack_shape(Unpacker& in) {
  const auto rank = in.get<std::int32_t>();
  Count dims[Shape::kMaxDims];
  for (Count& dim : dims) dim = in.get<Count>();
  if (rank < 0 || rank > Shape::kMaxDims) throw BadPack();
  const Shape all{dims[0], dims[1], dims[2], dims[3]};
  const Shape shapes[] = {Shape(), Shape(dims[0]), {dims[0], dims[1]}, {dims[0], dims[1], dims[2]}, all};
  const Shape shape = shapes[rank];
  if (!is_possible(shape)) throw BadPack();
  return shape;
}

void pack_row(const ShownRow& row, Packer& out) {
  out.put(row.row);
  out.put<std::uint64_t>(row.values.size());
  out.block(row.values.data(), row.values.size() * sizeof(float));
}

ShownRow unpack_row(const Shape& shape, Unpacker& in) {
  ShownRow row;
  row.row = in.get<Count>();
  row.values.resize(in.count(sizeof(float)));
  const bool fits = row.row >= 0 && row.row < shape.rows() && row.values.size() <= kMostColumns &&
                    static_cast<Count>(row.values.size()) <= shape.cols();
  if (!fits) throw BadPack();
  in.block(row.values.data(), row.values.size() * sizeof(float));
  return row;
}

void pack_one(const Shown& shown, Packer& out) {
  out.text(shown.label);
  out.text(shown.file);
  out.put<std::int32_t>(shown.line);
  out.put<std::uint8_t>(shown.there ? 1 : 0);
  pack_shape(shown.shape, out);
  out.put(shown.dtype);
  out.put(shown.kind);
  out.put(shown.memory);
  out.put(shown.layer);
  out.put(shown.micro);
  out.put(shown.nan);
  out.put(shown.infinite);
  for (const double number : {shown.min, shown.max, shown.mean, shown.norm}) out.put(number);
  out.put<std::uint64_t>(shown.rows.size());
  for (const ShownRow& row : shown.rows) pack_row(row, out);
}

Shown unpack_one(Unpacker& in) {
  Shown shown;
  shown.label = in.text();
  shown.file = in.text();
  shown.line = in.get<std::int32_t>();
  shown.there = in.flag();
  shown.shape = unpack_shape(in);
  shown.dtype = in.choice<DType>(kNumDTypes);
  shown.kind = in.choice<Kind>(kNumKinds);
  shown.memory = in.choice<front::Memory>(front::kMemories);
  shown.layer = in.get<std::int32_t>();
  shown.micro = in.get<std::int32_t>();
  shown.nan = in.get<Count>();
  shown.infinite = in.get<Count>();
  for (double* number : {&shown.min, &shown.max, &shown.mean, &shown.norm}) {
    *number = in.get<double>();
    if (!std::isfinite(*number)) throw BadPack();
  }
  const Count size = shown.shape.size();
  const bool counts = shown.nan >= 0 && shown.infinite >= 0 && shown.nan <= size && shown.infinite <= size - shown.nan;
  if (!counts || shown.label.size() > Shown::kLongestLabel || shown.file.size() > Shown::kLongestFile) throw BadPack();
  const std::size_t rows = in.count(sizeof(Count) + sizeof(std::uint64_t));
  if (rows > kMostRows) throw BadPack();
  for (std::size_t i = 0; i < rows; ++i) shown.rows.push_back(unpack_row(shown.shape, in));
  return shown;
}

}  // namespace

void pack_shows(const front::Shows& shows, Packer& out) {
  out.put<std::uint64_t>(shows.kept.size());
  for (const Shown& shown : shows.kept) pack_one(shown, out);
  out.put(shows.left_out);
}

front::Shows unpack_shows(Unpacker& in) {
  front::Shows shows;
  const std::size_t kept = in.count(sizeof(std::uint64_t));
  if (kept > front::Shows::kMost) throw BadPack();
  for (std::size_t i = 0; i < kept; ++i) shows.kept.push_back(unpack_one(in));
  shows.left_out = in.get<std::int64_t>();
  if (shows.left_out < 0) throw BadPack();
  return shows;
}

}  // namespace shardlings::wire
