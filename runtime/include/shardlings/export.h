/// \file
/// Marks what the shared library shows; everything else is hidden, so that a submission cannot replace it.
#pragma once

#define SHARDLINGS_API [[gnu::visibility("default")]]
