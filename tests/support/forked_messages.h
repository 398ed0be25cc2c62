/// \file
/// What ranks in processes of their own and the process that serves them tell one another.
#pragma once

#include <optional>

#include "front/group/control.h"
#include "front/store/item_store.h"
#include "support/archive.h"
#include "world/world.h"

namespace shardlings::support {

enum class Request : std::uint8_t {
  post,
  post_message,
  wait,
  wait_split,
  wait_for_any,
  wait_to_look,
  agree,
  die,
  revocation,
  is_agreed,
  clear_lanes,
  restart_clock,
  finish,
  report,
  // of the store
  store_give,
  store_begin,
  store_write,
  store_rename,
  store_bury,
  store_look,
  store_has_folder
};

/// What has come of a wait.
enum class Waited : std::uint8_t { well, aborted, revoked };

/// One end of the connection between a rank and its server.
class Channel {
 public:
  explicit Channel(int socket) : socket_(socket) {}
  ~Channel();
  Channel(Channel&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
  Channel& operator=(Channel&&) = delete;

  void send(const Writer& message);
  /// Nothing once the other side is gone.
  std::optional<Reader> receive();

 private:
  bool read_all(void* to, std::size_t size);
  int socket_;
};

/// Two connected ends.
std::pair<Channel, Channel> make_channels();

Writer& operator<<(Writer& to, const front::CallRecord& record);
Reader& operator>>(Reader& from, front::CallRecord& record);
Writer& operator<<(Writer& to, const front::Placement& placement);
Reader& operator>>(Reader& from, front::Placement& placement);
Writer& operator<<(Writer& to, const front::GroupInfo& group);
Reader& operator>>(Reader& from, front::GroupInfo& group);
/// What a rank needs to know of an agreed operation.
Writer& operator<<(Writer& to, const front::Outcome& outcome);
Writer& operator<<(Writer& to, const front::Failure& failure);
Reader& operator>>(Reader& from, front::Failure& failure);
Writer& operator<<(Writer& to, const front::TrafficKey& key);
Reader& operator>>(Reader& from, front::TrafficKey& key);
Writer& operator<<(Writer& to, const front::Event& event);
Reader& operator>>(Reader& from, front::Event& event);
Writer& operator<<(Writer& to, const front::ItemName& name);
Reader& operator>>(Reader& from, front::ItemName& name);
Writer& operator<<(Writer& to, const front::Content& content);
Reader& operator>>(Reader& from, front::Content& content);
Writer& operator<<(Writer& to, const front::ItemWrite& write);
Reader& operator>>(Reader& from, front::ItemWrite& write);
Writer& operator<<(Writer& to, const front::FolderRename& rename);
Reader& operator>>(Reader& from, front::FolderRename& rename);
Writer& operator<<(Writer& to, const front::ItemState& state);
Reader& operator>>(Reader& from, front::ItemState& state);
Writer& operator<<(Writer& to, const front::RankReport& report);
Reader& operator>>(Reader& from, front::RankReport& report);

}  // namespace shardlings::support
