#include "ops/lineage_json.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace weir::ops {
namespace {

using nlohmann::ordered_json;

ordered_json end_of(const bind::AssetColumn& column) { return {{"asset", column.asset}, {"column", column.column}}; }

ordered_json columns_json(const std::vector<LineageColumn>& columns) {
  ordered_json all = ordered_json::array();
  for (const LineageColumn& column : columns) {
    ordered_json one{{"name", column.name}};
    if (!column.type.empty()) one["type"] = column.type;
    all.push_back(std::move(one));
  }
  return all;
}

ordered_json steps_json(const std::vector<LineageStep>& steps) {
  ordered_json all = ordered_json::array();
  for (const LineageStep& step : steps)
    all.push_back({{"from", end_of(step.from)},
                   {"to", end_of(step.to)},
                   {"kind", name_of(step.kind)},
                   {"origin", step.is_declared ? "declared" : "inferred"},
                   {"overruled", step.is_overruled},
                   {"model", step.model},
                   {"distance", step.distance},
                   {"way", name_of(step.way)}});
  return all;
}

ordered_json gaps_json(const std::vector<LineageGap>& gaps) {
  ordered_json all = ordered_json::array();
  for (const LineageGap& gap : gaps) all.push_back({{"model", gap.model}, {"why", gap.why}});
  return all;
}

}  // namespace

ordered_json to_json(const LineageReport& report) {
  ordered_json rows = ordered_json::array();
  for (const LineageRow& row : report.rows)
    rows.push_back(
        {{"from", end_of(row.from)}, {"role", name_of(row.role)}, {"asset", row.asset}, {"model", row.model}});
  ordered_json object{{"asset", report.asset}};
  if (!report.model.empty()) object["model"] = report.model;
  object["columns"] = columns_json(report.columns);
  object["up"] = steps_json(report.up);
  object["down"] = steps_json(report.down);
  object["rows"] = rows;
  object["not_known"] = gaps_json(report.gaps);
  return object;
}

ordered_json to_json(const ImpactReport& report) {
  ordered_json values = ordered_json::array();
  for (const auto& value : report.values)
    values.push_back({{"asset", value.column.asset},
                      {"column", value.column.column},
                      {"model", value.model},
                      {"kind", name_of(value.kind)},
                      {"distance", value.distance}});
  ordered_json rows = ordered_json::array();
  for (const auto& one : report.rows) {
    ordered_json by = ordered_json::array();
    for (std::size_t i = 0; i < one.columns.size(); ++i) {
      ordered_json column = end_of(one.columns[i]);
      column["role"] = name_of(one.roles[i]);
      by.push_back(std::move(column));
    }
    ordered_json object{{"model", one.model}, {"asset", one.asset}, {"decided_by", by}};
    if (!one.through.empty()) object["through"] = one.through;
    rows.push_back(std::move(object));
  }
  ordered_json mentions = ordered_json::array();
  for (const auto& one : report.mentions)
    mentions.push_back({{"model", one.model}, {"what", one.what}, {"column", one.column}});
  return {{"asset", report.asset}, {"column", report.column},  {"values", values},
          {"rows", rows},          {"mentioned_by", mentions}, {"not_known", gaps_json(report.gaps)}};
}

