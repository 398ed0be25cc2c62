#include "boundary/archive.h"

namespace shardlings::boundary {

using detail::Access;
using detail::Ref;

void Sender::send_ref(const Ref& ref) {
  (*this)(ref.storage, ref.generation, ref.offset, ref.shape, ref.dtype, ref.micro);
}

void Sender::send(const Shape& shape) {
  packer_.put(static_cast<std::uint8_t>(shape.rank()));
  for (int i = 0; i < shape.rank(); ++i) packer_.put(shape[i]);
}

void Sender::send(const Group& group) {
  (*this)(Access::id(group), group.rank(), group.size());
}

void Sender::send(const Rank& rank) {
  send(const_cast<Rank&>(rank).world());
}

// A model that its rank's front does not know, with the number 0, cannot be called either: it is told again each time.
void Sender::send(const Model& model) {
  const detail::RankModel* own = Access::rank_model(model);
  const bool is_known = known_ != nullptr && known_->contains(own->id);
  (*this)(own->id, is_known);
  if (is_known) return;
  (*this)(own->tp, *own->structure);
  if (known_ != nullptr && own->id != 0) known_->insert(own->id);
}

Ref Receiver::ref() {
  Ref ref;
  (*this)(ref.storage, ref.generation, ref.offset, ref.shape, ref.dtype, ref.micro);
  if (checks_ != nullptr && ref.storage != 0) checks_->check(ref);
  return ref;
}

void Receiver::receive(const char*& text) {
  if (kept_ == nullptr) throw BadPack();
  text = kept_->texts.insert(unpacker_.text()).first->c_str();
}

void Receiver::receive(View& view) {
  const Ref arrived = ref();
  view = arrived.storage != 0 ? Access::view(port_, arrived) : View();
}

void Receiver::receive(ConstView& view) {
  View arrived;
  receive(arrived);
  view = arrived;
}

void Receiver::receive(Tensor& tensor) {
  const Ref arrived = ref();
  tensor = arrived.storage != 0 ? Access::adopt(port_, arrived) : Tensor();
}

void Receiver::receive(Shape& shape) {
  const auto rank = unpacker_.get<std::uint8_t>();
  if (rank > Shape::kMaxDims) throw BadPack();
  Count dims[Shape::kMaxDims] = {};
  for (int i = 0; i < rank; ++i) dims[i] = unpacker_.get<Count>();
  switch (rank) {
    case 0: shape = Shape(); break;
    case 1: shape = Shape(dims[0]); break;
    case 2: shape = {dims[0], dims[1]}; break;
    case 3: shape = {dims[0], dims[1], dims[2]}; break;
    default: shape = {dims[0], dims[1], dims[2], dims[3]};
  }
}

void Receiver::receive(Group& group) {
  std::uint32_t id = 0;
  int rank = 0, size = 0;
  (*this)(id, rank, size);
  group = size > 0 ? Access::group(port_, id, rank, size) : Group();
}

void Receiver::receive(Model& model) {
  if (kept_ == nullptr) throw BadPack();
  std::uint32_t id = 0;
  bool is_known = false;
  (*this)(id, is_known);
  std::unique_ptr<detail::RankModel>& own = kept_->models[id];
  if (!is_known) {
    own = std::make_unique<detail::RankModel>();
    own->id = id;
    model::ModelStructure structure;
    (*this)(own->tp, structure);
    own->structure = std::make_shared<const model::ModelStructure>(std::move(structure));
  }
  if (own == nullptr) throw BadPack();
  model = Access::model(own.get());
}

}  // namespace shardlings::boundary
