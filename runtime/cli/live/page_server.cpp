#include "cli/live/page_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <httplib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <future>
#include <map>
#include <thread>

#include "base/descriptor.h"
#include "base/mutex.h"
#include "base/token.h"
#include "cli/error.h"

namespace shardlings::cli::live {
namespace {

namespace fs = std::filesystem;

constexpr int kThreads = 16;
constexpr int kMostWaiting = 10;              // the other threads stay free for what can be answered at once
constexpr std::chrono::seconds kLongest{25};  // browsers and proxies give up after half a minute
constexpr std::size_t kMostSent = 4096;
constexpr const char* kHere = "127.0.0.1";
constexpr const char* kBusy = R"({"error": "./shardlings watch is busy: send the answer again in a moment."})";

int port_of(const sockaddr_storage& address) {
  return address.ss_family == AF_INET ? ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port) : 0;
}

/// Whether this is a connection to a server of ours on that port.
bool is_connection_to(int descriptor, int port) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0 || port_of(address) != port) {
    return false;
  }
  size = sizeof address;
  return getpeername(descriptor, reinterpret_cast<sockaddr*>(&address), &size) == 0;
}

// A browser opens connections before it needs them, and a thread of the library sits in each until it times out.
void hang_up_all(int port) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd", ignored)) {
    const int descriptor = std::atoi(entry.path().filename().c_str());
    if (is_connection_to(descriptor, port)) shutdown(descriptor, SHUT_RDWR);
  }
}

}  // namespace

