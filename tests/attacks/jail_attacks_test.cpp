// Attacks by code that runs in a jail, with the compiler's walls taken as fallen: each is stopped by the wall that its
// section names, gains nothing, leaves nothing behind, and the grader goes on. Honest programs pass.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "attacks/attack_file.h"
#include "attacks/attack_programs.h"
#include "base/file.h"
#include "case/data.h"
#include "case/given_seed.h"
#include "case/manifest.h"
#include "grading/build/call_lines.h"
#include "grading/build/toolchain.h"
#include "grading/run/case_of_sum.h"
#include "grading/run/supervisor.h"

namespace shardlings::attacks {
namespace {

using namespace grading;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

constexpr const char* kSecret = "4711-canary-of-the-grader";

/// Sanitizers leave a jail without most of its walls.
bool is_sanitized() {
  return run::default_limits(1).memory_bytes == 0;
}

/// What is there before the first attack and after the last: programs, a file to be read or changed.
class Surroundings {
 public:
  Surroundings() : programs_(canary()) {
    std::ofstream(canary()) << kSecret;
    setenv("SHARDLINGS_CANARY", kSecret, 1);
    // Whatever a run has left becomes a child of this process, and can be seen.
    prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
  static Surroundings& get() {
    static Surroundings all;
    return all;
  }
  std::string canary() const { return folder_.path() + "/canary"; }
  AttackPrograms& programs() { return programs_; }

 private:
  AttackFolder folder_;
  AttackPrograms programs_;
};

cases::Case case_of(int index) {
  return case_of_sum("attack", kFirstCount + index);
}

bool is_solved(const wire::Result& result, const cases::Case& kase) {
  const Count count = kase.integer("count");
  std::vector<float> sum(static_cast<std::size_t>(count));
  for (int rank = 0; rank < kase.ranks; ++rank) {
    const std::vector<float> part = cases::integers_of(kase, rank, count);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
  }
  const auto data = result.outputs.find("data");
  return result.ending == wire::Ending::finished && data != result.outputs.end() && data->second.complete &&
         data->second.conflict.empty() && data->second.values == sum;
}

struct Seconds {
  int processor = 1;
  /// Far above the second at which a jail that ignores the end of its processor time is killed, on an idle machine,
  /// too.
  double wall = 15;
};

bool is_one_of(const std::string& words, const std::string& word) {
  return ("/" + words + "/").find("/" + word + "/") != std::string::npos;
}

/// Of an attack whose run may end so.
Seconds seconds_until(const std::string& endings) {
  Seconds seconds;
  if (is_one_of(endings, "wall_limit")) seconds.wall = 2;  // it may wait without end
  // Memory that a machine has not used yet may take a second of processor time to be filled.
  if (endings == "memory_limit") seconds.processor = 10;
  return seconds;
}

wire::Result run_attack(const std::string& jail, const cases::Case& kase, Seconds seconds = {},
                        const std::string& build_folder = SHARDLINGS_TEST_BUILD) {
  run::ProcessLimits limits = run::default_limits(kase.ranks);
  limits.cpu_seconds = seconds.processor;
  limits.wall_seconds = seconds.wall;
  limits.output_bytes = 1 << 20;
  const std::string broker = build::load_toolchain(build_folder).puzzle(kase.puzzle).broker;
  return run::run_case({broker, jail}, kase, limits);
}

/// Processes that a run has left become ours. What is killed takes a moment to be gone; what lives on is a find.
std::string left_behind() {
  for (int waits = 0; waits < 1000;) {  // as many as have ended are taken at once, however many there were
    int status = 0;
    const pid_t ended = waitpid(-1, &status, WNOHANG);
    if (ended < 0) return "";
    if (ended > 0) continue;
    ++waits;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  std::ifstream children("/proc/self/task/" + std::to_string(getpid()) + "/children");
  std::string numbers;
  std::getline(children, numbers);
  return "processes " + numbers;
}

std::size_t open_files() {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()));
}

/// Whether the wall of that name stood in the run. Those that are not walls of a jail's stand always.
bool stands(const std::string& wall, const boundary::Walls& walls) {
  if (wall == "port" || wall == "none gained") return true;
  const std::vector<std::string> standing = boundary::words_of(walls);
  std::istringstream names(wall);
  for (std::string name; std::getline(names, name, '/');) {
    if (std::find(standing.begin(), standing.end(), name) == standing.end()) return false;
  }
  return true;
}

class JailAttacks : public ::testing::TestWithParam<Attack> {
 protected:
  void SetUp() override {
    if (is_sanitized()) GTEST_SKIP() << "sanitizers leave a jail without most of its walls";
    ASSERT_GE(GetParam().walls.size(), 2U) << "a section names a wall, and how the run ends";
    files_ = open_files();
  }
  /// What has to hold whatever was tried.
  void expect_no_harm(const wire::Result& result) const {
    EXPECT_EQ(read_whole_file(Surroundings::get().canary()), kSecret);
    EXPECT_THAT(result.stdout_text + result.explanation, Not(HasSubstr(kSecret)));
    EXPECT_THAT(result.stdout_text, Not(HasSubstr("GAINED"))) << result.stdout_text;
    EXPECT_EQ(left_behind(), "");
    EXPECT_EQ(open_files(), files_);
    EXPECT_LE(result.stdout_text.size(), 64U * 1024);
  }
  /// The grader, and what it starts, are as they were.
  static void expect_grader_goes_on() {
    const AttackPrograms::Program honest = Surroundings::get().programs().honest();
    const cases::Case kase = case_of(honest.index);
    const wire::Result result = run_attack(honest.path, kase);
    EXPECT_TRUE(is_solved(result, kase)) << result.explanation << result.stdout_text;
  }