namespace {

constexpr const char* kProducer = "urn:weir:";
constexpr const char* kEvent = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/JobEvent";
constexpr const char* kSchemaFacet =
    "https://openlineage.io/spec/facets/1-2-0/SchemaDatasetFacet.json#/$defs/SchemaDatasetFacet";
constexpr const char* kLineageFacet =
    "https://openlineage.io/spec/facets/1-2-0/ColumnLineageDatasetFacet.json#/$defs/ColumnLineageDatasetFacet";

/// A dataset is named by where it lives and what it is called there.
struct DatasetName {
  std::string place;
  std::string name;
};
DatasetName dataset(const std::string& asset) {
  if (asset.starts_with("file:")) return {"file", asset.substr(5)};
  const auto scheme = asset.find("://");
  const auto slash = scheme == std::string::npos ? std::string::npos : asset.find('/', scheme + 3);
  if (slash == std::string::npos) return {"weir", asset};
  return {asset.substr(0, slash), asset.substr(slash + 1)};
}

ordered_json facet(const std::string& version, const char* schema) {
  return {{"_producer", kProducer + version}, {"_schemaURL", schema}};
}

ordered_json transformation(const char* type, const char* subtype) {
  return {{"type", type}, {"subtype", subtype}, {"description", ""}, {"masking", false}};
}

ordered_json of_kind(bind::ValueKind kind) {
  switch (kind) {
    case bind::ValueKind::Copy:
      return transformation("DIRECT", "IDENTITY");
    case bind::ValueKind::Expression:
      return transformation("DIRECT", "TRANSFORMATION");
    case bind::ValueKind::Aggregate:
      return transformation("DIRECT", "AGGREGATION");
    case bind::ValueKind::Window:
      return transformation("INDIRECT", "WINDOW");
  }
  return {};
}

ordered_json of_role(bind::RowRole role) {
  switch (role) {
    case bind::RowRole::Where:
      return transformation("INDIRECT", "FILTER");
    case bind::RowRole::Join:
      return transformation("INDIRECT", "JOIN");
    case bind::RowRole::Group:
      return transformation("INDIRECT", "GROUP_BY");
    case bind::RowRole::Order:
      return transformation("INDIRECT", "SORT");
  }
  return {};
}

/// Adds an input field, or one more transformation to the one that is there.
void add_input(ordered_json& fields, const bind::AssetColumn& from, ordered_json change) {
  const DatasetName name = dataset(from.asset);
  for (ordered_json& field : fields)
    if (field["namespace"] == name.place && field["name"] == name.name && field["field"] == from.column) {
      field["transformations"].push_back(std::move(change));
      return;
    }
  fields.push_back({{"namespace", name.place},
                    {"name", name.name},
                    {"field", from.column},
                    {"transformations", ordered_json::array({std::move(change)})}});
}

ordered_json dataset_json(const LineageReport& report, const std::string& asset, const std::string& version) {
  const DatasetName name = dataset(asset);
  ordered_json schema = facet(version, kSchemaFacet);
  schema["fields"] = ordered_json::array();
  if (const auto known = report.schemas.find(asset); known != report.schemas.end())
    schema["fields"] = columns_json(known->second);
  return {{"namespace", name.place}, {"name", name.name}, {"facets", {{"schema", schema}}}};
}

}  // namespace

ordered_json to_openlineage(const LineageReport& report, const std::string& project, const std::string& at,
                            const std::string& version) {
  struct Job {
    std::string output;
    std::set<std::string> inputs;
    ordered_json lineage;
  };
  std::map<std::string, Job> jobs;
  for (const LineageStep& step : report.up) {
    if (step.is_overruled) continue;
    Job& job = jobs[step.model];
    job.output = step.to.asset;
    job.inputs.insert(step.from.asset);
    ordered_json& field = job.lineage["fields"][step.to.column];
    if (field.is_null()) field["inputFields"] = ordered_json::array();
    add_input(field["inputFields"], step.from, of_kind(step.kind));
  }
  for (const LineageRow& row : report.rows) {
    Job& job = jobs[row.model];
    job.output = row.asset;
    job.inputs.insert(row.from.asset);
    if (!job.lineage.contains("dataset")) job.lineage["dataset"] = ordered_json::array();
    add_input(job.lineage["dataset"], row.from, of_role(row.role));
  }
  // A model of constants has no step, and is a job all the same.
  if (!report.model.empty()) jobs[report.model].output = report.asset;
  ordered_json events = ordered_json::array();
  for (const auto& [model, job] : jobs) {
    ordered_json lineage = facet(version, kLineageFacet);
    lineage["fields"] = job.lineage.contains("fields") ? job.lineage["fields"] : ordered_json::object();
    if (job.lineage.contains("dataset")) lineage["dataset"] = job.lineage["dataset"];
    ordered_json output = dataset_json(report, job.output, version);
    output["facets"]["columnLineage"] = lineage;
    ordered_json inputs = ordered_json::array();
    for (const std::string& input : job.inputs) inputs.push_back(dataset_json(report, input, version));
    events.push_back({{"eventTime", at},
                      {"producer", kProducer + version},
                      {"schemaURL", kEvent},
                      {"job", {{"namespace", "weir://" + project}, {"name", model}}},
                      {"inputs", inputs},
                      {"outputs", ordered_json::array({output})}});
  }
  return events;
}

}  // namespace weir::ops
