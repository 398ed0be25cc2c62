/// \file
/// What the shared library shows.
#pragma once

/// Marks what the shared library shows; everything else is hidden, so that a submission cannot replace it.
#define SHARDLINGS_API [[gnu::visibility("default")]]