 private:
  std::size_t files_ = 0;
};

TEST_P(JailAttacks, AreStoppedByTheirWall) {
  const Attack& attack = GetParam();
  const AttackPrograms::Program program = Surroundings::get().programs().of(attack);
  ASSERT_NE(program.path, "") << program.log;
  const cases::Case kase = case_of(program.index);
  const wire::Result result = run_attack(program.path, kase, seconds_until(attack.walls[1]));
  const std::string said = result.explanation + "\n" + result.stdout_text.substr(0, 4000);
  const bool has_no_text = attack.walls.size() > 3 && attack.walls[3] == "before its first instruction";
  if (!has_no_text) {
    EXPECT_THAT(result.stdout_text, HasSubstr("tried " + program.mark + "\n")) << "it never ran: " << said;
  }
  EXPECT_FALSE(is_solved(result, kase)) << "points without a solution";
  expect_no_harm(result);
  expect_grader_goes_on();
  if (!stands(attack.walls[0], result.walls)) GTEST_SKIP() << "here is no such wall: " << attack.walls[0];
  EXPECT_TRUE(is_one_of(attack.walls[1], name_of(result.ending))) << name_of(result.ending) << ": " << said;
  if (attack.walls[0] == "few system calls" && result.ending == wire::Ending::crashed) {
    EXPECT_THAT(result.explanation, HasSubstr("a request to the operating system"));
  }
  if (attack.walls.size() > 2) {
    EXPECT_THAT(said, HasSubstr(attack.walls[2]));
  }
}

INSTANTIATE_TEST_SUITE_P(All, JailAttacks, ::testing::ValuesIn(load_attacks(SHARDLINGS_ATTACKS "/jail")),
                         [](const auto& tested) { return tested.param.name; });

class HonestInJails : public JailAttacks {};

TEST_P(HonestInJails, Pass) {
  const AttackPrograms::Program program = Surroundings::get().programs().of(GetParam());
  ASSERT_NE(program.path, "") << program.log;
  const cases::Case kase = case_of(program.index);
  const wire::Result result = run_attack(program.path, kase);
  EXPECT_TRUE(is_solved(result, kase)) << result.explanation << result.stdout_text;
  EXPECT_THAT(result.stdout_text, HasSubstr("tried " + program.mark + "\n"));
  expect_no_harm(result);
}

INSTANTIATE_TEST_SUITE_P(All, HonestInJails, ::testing::ValuesIn(load_attacks(kHonestInJails)),
                         [](const auto& tested) { return tested.param.name; });

TEST(AttacksOnJails, AreManyAndHaveNamesOfTheirOwn) {
  const std::vector<Attack> attacks = load_attacks(SHARDLINGS_ATTACKS "/jail");
  EXPECT_GE(attacks.size(), 150U);
  std::map<std::string, int> names;
  for (const Attack& attack : attacks) EXPECT_EQ(++names[attack.name], 1) << attack.name;
}

/// Instead of calling anything, it answers with bytes that look a little like what it was asked.
constexpr const char* kForger = R"(
int main() {
  tried();
  for (;;) {
    mailbox().await();
    std::string bytes = mailbox().bytes();
    std::mt19937 random(static_cast<unsigned>(std::hash<std::string>()(bytes)));
    if (random() % 2 == 0 && !bytes.empty()) bytes = bytes.substr(random() % bytes.size());
    for (char& byte : bytes) {
      if (random() % 32 == 0) byte = static_cast<char>(random() % 4 == 0 ? random() : random() % 4);
    }
    mailbox().post(random() % 8 == 0 ? Topic::threw : Topic::returned, bytes);
  }
})";

TEST(AttacksOnJails, ForgedAnswersToEveryPuzzleHurtNobody) {
  if (is_sanitized()) GTEST_SKIP() << "sanitizers leave a jail without most of its walls";
  const AttackPrograms::Program forger =
      Surroundings::get().programs().of({"forged_answers", {}, kForger, "startup.txt"});
  ASSERT_NE(forger.path, "") << forger.log;
  const std::string build_folder = SHARDLINGS_BUILD_FOLDER, puzzles = SHARDLINGS_SOURCE_FOLDER "/puzzles";
  const build::Toolchain toolchain = build::load_toolchain(build_folder);
  EXPECT_GE(toolchain.puzzles.size(), 20U);
  for (const auto& [id, programs] : toolchain.puzzles) {
    for (const cases::Case& kase : cases::load_manifest(puzzles + "/" + id, toolchain.clusters).cases) {
      const wire::Result result = run_attack(forger.path, kase, {}, build_folder);
      const std::string which = id + ", " + kase.name + ": " + result.explanation;
      EXPECT_THAT(result.stdout_text, HasSubstr("tried constructor")) << which;
      EXPECT_TRUE(is_one_of("finished/failed/cpu_limit/memory_limit", name_of(result.ending)))
          << name_of(result.ending) << ", " << which;
    }
  }
  EXPECT_EQ(left_behind(), "");
}

/// The solution of a puzzle in jails that look for a number in all that comes in.
class Overhearing {
 public:
  Overhearing(std::string id, std::uint64_t number)
      : id_(std::move(id)),
        programs_(build::load_toolchain(SHARDLINGS_BUILD_FOLDER).puzzle(id_)),
        jail_(Surroundings::get().programs().overhearing(
            programs_, fmt::format(SHARDLINGS_SOURCE_FOLDER "/solutions/{}/solution.cpp", id_), number)) {
    EXPECT_NE(jail_.path, "") << jail_.log;
  }
  /// Whether the number came.
  bool is_heard(const cases::Case& kase) const {
    const wire::Result result = run::run_case({programs_.broker, jail_.path}, kase, run::default_limits(kase.ranks));
    EXPECT_EQ(name_of(result.ending), std::string("finished")) << id_ << ", " << kase.name << result.explanation;
    EXPECT_THAT(result.stdout_text, HasSubstr("OVERHEARING")) << id_ << ", " << kase.name;
    return result.stdout_text.find("HEARD in message") != std::string::npos;
  }

