// Internal to deliver/: one strategy that fills a page of its own.
#pragma once

#include "deliver/delta.h"
#include "publish/draft.h"

namespace weir::deliver {

/// History (scd): closes the open version of each key that changed and opens a new one (history.cc).
Result<void> keep_history(publish::Draft& draft, Delta& delta);

}  // namespace weir::deliver
