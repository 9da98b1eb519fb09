// The functions behind the table of commands, one file a family.
#pragma once

#include <atomic>

#include "cli/command.h"

namespace weir::ops {
class Workspace;
}
namespace weir::plan {
enum class ChangeKind;
}

namespace weir::cli {

Exit init_command(const Args& args, Streams& streams);
Exit check_command(const Args& args, Streams& streams);
Exit plan_command(const Args& args, Streams& streams);
Exit run_command(const Args& args, Streams& streams);
Exit backfill_command(const Args& args, Streams& streams);
Exit restate_command(const Args& args, Streams& streams);
Exit status_command(const Args& args, Streams& streams);
Exit due_command(const Args& args, Streams& streams);
Exit inputs_command(const Args& args, Streams& streams);
/// `weir status --freshness`
Exit show_freshness(const Args& args, Streams& streams);
Exit show_cascade(const Args& args, Streams& streams);
Exit ls_command(const Args& args, Streams& streams);
Exit show_command(const Args& args, Streams& streams);
Exit graph_command(const Args& args, Streams& streams);
Exit lineage_command(const Args& args, Streams& streams);
Exit impact_command(const Args& args, Streams& streams);
Exit query_command(const Args& args, Streams& streams);
Exit history_command(const Args& args, Streams& streams);
Exit diff_command(const Args& args, Streams& streams);
Exit restore_command(const Args& args, Streams& streams);
Exit maintain_command(const Args& args, Streams& streams);
Exit deploy_command(const Args& args, Streams& streams);
Exit metrics_ls_command(const Args& args, Streams& streams);
Exit metrics_sql_command(const Args& args, Streams& streams);
Exit metrics_query_command(const Args& args, Streams& streams);
Exit schema_command(const Args& args, Streams& streams);
Exit test_command(const Args& args, Streams& streams);
Exit state_rebuild_command(const Args& args, Streams& streams);
Exit apply_command(const Args& args, Streams& streams);
Exit rollback_command(const Args& args, Streams& streams);
Exit gc_command(const Args& args, Streams& streams);
Exit doctor_command(const Args& args, Streams& streams);
Exit env_create_command(const Args& args, Streams& streams);
Exit env_ls_command(const Args& args, Streams& streams);
Exit env_show_command(const Args& args, Streams& streams);
Exit env_drop_command(const Args& args, Streams& streams);
Exit env_diff_command(const Args& args, Streams& streams);
Exit env_promote_command(const Args& args, Streams& streams);
Exit lsp_command(const Args& args, Streams& streams);
Exit explain_command(const Args& args, Streams& streams);
Exit version_command(const Args& args, Streams& streams);
Exit completion_command(const Args& args, Streams& streams);

/// The mark of a change in a listing of models.
std::string sign_of(plan::ChangeKind kind);

/// What several commands do with a workspace: print the plan of its project, or apply it.
Exit show_changes(ops::Workspace& workspace, const Args& args, Streams& streams);
Exit apply_changes(ops::Workspace& workspace, const Args& args, Streams& streams);

/// Turns true at the first Ctrl-C (or SIGTERM); the second one ends the process at once. Installs the handler on first
/// use.
std::atomic<bool>& stop_requested();

}  // namespace weir::cli