 private:
  std::string id_;
  build::Toolchain::Puzzle programs_;
  AttackPrograms::Program jail_;
};

std::vector<cases::Case> cases_of(const std::string& id) {
  const build::Toolchain toolchain = build::load_toolchain(SHARDLINGS_BUILD_FOLDER);
  return cases::load_manifest(SHARDLINGS_SOURCE_FOLDER "/puzzles/" + id, toolchain.clusters).cases;
}

// Whoever knows the seed of a hidden case can repeat it at home. No argument, reply or text that a jail gets has it, as
// bytes or in digits.
TEST(AttacksOnJails, TheSeedOfACaseNeverComesIn) {
  if (is_sanitized()) GTEST_SKIP() << "sanitizers leave a jail without most of its walls";
  constexpr std::uint64_t kSeed = 0x7b1d5e93c4a8f267;  // no other number looks like it
  for (const auto& [id, programs] : build::load_toolchain(SHARDLINGS_BUILD_FOLDER).puzzles) {
    const Overhearing solution(id, kSeed);
    const std::vector<cases::Case> all = cases_of(id);
    for (const std::size_t i : std::set<std::size_t>{0, all.size() / 2, all.size() - 1}) {
      cases::Case kase = all[i];
      kase.seed = kSeed;
      EXPECT_FALSE(solution.is_heard(kase)) << id << ", " << kase.name;
    }
  }
}

TEST(AttacksOnJails, ANumberThatComesInIsHeard) {
  if (is_sanitized()) GTEST_SKIP() << "sanitizers leave a jail without most of its walls";
  const std::string id = "43_data_and_seeds";
  const cases::Case kase = cases_of(id).front();
  EXPECT_TRUE(Overhearing(id, cases::given_seed(kase)).is_heard(kase)) << "its functions are given that seed";
}

/// Four barriers and a sum, each of which says itself in which line it stands.
constexpr const char* kLiar = R"(
void sum_up(Rank& rank, View data) {
  tried();
  // No call stands in this line, which is number 5.
  const char* own = "made_up_lines.cpp";
  const Location all[] = {PLACES};
  for (int i = 0; i < 4; ++i) rank.world().barrier(all[i]);
  rank.world().all_reduce(data, ReduceOp::sum, all[4]);
})";