class PageServer::Server {
 public:
  explicit Server(int port) : token_(random_token()), bell_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    prepare();
    port_ = port == 0 ? http_.bind_to_any_port(kHere) : http_.bind_to_port(kHere, port) ? port : -1;
    if (port_ <= 0)
      throw UsageError(
          fmt::format("Port {} of 127.0.0.1 cannot be had: leave --port away, and the system chooses one.", port));
    url_ = fmt::format("http://{}:{}/{}/", kHere, port_, token_);
    thread_ = std::thread([this] { http_.listen_after_bind(); });
    while (!http_.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  ~Server() {
    {
      const MutexLock lock(mutex_);
      stopping_ = true;
      for (Letter& letter : letters_) letter.reply.set_value("null");
      letters_.clear();
    }
    news_.notify_all();
    http_.stop();
    hang_up_all(port_);
    thread_.join();
  }

  const std::string& url() const { return url_; }
  int descriptor() const { return bell_.get(); }

  void publish(const std::string& name, std::string html) {
    const MutexLock lock(mutex_);
    pages_[name] = std::move(html);
  }

  void announce(std::string state) {
    {
      const MutexLock lock(mutex_);
      state_ = std::move(state);
      ++number_;
    }
    news_.notify_all();
  }

  void answer(const std::function<std::string(const std::string&)>& how) {
    std::uint64_t rings = 0;
    if (read(bell_.get(), &rings, sizeof rings) < 0) return;
    std::deque<Letter> letters;
    {
      const MutexLock lock(mutex_);
      letters.swap(letters_);
    }
    for (Letter& letter : letters) letter.reply.set_value(how(letter.sent));
  }

 private:
  /// What a browser has sent, and where the answer goes.
  struct Letter {
    std::string sent;
    std::promise<std::string> reply;
  };

  void prepare() {
    http_.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    // The library's own choice, SO_REUSEPORT, would let two commands share a port and take one another's browsers.
    http_.set_socket_options([](int socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    http_.set_keep_alive_max_count(1);  // a kept connection would keep a thread
    http_.set_payload_max_length(kMostSent);
    http_.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      if (is_ours(request)) return httplib::Server::HandlerResponse::Unhandled;
      response.status = 403;
      response.set_content("This page is for the one who has started it.\n", "text/plain");
      return httplib::Server::HandlerResponse::Handled;
    });
    http_.set_default_headers({{"Cache-Control", "no-store"},
                               {"X-Content-Type-Options", "nosniff"},
                               {"X-Frame-Options", "SAMEORIGIN"},
                               {"Referrer-Policy", "no-referrer"},
                               {"Cross-Origin-Resource-Policy", "same-origin"}});
    http_.Get("/[0-9a-f]+/events", [this](const auto& request, auto& response) { wait_for_news(request, response); });
    http_.Post("/[0-9a-f]+/answer", [this](const auto& request, auto& response) { take(request, response); });
    http_.Get("/[0-9a-f]+/([a-z]*)", [this](const auto& request, auto& response) { give(request, response); });
  }

  // A page of somebody else's, open in the same browser, has another origin; a name that was made to lead here is no
  // name of ours.
  bool is_ours(const httplib::Request& request) const {
    const auto is_name = [this](std::string_view name) {
      return name == fmt::format("{}:{}", kHere, port_) || name == fmt::format("localhost:{}", port_);
    };
    const std::string origin = request.get_header_value("Origin");
    if (!is_name(request.get_header_value("Host"))) return false;
    if (!origin.empty() && !(origin.starts_with("http://") && is_name(std::string_view(origin).substr(7))))
      return false;
    return request.path.starts_with("/" + token_ + "/");
  }

  void give(const httplib::Request& request, httplib::Response& response) {
    const MutexLock lock(mutex_);
    const auto found = pages_.find(request.matches[1]);
    if (found == pages_.end()) {
      response.status = 404;
    } else {
      response.set_content(found->second, "text/html; charset=utf-8");
    }
  }

  void wait_for_news(const httplib::Request& request, httplib::Response& response) {
    const std::string since = request.get_param_value("since");
    const auto end = std::chrono::steady_clock::now() + kLongest;
    const MutexLock lock(mutex_);
    if (waiting_ < kMostWaiting) {
      ++waiting_;
      while (!stopping_ && since == std::to_string(number_) && std::chrono::steady_clock::now() < end) {
        news_.wait_until(mutex_, end);
      }
      --waiting_;
    }
    response.set_content(fmt::format("{{\"number\": {}, \"state\": {}}}", number_, state_), "application/json");
  }

  void take(const httplib::Request& request, httplib::Response& response) {
    std::future<std::string> reply;
    {
      const MutexLock lock(mutex_);
      if (stopping_) return;
      letters_.push_back({request.body, {}});
      reply = letters_.back().reply.get_future();
    }
    const std::uint64_t ring = 1;
    if (write(bell_.get(), &ring, sizeof ring) < 0) return;
    const bool is_there = reply.wait_for(kLongest) == std::future_status::ready;
    response.set_content(is_there ? reply.get() : kBusy, "application/json");
  }

  const std::string token_;
  Descriptor bell_;
  int port_ = 0;
  std::string url_;
  httplib::Server http_;
  std::thread thread_;

  Mutex mutex_;
  std::condition_variable_any news_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  int waiting_ GUARDED_BY(mutex_) = 0;
  std::uint64_t number_ GUARDED_BY(mutex_) = 0;
  std::string state_ GUARDED_BY(mutex_) = "null";
  std::map<std::string, std::string> pages_ GUARDED_BY(mutex_);
  std::deque<Letter> letters_ GUARDED_BY(mutex_);
};

PageServer::PageServer(int port) : server_(std::make_unique<Server>(port)) {}
PageServer::~PageServer() = default;

const std::string& PageServer::url() const {
  return server_->url();
}

void PageServer::publish(const std::string& name, std::string html) {
  server_->publish(name, std::move(html));
}

void PageServer::announce(std::string state) {
  server_->announce(std::move(state));
}

int PageServer::descriptor() const {
  return server_->descriptor();
}

void PageServer::answer(const std::function<std::string(const std::string& sent)>& how) {
  server_->answer(how);
}

}  // namespace shardlings::cli::live
