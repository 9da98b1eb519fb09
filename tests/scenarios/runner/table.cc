#include "table.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "duck/database.h"

namespace weir::scenario {
namespace {

using Json = nlohmann::ordered_json;

std::string quoted(const std::string& text) {
  if (!text.empty() && text != "NULL" && text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

std::string shown(const Json& value) {
  if (value.is_null()) return "NULL";
  if (value.is_string()) return quoted(value.get<std::string>());
  if (value.is_structured()) return quoted(value.dump());
  return value.dump();
}

std::string row_of(const Json& row) {
  std::string line;
  if (!row.is_structured()) return shown(row);
  bool first = true;
  for (const auto& value : row) {
    if (!first) line += ",";
    first = false;
    line += shown(value);
  }
  return line;
}

}  // namespace

std::optional<std::vector<std::string>> rows_of_json(const std::string& text, std::string& problem) {
  Json document = Json::parse(text, nullptr, false);
  if (document.is_discarded()) {  // one row a line
    document = Json::array();
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
      if (line.empty()) continue;
      auto row = Json::parse(line, nullptr, false);
      if (row.is_discarded()) {
        problem = "the rows are no JSON";
        return std::nullopt;
      }
      document.push_back(std::move(row));
    }
  } else if (document.is_object()) {
    if (document.contains("rows"))
      document = Json(document["rows"]);
    else
      document = Json::array({Json(document)});
  }
  std::vector<std::string> rows;
  for (const auto& row : document) rows.push_back(row_of(row));
  return rows;
}

std::optional<Json> find_value(const Json& document, const std::string& path) {
  const Json* at = &document;
  std::size_t i = 0;
  while (i < path.size()) {
    if (path[i] == '.') {
      ++i;
      continue;
    }
    if (path[i] == '[') {
      const auto close = path.find(']', i);
      if (close == std::string::npos || !at->is_array()) return std::nullopt;
      const std::string inside = path.substr(i + 1, close - i - 1);
      const Json* found = nullptr;
      if (const auto equals = inside.find('='); equals != std::string::npos) {
        for (const auto& element : *at)
          if (const auto field = element.find(inside.substr(0, equals));
              field != element.end() && field->is_string() && *field == inside.substr(equals + 1))
            found = &element;
      } else if (std::stoul(inside) < at->size()) {
        found = &(*at)[std::stoul(inside)];
      }
      if (found == nullptr) return std::nullopt;
      at = found;
      i = close + 1;
      continue;
    }
    const auto end = std::min(path.find_first_of(".[", i), path.size());
    const std::string name = path.substr(i, end - i);
    if (name == "length" && at->is_array()) return Json(at->size());
    if (!at->is_object() || !at->contains(name)) return std::nullopt;
    at = &(*at)[name];
    i = end;
  }
  return *at;
}

bool rewrite_section(const std::string& path, const std::string& section, const std::string& text) {
  std::ifstream in(path, std::ios::binary);
  std::string all((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const std::string head = "-- " + section + " --\n";
  const auto begin = all.find(head);
  if (begin == std::string::npos) return false;
  const auto end = all.find("\n-- ", begin + head.size() - 1);
  all.replace(begin + head.size(), (end == std::string::npos ? all.size() : end + 1) - begin - head.size(), text);
  std::ofstream out(path, std::ios::binary);
  out << all;
  return out.good();
}

std::optional<std::vector<std::string>> ForeignWriter::run(const std::string& lake, const std::string& statements,
                                                           std::string& problem) const {
  const auto database = duck::Database::open({.extension_folder = extension_folder, .threads = 1});
  if (!database) {
    problem = database.error().message;
    return std::nullopt;
  }
  for (const auto* extension : {"ducklake", "sqlite_scanner", "postgres_scanner"}) {
    if (auto loaded = (*database)->load(extension); !loaded) {
      problem = loaded.error().message;
      return std::nullopt;
    }
  }
  auto connection = (*database)->connect();
  const duck::Identifier alias("lake_" + lake);  // `main` is no name for an attachment
  const std::string data = place.folder() + "/lake/" + lake;
  std::error_code ignored;  // the attachment says what is wrong
  std::filesystem::create_directories(data, ignored);
  const bool exists = place.lake_exists(lake);
  auto attached = exists ? connection->execute(duck::Sql("ATTACH {} AS {} (CREATE_IF_NOT_EXISTS false)",
                                                         duck::Literal(place.attach_target(lake)), alias))
                         : tl::unexpected(duck::Failure{});
  if (!attached)
    attached = connection->execute(duck::Sql("ATTACH {} AS {} (DATA_PATH {})", duck::Literal(place.attach_target(lake)),
                                             alias, duck::Literal(data)));
  if (!attached) {
    problem = attached.error().message;
    return std::nullopt;
  }
  const auto used = connection->execute(duck::Sql("USE {}", alias));
  auto result = used ? connection->query(duck::Sql::verbatim(statements)) : tl::unexpected(used.error());
  if (!result) {
    problem = result.error().message;
    return std::nullopt;
  }
  std::vector<std::string> rows;
  for (std::size_t row = 0; row < result->size(); ++row) {
    std::string line;
    for (std::size_t column = 0; column < result->columns().size(); ++column)
      line += (column == 0 ? "" : ",") +
              (result->is_null(row, column) ? std::string("NULL") : quoted(result->text(row, column)));
    rows.push_back(line);
  }
  return rows;
}

}  // namespace weir::scenario
