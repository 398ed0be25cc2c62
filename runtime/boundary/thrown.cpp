#include "boundary/thrown.h"

#include <algorithm>

#include "base/thrown_words.h"

namespace shardlings::boundary {
namespace {

Thrown of(ThrownKind kind, const Error& error) {
  const char* text = error.what();  // of a class that the learner has derived it may be nothing
  const char* file = error.where().file;
  return {kind, Misuse::mismatch, text == nullptr ? "" : text, file == nullptr ? "" : file, error.where().line};
}

}  // namespace

NoMemoryInJail::~NoMemoryInJail() = default;

Thrown thrown_now() {
  try {
    throw;
  } catch (const MisuseError& error) {
    Thrown thrown = of(ThrownKind::misuse, error);
    thrown.misuse = error.misuse();
    return thrown;
  } catch (const InvalidArgument& error) {
    return of(ThrownKind::invalid_argument, error);
  } catch (const OutOfMemory& error) {
    return of(ThrownKind::out_of_memory, error);
  } catch (const Aborted& error) {
    return of(ThrownKind::aborted, error);
  } catch (const PeerFailed& error) {
    return of(ThrownKind::peer_failed, error);
  } catch (const NotImplemented& error) {
    return of(ThrownKind::not_implemented, error);
  } catch (const Error& error) {
    return of(ThrownKind::error, error);
  } catch (const std::bad_alloc&) {
    return {ThrownKind::no_host_memory, {}, {}, {}, 0};
  } catch (...) {
    return {ThrownKind::foreign, {}, words_of_thrown(), {}, 0};
  }
}

void throw_again(const Thrown& thrown, std::deque<std::string>& files) {
  const auto known = std::find(files.begin(), files.end(), thrown.file);
  const std::string& file = known != files.end() ? *known : files.emplace_back(thrown.file);
  const Location at{file.c_str(), thrown.line};
  const char* text = thrown.text.c_str();
  switch (thrown.kind) {
    case ThrownKind::invalid_argument: throw InvalidArgument(text, at);
    case ThrownKind::out_of_memory: throw OutOfMemory(text, at);
    case ThrownKind::misuse: throw MisuseError(thrown.misuse, text, at);
    case ThrownKind::aborted: throw Aborted(text, at);
    case ThrownKind::not_implemented: throw NotImplemented(at);
    case ThrownKind::error: throw Error(text, at);
    case ThrownKind::peer_failed: throw PeerFailed(text, at);
    case ThrownKind::no_host_memory: throw NoMemoryInJail();
    case ThrownKind::foreign: break;
  }
  throw ThrownElsewhere(thrown.text);
}

void send(Sender& sender, const Thrown& thrown) {
  constexpr std::size_t kLongest = 32 * 1024;
  sender(thrown.kind, static_cast<int>(thrown.misuse), thrown.text.substr(0, kLongest), thrown.file.substr(0, kLongest),
         thrown.line);
}

Thrown receive_thrown(Receiver& receiver) {
  Thrown thrown;
  std::uint8_t kind = 0;
  int misuse = 0;
  receiver(kind, misuse);
  const bool is_known =
      kind <= static_cast<std::uint8_t>(ThrownKind::foreign) && misuse >= 0 && misuse <= static_cast<int>(Misuse::leak);
  if (!is_known) throw BadPack();
  thrown.kind = static_cast<ThrownKind>(kind);
  thrown.misuse = static_cast<Misuse>(misuse);
  thrown.text = receiver.text();
  thrown.file = receiver.text();
  receiver(thrown.line);
  return thrown;
}

}  // namespace shardlings::boundary
