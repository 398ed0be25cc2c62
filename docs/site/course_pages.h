/// \file
/// The pages of the course: its first page, its chapters, its lessons, and the text with wrong claims.
#pragma once

#include "site/layout.h"
#include "site/page.h"
#include "site/repository.h"

namespace shardlings::site {

/// The first page: what this is, and the chapters with their puzzles.
Page first_page(const Repository& repository);

/// A chapter: what docs/map.md says of it, and its puzzles. Throws std::runtime_error if the map has no such part.
Page chapter_page(const Repository& repository, const std::string& chapter);

/// A puzzle's lesson, with its hints behind folds that open one after another, and its second part behind one. Nothing
/// of a solution, a grader or a case is on it.
Page lesson_page(const Repository& repository, const cases::Manifest& puzzle);

/// A text of the repository as it stands.
Page text_page(const Repository& repository, const std::string& path, const std::string& kind);

/// docs/quiz/post.toml: each claim with its judgement behind a fold.
Page post_page(const Repository& repository);

/// The public headers with what they are for, and where their pages are.
Page api_page(const Repository& repository);

/// A field to search in; what it finds is shown by assets/search.js.
Page search_page();

}  // namespace shardlings::site
