#include "grading/verdict/shortened.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "grading/verdict/usual.h"
#include "grading/verdict/verdict.h"
#include "submission/wire/counters_json.h"

namespace shardlings::grading::verdict {
namespace {

using Json = nlohmann::ordered_json;

/// What most runs and all of their parts have in common.
Json usual_run() {
  Verdict run;
  run.status = Status::graded;
  run.passed = true;
  run.checks.push_back({});
  CaseVerdict& kase = run.cases.emplace_back();
  kase.ending = wire::Ending::finished;
  kase.checks.emplace_back().passed = true;
  kase.checks[0].bounds.push_back({});
  Json json = Json::parse(to_json(run));
  json["cases"][0].erase("case");
  json["cases"][0]["ranks"] = {{{"counters", Json(wire::counters_to_json({}))}}};
  return json;
}

/// What `kase`, of which nothing is left out but this, has in common with other cases of its run on its cluster.
Json usual_case(const Json& run, const Json& verdict, const Json& cluster) {
  Json usual = Json::parse(to_json(cases::Case()));
  usual["puzzle"] = run.at("puzzle");
  usual["name"] = verdict.at("name");
  usual["seed"] = verdict.at("seed");
  usual["capacity"] = cluster.at("device_memory");
  usual.erase("cluster");
  return usual;
}

/// The cluster of that name as a case has it.
Json named_cluster(const std::string& folder, const std::string& name) {
  cases::Case kase;
  kase.cluster = front::load_cluster(folder, name);
  return Json::parse(to_json(kase)).at("cluster");
}

/// {"like": "classroom", …}: the cluster of its name but for what differs. Where there is none, or one that says more
/// than this, it stays as it is.
Json like_named(const Json& cluster, const std::string& folder) {
  const auto name = cluster.at("name").get<std::string>();
  if (!std::filesystem::exists(std::filesystem::path(folder) / (name + ".toml"))) return cluster;
  const Json named = named_cluster(folder, name);
  for (const auto& [key, value] : named.items()) {
    if (!cluster.contains(key)) return cluster;
  }
  Json like = {{"like", name}};
  like.update(without_usual(cluster, named));
  return like;
}

Json cluster_written_out(Json cluster, const std::string& clusters_folder) {
  if (!cluster.contains("like")) return cluster;
  const Json named = named_cluster(clusters_folder, cluster.at("like").get<std::string>());
  cluster.erase("like");
  return with_usual(cluster, named);
}

}  // namespace

Json shortened(Json run, const std::optional<std::string>& clusters_folder) {
  for (Json& verdict : run["cases"]) {
    Json& kase = verdict["case"];
    const Json cluster = kase["cluster"];
    kase = without_usual(kase, usual_case(run, verdict, cluster));
    if (clusters_folder) kase["cluster"] = like_named(cluster, *clusters_folder);
  }
  return without_usual(run, usual_run());
}

Json written_out(const Json& file, const std::string& clusters_folder) {
  Json run = with_usual(file, usual_run());
  for (Json& verdict : run["cases"]) {
    Json& kase = verdict["case"];
    kase["cluster"] = cluster_written_out(kase.at("cluster"), clusters_folder);
    kase = with_usual(kase, usual_case(run, verdict, kase["cluster"]));
  }
  return run;
}

}  // namespace shardlings::grading::verdict
