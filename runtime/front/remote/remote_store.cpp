#include "front/remote/remote_store.h"

#include <memory>
#include <string>
#include <vector>

#include "base/machine_fault.h"

namespace shardlings::front {

namespace remote {

enum class StoreRequest : std::uint8_t { give, begin, write, rename, bury, look, has_folder };

static Writer& operator<<(Writer& to, const ItemName& name) {
  return to << name.folder << name.item;
}
static Reader& operator>>(Reader& from, ItemName& name) {
  return from >> name.folder >> name.item;
}

static Writer& operator<<(Writer& to, const Content& content) {
  to << content.dtype << content.count << content.number << (content.bytes != nullptr);
  return content.bytes ? to << *content.bytes : to;
}
static Reader& operator>>(Reader& from, Content& content) {
  from >> content.dtype >> content.count >> content.number;
  if (!from.get<bool>()) return from;
  content.bytes = std::make_shared<const std::vector<std::byte>>(from.get<std::vector<std::byte>>());
  return from;
}

static Writer& operator<<(Writer& to, const ItemWrite& w) {
  return to << w.name << w.content << w.start << w.end << w.torn << w.rank << w.at.file << w.at.line;
}
static Reader& operator>>(Reader& from, ItemWrite& w) {
  return from >> w.name >> w.content >> w.start >> w.end >> w.torn >> w.rank >> w.at.file >> w.at.line;
}

static Writer& operator<<(Writer& to, const FolderRename& rename) {
  return to << rename.folder << rename.as << rename.end << rename.rank;
}
static Reader& operator>>(Reader& from, FolderRename& rename) {
  return from >> rename.folder >> rename.as >> rename.end >> rename.rank;
}

static Writer& operator<<(Writer& to, const ItemState& s) {
  return to << s.state << s.content << s.rank << s.at.file << s.at.line << s.died;
}
static Reader& operator>>(Reader& from, ItemState& s) {
  return from >> s.state >> s.content >> s.rank >> s.at.file >> s.at.line >> s.died;
}

}  // namespace remote

using remote::Reader;
using remote::StoreRequest;
using remote::Writer;

RemoteStore::RemoteStore(back::Progress& progress) : progress_(progress) {
  progress_.on(back::Channel::items, [this](int, std::string_view bytes) {
    Reader message(bytes);
    const auto number = message.get<std::uint64_t>();
    const bool is_known = message.get<bool>();
    answers_[number] = {is_known, message.get<std::string>()};
  });
}

RemoteStore::~RemoteStore() {
  progress_.on(back::Channel::items, {});
}

void RemoteStore::tell(const Writer& message) {
  progress_.locked([&] { progress_.send(0, back::Channel::store, message.bytes()); });
}

std::string RemoteStore::ask(Writer question) {
  const std::uint64_t number = progress_.locked([&] { return ++last_; });
  question << number;
  tell(question);
  progress_.wait_until([&] { return answers_.contains(number); });
  const StoreAnswer answer = progress_.locked([&] { return std::move(answers_.extract(number).mapped()); });
  if (!answer.is_known) throw MachineFault(answer.text);
  return answer.text;
}

void RemoteStore::give(const ItemName& name, const Content& content) {
  Writer message;
  message << StoreRequest::give << name << content;
  tell(message);
}

void RemoteStore::begin() {
  Writer message;
  message << StoreRequest::begin;
  tell(message);
}

void RemoteStore::write(const ItemWrite& write) {
  Writer message;
  message << StoreRequest::write << write;
  tell(message);
}

void RemoteStore::rename(const FolderRename& rename) {
  Writer message;
  message << StoreRequest::rename << rename;
  tell(message);
}

void RemoteStore::bury(int rank, Nanos died) {
  Writer message;
  message << StoreRequest::bury << rank << died;
  tell(message);
}

ItemState RemoteStore::look(Nanos time, const ItemName& name) {
  Writer question;
  question << StoreRequest::look << time << name;
  const std::string answer = ask(std::move(question));
  return Reader(answer).get<ItemState>();
}

bool RemoteStore::has_folder(Nanos time, const std::string& folder) {
  Writer question;
  question << StoreRequest::has_folder << time << folder;
  const std::string answer = ask(std::move(question));
  return Reader(answer).get<bool>();
}

StoreServer::StoreServer(back::Progress& progress, ItemStore& store) : progress_(progress), store_(store) {
  progress_.on(back::Channel::store, [this](int from, std::string_view message) { hear(from, message); });
}

StoreServer::~StoreServer() {
  progress_.on(back::Channel::store, {});
}

/// That there is none is one, too: somebody waits for it.
template <class Say>
void StoreServer::answer(int from, std::uint64_t number, Say say) {
  const auto send = [&](bool is_known, const std::string& text) {
    Writer message;
    message << number << is_known << text;
    progress_.send(from, back::Channel::items, message.bytes());
  };
  try {
    Writer said;
    say(said);
    send(true, said.bytes());
  } catch (const std::exception& error) {
    send(false, error.what());
  }
}

void StoreServer::hear(int from, std::string_view bytes) {
  Reader message(bytes);
  const auto time_and = [&]<class T>(T& what) {
    const auto time = message.get<Nanos>();
    message >> what;
    return time;
  };
  switch (message.get<StoreRequest>()) {
    case StoreRequest::give: {
      const auto name = message.get<ItemName>();
      return store_.give(name, message.get<Content>());
    }
    case StoreRequest::begin: return store_.begin();
    case StoreRequest::write: return store_.write(message.get<ItemWrite>());
    case StoreRequest::rename: return store_.rename(message.get<FolderRename>());
    case StoreRequest::bury: {
      const auto rank = message.get<int>();
      return store_.bury(rank, message.get<Nanos>());
    }
    case StoreRequest::look: {
      ItemName name;
      const Nanos time = time_and(name);
      return answer(from, message.get<std::uint64_t>(), [&](Writer& said) { said << store_.look(time, name); });
    }
    case StoreRequest::has_folder: {
      std::string folder;
      const Nanos time = time_and(folder);
      return answer(from, message.get<std::uint64_t>(), [&](Writer& said) { said << store_.has_folder(time, folder); });
    }
  }
}

}  // namespace shardlings::front
