#include "build/types.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>

#include "build/stage.h"

namespace weir::build {
namespace {

// A reader of DuckDB's spelling: NAME, NAME(1,2), STRUCT("a" INTEGER, …), MAP(K, V), each followed by any number of []
// and [n].
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Type read() {
    Type type = read_simple();
    while (peek() == '[') {
      ++at_;
      std::string size;
      while (at_ < text_.size() && peek() != ']') size += text_[at_++];
      ++at_;
      Type outer{size.empty() ? "LIST" : "ARRAY", {}, {}};
      if (!size.empty()) outer.parameters.push_back(std::atoi(size.c_str()));
      outer.children.emplace_back("", std::move(type));
      type = std::move(outer);
    }
    return type;
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_spaces() {
    while (peek() == ' ') ++at_;
  }

  std::string read_quoted() {
    std::string name;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"' && (at_ + 1 >= text_.size() || text_[at_ + 1] != '"')) break;
      if (text_[at_] == '"') ++at_;
      name += text_[at_];
    }
    ++at_;
    return name;
  }

  std::string read_word() {
    if (peek() == '"') return read_quoted();
    std::string word;
    while (std::isalnum(static_cast<unsigned char>(peek())) != 0 || peek() == '_' || (peek() & 0x80) != 0)
      word += text_[at_++];
    return word;
  }

  Type read_simple() {
    Type type{read_word(), {}, {}};
    // Names of several words, such as TIMESTAMP WITH TIME ZONE.
    while (peek() == ' ' && at_ + 1 < text_.size() && std::isalpha(static_cast<unsigned char>(text_[at_ + 1])) != 0) {
      ++at_;
      type.name += ' ';
      type.name += read_word();
    }
    if (peek() != '(') return type;
    ++at_;
    if (type.name == "ENUM")
      skip_to_close();
    else if (type.name == "STRUCT" || type.name == "UNION")
      read_fields(type);
    else if (type.name == "MAP")
      read_children(type);
    else
      read_numbers(type);
    return type;
  }

  void read_fields(Type& type) {
    while (at_ < text_.size() && peek() != ')') {
      std::string name = read_word();
      skip_spaces();
      type.children.emplace_back(std::move(name), read());
      if (peek() == ',') ++at_;
      skip_spaces();
    }
    ++at_;
  }

  void read_children(Type& type) {
    while (at_ < text_.size() && peek() != ')') {
      type.children.emplace_back("", read());
      if (peek() == ',') ++at_;
      skip_spaces();
    }
    ++at_;
  }

  void read_numbers(Type& type) {
    std::string number;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == ',' || c == ')') {
        type.parameters.push_back(std::atoi(number.c_str()));
        number.clear();
        if (c == ')') break;
      } else {
        number += c;
      }
    }
    ++at_;
  }

  void skip_to_close() {
    bool quoted = false;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\'') quoted = !quoted;
      if (text_[at_] == ')' && !quoted) break;
    }
    ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

struct Rule {
  const char* reason;
  const char* cast_to;
};

// What DuckLake 1.0 refuses, or answers with an error that invalidates the whole instance (TIME_NS).
const std::map<std::string, Rule, std::less<>>& refused_types() {
  static const std::map<std::string, Rule, std::less<>> rules = {
      {"TIME_NS", {"a lake has no time of day in nanoseconds", "TIME"}},
      {"ENUM", {"a lake has no enumerations", "VARCHAR"}},
      {"UNION", {"a lake has no unions", "VARCHAR"}},
      {"BIT", {"a lake has no bit strings", "VARCHAR"}},
      {"BIGNUM", {"a lake has no numbers of unbounded size", "VARCHAR"}},
      {"NULL", {"a column of NULLs has no type", "VARCHAR"}},
      {"UNKNOWN", {"this type is unknown to weir", "VARCHAR"}},
  };
  return rules;
}

struct Found {
  std::string type;
  std::string reason;
};

// Replaces every offending part in place; returns the first found.
std::optional<Found> mend(Type& type) {
  if (type.name == "ARRAY") {
    const Found found{to_text(type), "a lake has no arrays of a fixed size"};
    type.name = "LIST";
    type.parameters.clear();
    (void)mend(type.children.front().type);
    return found;
  }
  if (const auto rule = refused_types().find(type.name); rule != refused_types().end()) {
    const Found found{type.name, rule->second.reason};
    type = Type{rule->second.cast_to, {}, {}};
    return found;
  }
  std::optional<Found> first;
  for (auto& [name, child] : type.children)
    if (auto found = mend(child); found && !first) first = std::move(found);
  return first;
}

struct Whole {
  bool is_signed;
  int bits;
};
std::optional<Whole> whole(const Type& type) {
  static const std::map<std::string, Whole, std::less<>> types = {
      {"TINYINT", {true, 8}},   {"SMALLINT", {true, 16}},   {"INTEGER", {true, 32}},   {"BIGINT", {true, 64}},
      {"UTINYINT", {false, 8}}, {"USMALLINT", {false, 16}}, {"UINTEGER", {false, 32}}, {"UBIGINT", {false, 64}},
  };
  const auto found = types.find(type.name);
  if (found == types.end()) return std::nullopt;
  return found->second;
}

