// The walk over a bound plan, from its leaves up. Plans nest as deep as the user's CTEs and subqueries do, so the open
// operators are a list on the heap and not calls on the stack.
//
// DuckDB writes a plan after it has rewritten correlated subqueries as joins: a DELIM_JOIN hands the distinct values of
// the outer columns to DELIM_GETs below its right side. That rewrite adds groups, join conditions and ranks over those
// values. Within the subquery they are constants and decide nothing, so columns remember that they are such constants
// (Column::outer) and what only compares them is left out.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bind/plan_expression.h"
#include "bind/plan_relation.h"

namespace weir::bind::plan {

class Walk {
 public:
  /// `sql` is the text that was bound, if known; see lineage.h.
  explicit Walk(std::string_view sql) : sql_(sql) {}

  /// Errors: W2190.
  Result<Relation> follow(Element root);
  const Origins& origins() const { return origins_; }

 private:
  /// An operator whose children are not all done.
  struct Open {
    Element node;
    std::string_view type;
    std::vector<Element> children;
    std::size_t next = 0;
    /// The recursive part is followed once more, with what it gave before.
    bool is_repeated = false;
    std::vector<Relation> done;
  };
  /// A DELIM_JOIN whose right side is being followed.
  struct Scope {
    std::uint32_t id = 0;
    std::vector<Column> outer;
  };

  void open(Element node);
  /// What must be known before the child is followed.
  Result<void> before_child(Open& at);
  /// Whether a recursive part must be followed again with what it has now.
  bool must_repeat(Open& at);
  Result<Relation> close(Open& at);
  Result<Relation> close_leaf(const Open& at, bool& is_leaf);
  Result<Relation> close_join(Open& at);

  Result<Relation> get(Open& at);
  Result<Relation> call(Open& at);
  Result<Relation> values(Open& at);
  Result<Relation> delim_get(const Open& at);
  Result<Relation> cte_ref(const Open& at);
  Result<Relation> projection(Open& at);
  Result<Relation> filter(Open& at);
  Result<Relation> aggregate(Open& at);
  Result<Relation> window(Open& at);
  Result<Relation> unnest(Open& at);
  Result<Relation> distinct(Open& at);
  Result<Relation> order(Open& at);
  Result<Relation> limit(Open& at);
  Result<Relation> pivot(Open& at);
  Result<Relation> join(Open& at);
  Result<Relation> cross(Open& at);
  Result<Relation> set_operation(Open& at);
  Relation recursive(Open& at);

  std::uint64_t first_pivoted_group() const;
  RowRole role_of_filter(const Open& at) const;
  Result<Numbers> conditions(const Open& at);
  void leave_scope(std::vector<Column>& columns);
  /// Moves what decides the relation's rows to its columns.
  void keep_rows_to_columns(Relation& relation);
  Column united(const Column& one, const Column& other);
  bool same(const Relation& one, const Relation& other) const;
  Result<void> decide_by_orders(Element holder, std::string_view key, const std::vector<Column>& columns,
                                Numbers& rows);

  std::string_view sql_;
  Origins origins_;
  std::vector<Open> open_;
  std::vector<Scope> scopes_;
  std::uint32_t scopes_made_ = 0;
  std::map<std::uint64_t, Relation> ctes_;
};

}  // namespace weir::bind::plan
