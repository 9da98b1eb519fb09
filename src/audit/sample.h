// Samples: the few violating rows that the structured result carries, and never a message.
#pragma once

#include "audit/probe.h"

namespace weir::audit {

inline constexpr std::size_t kSampleRows = 20;
inline constexpr std::size_t kSampleBytes = 51'200;

/// JSON array of at most kSampleRows rows of `relation` where `violation` holds, in a stable order; "" over the size
/// cap or if it cannot be read.
std::string sample_rows(duck::Connection& connection, const duck::Sql& relation,
                        const std::vector<duck::Column>& columns, const AuditRequest& request);

/// The same as {value, count} of groups that occur more than once.
std::string sample_groups(duck::Connection& connection, const duck::Sql& relation,
                          const std::vector<std::string>& columns, const AuditRequest& request);

}  // namespace weir::audit