int digits_of(const Whole& number) {
  switch (number.bits) {
    case 8:
      return 3;
    case 16:
      return 5;
    case 32:
      return 10;
    default:
      return number.is_signed ? 19 : 20;
  }
}

bool whole_fits(const Whole& from, const Type& to) {
  if (const auto other = whole(to)) {
    if (from.is_signed == other->is_signed) return from.bits <= other->bits;
    return !from.is_signed && from.bits < other->bits;
  }
  if (to.name == "DECIMAL") return to.parameters[0] - to.parameters[1] >= digits_of(from);
  if (to.name == "DOUBLE") return from.bits <= 32;
  if (to.name == "FLOAT") return from.bits <= 16;
  return false;
}

// Scales of timestamps that share one range; nanoseconds reach only to 2262 and are left out.
std::optional<int> timestamp_scale(const Type& type) {
  if (type.name == "TIMESTAMP_S") return 0;
  if (type.name == "TIMESTAMP_MS") return 3;
  if (type.name == "TIMESTAMP") return 6;
  return std::nullopt;
}

bool fits(const Type& from, const Type& to, bool fields_may_be_added);

bool fields_fit(const Type& from, const Type& to, bool fields_may_be_added) {
  if (from.children.size() > to.children.size()) return false;
  if (!fields_may_be_added && from.children.size() != to.children.size()) return false;
  for (std::size_t i = 0; i < from.children.size(); ++i) {
    // Fields keep their place: a cast between structs of another order is not a widening.
    if (from.children[i].field != to.children[i].field) return false;
    if (!fits(from.children[i].type, to.children[i].type, fields_may_be_added)) return false;
  }
  return true;
}

bool fits(const Type& from, const Type& to, bool fields_may_be_added) {
  if (from == to) return true;
  if (const auto number = whole(from)) return whole_fits(*number, to);
  if (from.name == "FLOAT") return to.name == "DOUBLE";
  if (from.name == "DECIMAL" && to.name == "DECIMAL") {
    return to.parameters[1] >= from.parameters[1] &&
           to.parameters[0] - to.parameters[1] >= from.parameters[0] - from.parameters[1];
  }
  if (const auto scale = timestamp_scale(from)) {
    const auto other = timestamp_scale(to);
    return other && *scale <= *other;
  }
  if (from.name == "LIST" && to.name == "LIST")
    return fits(from.children[0].type, to.children[0].type, fields_may_be_added);
  if (from.name == "STRUCT" && to.name == "STRUCT") return fields_fit(from, to, fields_may_be_added);
  return false;
}

}  // namespace

Type parse_type(std::string_view text) { return Reader(text).read(); }

std::string to_text(const Type& type) {
  if (type.name == "LIST") return to_text(type.children[0].type) + "[]";
  if (type.name == "ARRAY") return to_text(type.children[0].type) + "[" + std::to_string(type.parameters[0]) + "]";
  std::string text = type.name == "NULL" ? "\"NULL\"" : type.name;
  if (type.children.empty() && type.parameters.empty()) return text;
  text += '(';
  for (std::size_t i = 0; i < type.parameters.size(); ++i)
    text += (i > 0 ? "," : "") + std::to_string(type.parameters[i]);
  for (std::size_t i = 0; i < type.children.size(); ++i) {
    if (i > 0) text += ", ";
    if (type.name != "MAP") text += duck::quote_identifier(type.children[i].field) + " ";
    text += to_text(type.children[i].type);
  }
  return text + ")";
}

std::optional<Refusal> refuse(const Type& type) {
  Type mended = type;
  const auto found = mend(mended);
  if (!found) return std::nullopt;
  return Refusal{found->type, found->reason, to_text(mended)};
}

Type without_huge(const Type& type) {
  if (type.name == "HUGEINT" || type.name == "UHUGEINT") return {"DECIMAL", {38, 0}, {}};
  Type replaced = type;
  for (auto& [name, child] : replaced.children) child = without_huge(child);
  return replaced;
}

bool contains(const Type& type, std::string_view name) {
  return type.name == name || std::any_of(type.children.begin(), type.children.end(),
                                          [&](const auto& child) { return contains(child.type, name); });
}

bool is_lossless_cast(const Type& from, const Type& to) { return fits(from, to, false); }

bool is_exact_or_raises(const Type& from, const Type& to) {
  return (whole(from) || from.name == "HUGEINT" || from.name == "UHUGEINT") && (whole(to) || to.name == "DECIMAL");
}

bool is_lossless_widening(const std::string& from, const std::string& to) {
  const Type before = parse_type(from);
  const Type after = parse_type(to);
  return before != after && fits(before, after, true);
}

bool has_bounds(const Type& type) {
  return whole(type) || timestamp_scale(type) || type.name == "DECIMAL" || type.name == "DATE";
}

}  // namespace weir::build
