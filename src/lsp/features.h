// What an editor may ask about a document, one file a question. Each answer is the protocol's result; `null` where
// there is nothing to say.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

#include "lsp/session.h"

namespace weir::lsp {

using Answer = tl::expected<nlohmann::json, Refusal>;

Answer code_actions(const Session& session, const nlohmann::json& params);
Answer completion(const Session& session, const nlohmann::json& params);
Answer definition(const Session& session, const nlohmann::json& params);
Answer document_symbols(const Session& session, const nlohmann::json& params);
Answer hover(const Session& session, const nlohmann::json& params);
Answer prepare_rename(const Session& session, const nlohmann::json& params);
Answer references(const Session& session, const nlohmann::json& params);
Answer rename(const Session& session, const nlohmann::json& params);
Answer will_rename_files(const Session& session, const nlohmann::json& params);
Answer semantic_tokens(const Session& session, const nlohmann::json& params);
/// The names that the numbers in semantic_tokens() stand for.
nlohmann::json semantic_legend();

}  // namespace weir::lsp
