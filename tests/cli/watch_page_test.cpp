// `watch --page` as a browser has it: over HTTP, while the command runs.

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/descriptor.h"
#include "cli/learner.h"
#include "cli/terminal.h"

namespace shardlings::cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr auto kPatience = std::chrono::minutes(2);  // a machine may be busy

/// A connection to a port of this machine; the number is negative where there is none.
std::unique_ptr<Descriptor> connected(int port) {
  auto connection = std::make_unique<Descriptor>(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(connection->get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) connection->reset();
  return connection;
}

struct WebAnswer {
  int status = 0;  ///< 0: there was none
  std::string head, body;
};

/// A command that serves a page, ended at the end.
class ServedPage {
 public:
  explicit ServedPage(const Learner& learner, const std::vector<std::string>& more = {}) {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    std::vector<std::string> words = {command_path(), "watch", "01", "--page"};
    words.insert(words.end(), more.begin(), more.end());
    std::vector<std::string> variables = learner.environment();
    child_ = fork();
    if (child_ == 0) {
      dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
      dup2(ends[1], STDOUT_FILENO);
      std::vector<char*> arguments, environment;
      for (std::string& word : words) arguments.push_back(word.data());
      for (std::string& variable : variables) environment.push_back(variable.data());
      arguments.push_back(nullptr);
      environment.push_back(nullptr);
      execve(arguments[0], arguments.data(), environment.data());
      _exit(127);
    }
    close(ends[1]);
    output_.reset(ends[0]);
    url_ = read_url();
  }
  ~ServedPage() {
    end();
    if (drain_.joinable()) drain_.join();
  }

  int port() const { return std::stoi(url_.substr(url_.rfind(':') + 1)); }
  /// "/<token>/"
  std::string path() const { return url_.substr(url_.find('/', std::string("http://").size())); }
  std::string host() const { return "127.0.0.1:" + std::to_string(port()); }
  pid_t process() const { return child_; }

  /// The answer to a request of these lines.
  WebAnswer ask(const std::string& method, const std::string& path, const std::string& headers,
                const std::string& body = "") const {
    const auto connection = connected(port());
    const std::string length = body.empty() ? "" : "Content-Length: " + std::to_string(body.size()) + "\r\n";
    if (!write_all(connection->get(), method + " " + path + " HTTP/1.1\r\n" + headers + length + "\r\n" + body))
      return {};
    std::string text;
    char buffer[65536];
    for (ssize_t got; (got = read(connection->get(), buffer, sizeof buffer)) > 0;) {
      text.append(buffer, static_cast<std::size_t>(got));
    }
    const auto end = text.find("\r\n\r\n");
    if (end == std::string::npos) return {};
    return {std::stoi(text.substr(text.find(' ') + 1)), text.substr(0, end), text.substr(end + 4)};
  }

  /// As a page asks that comes from here.
  WebAnswer get(const std::string& name) const { return ask("GET", path() + name, "Host: " + host() + "\r\n"); }

  /// The first state that is as wanted; null if none came in time.
  template <typename Wanted>
  json state_where(const Wanted& wanted) const {
    std::string since = "0";
    for (const auto end = std::chrono::steady_clock::now() + kPatience; std::chrono::steady_clock::now() < end;) {
      const WebAnswer answer = get("events?since=" + since);
      if (answer.status != 200) return nullptr;
      const json news = json::parse(answer.body);
      since = std::to_string(news.at("number").get<int>());
      if (!news.at("state").is_null() && wanted(news.at("state"))) return news.at("state");
    }
    return nullptr;
  }
  json state_of_status(const std::string& status) const {
    return state_where([&](const json& state) { return state.at("status") == status; });
  }

  /// Asks the command to end, and returns its exit status; -1 if it did not end.
  int end() {
    if (child_ <= 0) return -1;
    kill(child_, SIGTERM);
    int status = 0;
    for (const auto end = std::chrono::steady_clock::now() + kPatience; waitpid(child_, &status, WNOHANG) == 0;) {
      if (std::chrono::steady_clock::now() > end) kill(child_, SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  std::string read_url() {
    std::string line;
    for (char c = 0; read(output_.get(), &c, 1) == 1 && c != '\n';) line += c;
    const auto at = line.find("http://");
    EXPECT_NE(at, std::string::npos) << line;
    // What comes later is for nobody here, and must not fill the pipe.
    drain_ = std::thread([descriptor = output_.get()] {
      char buffer[4096];
      while (read(descriptor, buffer, sizeof buffer) > 0) {
      }
    });
    return at == std::string::npos ? "http://127.0.0.1:1/none/" : line.substr(at);
  }

  pid_t child_ = -1;
  Descriptor output_;
  std::thread drain_;
  std::string url_;
};

TEST(WatchPage, FollowsEverySaveWithLessonVerdictAndPictures) {
  const Learner learner;
  learner.blunder(kFirst, "never_updated");
  const ServedPage page(learner);
  EXPECT_THAT(page.get("").body, AllOf(HasSubstr("<!doctype html>"), HasSubstr("events?since=")));
  const json failed = page.state_of_status("not yet");
  ASSERT_TRUE(failed.is_object());
  EXPECT_THAT(failed.at("title").get<std::string>(), HasSubstr("01 One training step"));
  EXPECT_THAT(failed.at("lesson").get<std::string>(), HasSubstr("One training step"));
  EXPECT_THAT(page.get("run").body, HasSubstr("\"passed\":false"));

  learner.solve(kFirst);
  const json passed = page.state_of_status("passed");
  ASSERT_TRUE(passed.is_object());
  EXPECT_GT(passed.at("run").get<int>(), failed.at("run").get<int>()) << "another picture is fetched by another number";
  EXPECT_THAT(page.get("run").body, Not(HasSubstr("\"passed\":false")));
  EXPECT_NE(passed.at("lesson"), failed.at("lesson")) << "a pass opens the second part";
}

TEST(WatchPage, ShowsNoGoalToThoseWhoHaveWrittenNothing) {
  const Learner learner;
  const ServedPage page(learner);
  const json stub = page.state_of_status("not yet");
  ASSERT_TRUE(stub.is_object());
  EXPECT_EQ(stub.at("run"), 0);
  EXPECT_EQ(page.get("run").status, 404);
  EXPECT_THAT(stub.at("report").get<std::string>(), HasSubstr("not implemented yet"));
}

TEST(WatchPage, JudgesPredictionsAsTheVerbDoes) {
  const Learner learner;
  const ServedPage page(learner);
  const json state = page.state_where([](const json& now) { return !now.at("questions").empty(); });
  ASSERT_TRUE(state.is_object());
  const json verb = json::parse(learner({"predict", "01", "time=4ms", "--json"}).out).at("questions").at(0);
  const std::string headers = "Host: " + page.host() + "\r\nOrigin: http://" + page.host() + "\r\n";
  const auto sent = [&](const std::string& puzzle, const std::string& time) {
    const json letter = {{"puzzle", puzzle}, {"id", "time"}, {"answer", time}};
    return page.ask("POST", page.path() + "answer", headers, letter.dump());
  };
  const WebAnswer answer = sent("01_training_step", "4ms");
  ASSERT_EQ(answer.status, 200);
  const json judged = json::parse(answer.body).at("questions").at(0);
  EXPECT_EQ(judged, verb);
  EXPECT_FALSE(judged.at("answer").at("right").get<bool>());

  const auto error_of = [](const WebAnswer& refused) {
    return json::parse(refused.body).at("error").get<std::string>();
  };
  EXPECT_THAT(error_of(sent("01_training_step", "soon")), HasSubstr("that is no number"));
  EXPECT_THAT(error_of(sent("02_gradient_accumulation", "4ms")), HasSubstr("another puzzle"));
  EXPECT_TRUE(json::parse(page.ask("POST", page.path() + "answer", headers, "no letter").body).contains("error"));
}

TEST(WatchPage, AsksTheQuestionsAfterThePassOnceThereIsOne) {
  const Learner learner;
  const ServedPage page(learner);
  const auto sent = [&](const std::string& answer) {
    const json letter = {{"puzzle", "01_training_step"}, {"id", "bytes"}, {"answer", answer}, {"after", true}};
    return json::parse(page.ask("POST", page.path() + "answer", "Host: " + page.host() + "\r\n", letter.dump()).body);
  };
  const json before = page.state_where([](const json& now) { return !now.at("questions").empty(); });
  EXPECT_TRUE(before.at("after").empty());
  EXPECT_THAT(sent("1").at("error").get<std::string>(), HasSubstr("is not solved yet"));
  learner.solve("01_training_step");
  const json solved = page.state_where([](const json& now) { return !now.at("after").empty(); });
  ASSERT_TRUE(solved.is_object()) << "a pass opens them";
  const json verb = json::parse(learner({"predict", "01", "--after", "--json"}).out).at("questions");
  EXPECT_EQ(solved.at("after"), verb);
  const std::string id = verb.at(0).at("id");
  const json letter = {{"puzzle", "01_training_step"}, {"id", id}, {"answer", "1"}, {"after", true}};
  const json judged =
      json::parse(page.ask("POST", page.path() + "answer", "Host: " + page.host() + "\r\n", letter.dump()).body);
  EXPECT_FALSE(judged.at("questions").at(0).at("answer").at("right").get<bool>());
  EXPECT_THAT(learner({"list"}).out, HasSubstr("answered 0 of"));
}

TEST(WatchPage, AnswersOnlyThoseWhoKnowItsUrl) {
  const Learner learner;
  const ServedPage page(learner);
  const std::string host = "Host: " + page.host() + "\r\n";
  const std::string port = std::to_string(page.port());
  EXPECT_EQ(page.ask("GET", page.path(), host).status, 200);
  EXPECT_EQ(page.ask("GET", page.path(), "Host: localhost:" + port + "\r\n").status, 200);
  EXPECT_EQ(page.ask("GET", page.path(), host + "Origin: http://localhost:" + port + "\r\n").status, 200);
  for (const std::string& headers : {"Host: evil.example:" + port + "\r\n", std::string("Host: 127.0.0.1\r\n"),
                                     host + "Origin: http://evil.example\r\n", host + "Origin: null\r\n",
                                     host + "Origin: https://" + page.host() + "\r\n"}) {
    EXPECT_EQ(page.ask("GET", page.path(), headers).status, 403) << headers;
    EXPECT_EQ(page.ask("POST", page.path() + "answer", headers, "{}").status, 403) << headers;
  }
  for (const char* path : {"/", "/events", "/0123456789abcdef0123456789abcdef/", "/0123/answer"}) {
    EXPECT_EQ(page.ask("GET", path, host).status, 403) << path;
    EXPECT_EQ(page.ask("POST", path, host, "{}").status, 403) << path;
  }
  EXPECT_EQ(page.get("nothing").status, 404);
  EXPECT_THAT(page.get("").head, AllOf(HasSubstr("no-store"), Not(HasSubstr("Access-Control"))));
}

std::ptrdiff_t threads_of(pid_t process) {
  const std::filesystem::path tasks = "/proc/" + std::to_string(process) + "/task";
  return std::distance(std::filesystem::directory_iterator(tasks), {});
}

TEST(WatchPage, EndsCleanlyAfterManyReloadsAndWithConnectionsOpen) {
  const Learner learner;
  ServedPage page(learner);
  ASSERT_TRUE(page.state_where([](const json& state) { return state.at("status") == "not yet"; }).is_object());
  const std::ptrdiff_t threads = threads_of(page.process());
  const std::string number = std::to_string(json::parse(page.get("events?since=0").body).at("number").get<int>());
  for (int reload = 0; reload < 100; ++reload) {
    EXPECT_EQ(page.get("").status, 200);
    const auto waiting = connected(page.port());  // a long poll that the browser drops
    write_all(waiting->get(),
              "GET " + page.path() + "events?since=" + number + " HTTP/1.1\r\nHost: " + page.host() + "\r\n\r\n");
  }
  EXPECT_EQ(threads_of(page.process()), threads);
  const auto silent = connected(page.port());
  const auto waiting = connected(page.port());
  write_all(waiting->get(),
            "GET " + page.path() + "events?since=" + number + " HTTP/1.1\r\nHost: " + page.host() + "\r\n\r\n");
  EXPECT_EQ(page.end(), 0);
}

TEST(WatchPage, SaysWhyItCannotBe) {
  const Learner learner;
  const ServedPage page(learner);
  const std::string port = std::to_string(page.port());
  const Answer taken = learner({"watch", "01", "--page", "--port", port});
  EXPECT_EQ(taken.status, 2);
  EXPECT_THAT(taken.err, HasSubstr("Port " + port + " of 127.0.0.1 cannot be had"));
  EXPECT_EQ(learner({"watch", "01", "--port", port}).status, 2);
  EXPECT_EQ(learner({"watch", "01", "--page", "--port", "70000"}).status, 2);
}

TEST(WatchPage, OpensWithAKey) {
  const Learner learner;
  Terminal terminal(learner, {"watch", "01"}, {"NO_COLOR=1"});
  ASSERT_TRUE(terminal.shows("not yet"));
  terminal.type("p");
  ASSERT_TRUE(terminal.shows("Page: http://127.0.0.1:")) << terminal.everything();
  terminal.type("q");
  EXPECT_EQ(terminal.finish(), 0);
}

}  // namespace
}  // namespace shardlings::cli