AttackPrograms::Program liar(const std::string& places) {
  return Surroundings::get().programs().of({"made_up_lines", {}, "#define PLACES " + places + kLiar, "startup.txt"});
}

wire::Result run_liar(const AttackPrograms::Program& program) {
  const std::string text = read_whole_file(program.path.substr(0, program.path.rfind(".jail")));
  const cases::Case kase = case_of(0);
  run::Submission submission(build::load_toolchain(SHARDLINGS_TEST_BUILD).puzzle(kase.puzzle).broker, program.path);
  submission.source = "made_up_lines.cpp";
  submission.call_lines = build::call_lines(text);
  wire::Result result = run::run_case(submission, kase, run::default_limits(kase.ranks));
  EXPECT_TRUE(is_solved(result, kase)) << result.explanation;
  return result;
}

std::vector<int> lines_of_collectives(const front::RankReport& rank) {
  std::vector<int> lines;
  for (const front::Event& event : rank.trace.events) {
    if (event.kind == front::EventKind::collective) lines.push_back(event.at.line);
  }
  return lines;
}

// A line is for whoever reads the report: no check asks for it. So a program that names the wrong ones has the same
// figures, and a line in which no call can stand is left out.
TEST(AttacksOnJails, MadeUpLinesAreLeftOutAndGainNothing) {
  if (is_sanitized()) GTEST_SKIP() << "sanitizers leave a jail without most of its walls";
  const wire::Result honest = run_liar(liar("{own, 8}, {own, 8}, {own, 8}, {own, 8}, {own, 9}"));
  const wire::Result lies = run_liar(liar("{own, 5}, {own, 99}, {\"grader.cpp\", 8}, {own, -3}, {own, 8}"));
  ASSERT_EQ(honest.report.ranks.size(), lies.report.ranks.size());
  for (std::size_t rank = 0; rank < lies.report.ranks.size(); ++rank) {
    const front::RankReport &told = lies.report.ranks[rank], &was = honest.report.ranks[rank];
    EXPECT_EQ(lines_of_collectives(was), (std::vector<int>{8, 8, 8, 8, 9}));
    EXPECT_EQ(lines_of_collectives(told), (std::vector<int>{0, 0, 0, 0, 8})) << "a line of its own with a call stays";
    EXPECT_EQ(told.counters.end, was.counters.end);
    EXPECT_EQ(told.counters.bytes_sent(), was.counters.bytes_sent());
    EXPECT_EQ(told.counters.peak, was.counters.peak);
    EXPECT_EQ(told.counters.calls(front::Collective::barrier), was.counters.calls(front::Collective::barrier));
  }
  EXPECT_EQ(left_behind(), "");
}

TEST(AttacksOnJails, RootHasAnotherUserForEachJail) {
  if (is_sanitized()) GTEST_SKIP() << "sanitizers leave a jail without most of its walls";
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a jail a user of its own";
  const AttackPrograms::Program honest = Surroundings::get().programs().honest();
  const wire::Result result = run_attack(honest.path, case_of(honest.index));
  EXPECT_TRUE(result.walls.own_user);
  EXPECT_EQ(result.walls.tier(), 1);
}

}  // namespace
}  // namespace shardlings::attacks
