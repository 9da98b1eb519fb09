#include "project/contract.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

class Contract : public testing::Test {
 protected:
  Contract() : database_(*duck::Database::open({})), connection_(*database_->connect()) {
    model_.path = "m";
    auto source = std::make_shared<Source>();
    source->path = "models/m.sql";
    model_.source = source;
  }
  void add(const std::string& name, std::optional<std::string> type) {
    const auto at = static_cast<std::uint32_t>(model_.contract.size() + 1);
    model_.contract.push_back({name, std::move(type), {at, at + 1}});
  }
  // "W2401@2" of each complaint.
  std::vector<std::string> said(const std::vector<duck::Column>& columns) {
    const auto done = check_contract(connection_, model_, columns);
    std::vector<std::string> lines;
    if (!done)
      for (const Diagnostic& one : done.error())
        lines.push_back(std::string(name_of(one.code)) + "@" + std::to_string(one.span.begin));
    return lines;
  }
  std::shared_ptr<duck::Database> database_;
  duck::Connection connection_;
  Model model_;
};
using Lines = std::vector<std::string>;

TEST_F(Contract, TypesAreComparedNotTheirSpelling) {
  add("id", "int");
  add("Amount", "numeric(9, 2)");
  add("tags", "text[]");
  add("pair", "struct(a int4, b float8)");
  add("any", std::nullopt);
  EXPECT_EQ(said({{"ID", "INTEGER"},
                  {"amount", "DECIMAL(9,2)"},
                  {"tags", "VARCHAR[]"},
                  {"pair", "STRUCT(a INTEGER, b DOUBLE)"},
                  {"any", "BLOB"},
                  {"more", "DATE"}}),
            Lines{});
}

TEST_F(Contract, MissingRetypedAndSurplusColumnsAreTold) {
  add("id", "bigint");
  add("name", std::nullopt);
  EXPECT_EQ(said({{"id", "INTEGER"}, {"nam", "VARCHAR"}}), (Lines{"W2402@1", "W2401@2"}));
  EXPECT_EQ(said({{"id", "BIGINT"}, {"name", "VARCHAR"}, {"x", "DATE"}}), Lines{});
  model_.contract_exact = true;
  EXPECT_EQ(said({{"id", "BIGINT"}, {"name", "VARCHAR"}, {"x", "DATE"}}), Lines{"W2403@1"});
}

TEST_F(Contract, ATypeThatIsNoneIsToldAtItsLine) {
  add("a", "BIGINT");
  add("b", "nope");
  add("c", "INT), (SELECT 1");
  add("d", "INT; SELECT 1");
  EXPECT_EQ(said({{"a", "BIGINT"}}), (Lines{"W2404@2", "W2404@3", "W2404@4"}));
}

TEST_F(Contract, AModelWithoutContractIsNotAsked) { EXPECT_EQ(said({}), Lines{}); }

}  // namespace
}  // namespace weir
