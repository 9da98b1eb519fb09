// Boxes and arrows as text that other programs draw: Graphviz and Mermaid.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace weir::cli {

struct Drawing {
  struct Box {
    std::string id;
    std::string label;
    /// Boxes of one group stand together; empty: none.
    std::string group;
    enum class Shape { Plain, Source, File } shape = Shape::Plain;
  };
  struct Arrow {
    std::string from;
    std::string to;
    std::string label;
    bool is_dashed = false;
  };
  std::vector<Box> boxes;
  std::vector<Arrow> arrows;
};

std::string to_dot(const Drawing& drawing);
std::string to_mermaid(const Drawing& drawing);
/// Lets Graphviz place the boxes. Errors: W8020 it is not there.
Result<std::string> to_svg(const Drawing& drawing);

}  // namespace weir::cli
