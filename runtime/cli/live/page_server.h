/// \file
/// A page for the browsers of this machine that changes while it is looked at.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace shardlings::cli::live {

/// Serves on 127.0.0.1 alone, below a URL that holds a token which nobody else knows. A browser asks for what is newer
/// than the number that it has, and gets the answer when there is something (a long poll).
class PageServer {
 public:
  /// Port 0: one that the system chooses. Throws UsageError where the port cannot be had, or where no server is built
  /// in.
  explicit PageServer(int port);
  /// Ends every connection.
  ~PageServer();
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;

  /// "http://127.0.0.1:41234/<token>/"
  const std::string& url() const;
  /// What a browser gets below the URL; the empty name is the page itself.
  void publish(const std::string& name, std::string html);
  /// The state, a JSON value, goes to everybody who waits for news.
  void announce(std::string state);

  /// Readable when a browser has sent something.
  int descriptor() const;
  /// Answers what browsers have sent, in this thread: JSON to JSON.
  void answer(const std::function<std::string(const std::string& sent)>& how);

 private:
  class Server;
  std::unique_ptr<Server> server_;
};

}  // namespace shardlings::cli::live
