// Which rows of a stage of windows share a file. A lake ends a whole file where all of its rows go, and marks rows of
// one that stays: so rows of a window that is written again must not lie beside others. (5.8 of 25 million rows written
// again: 7.9 s in a file with the others, 1.9 s in files of their own.)
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "build/layout.h"
#include "build/work.h"

namespace weir::build {

/// Files by windows: how COPY is told which rows go together.
struct Split {
  /// Between the pieces.
  std::vector<calendar::Wall> cuts;
  /// The column of the stage by whose values rows are put into folders, one a value; empty: by `number`.
  std::string folders_of;
  /// The target's partitioning asks for these folders.
  bool is_bound = false;
  /// The number of the piece of a row of `result`, under the name kPieceColumn.
  duck::Sql number;
};

/// Never among a stage's columns.
inline constexpr std::string_view kPieceColumn = "_weir_piece";

/// Decides it; nothing where the rows stay together: no windows, one alone, or windows without bounds whose times
/// nobody knows. Where the target is partitioned by its time column, every day has a file. Errors: W4001.
Result<std::optional<Split>> split_of(Work& work, const Layout& layout);

/// The pieces of a split with no rows yet.
std::vector<Piece> empty_pieces(const Work& work, const Split& split);
/// The index of the piece whose rows a file in this place holds; nothing if its name does not tell.
std::optional<std::size_t> piece_of_file(const std::string& file, const std::vector<Piece>& pieces, const Split& split);

}  // namespace weir::build
