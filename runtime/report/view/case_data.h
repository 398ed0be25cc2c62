/// \file
/// One case of a run as a page carries it: what is read once as JSON, events and memory as packed columns.
#pragma once

#include <string>

#include "grading/verdict/verdict.h"

namespace shardlings::report {

struct CaseData {
  std::string json;     ///< an object; its members are those that assets/data.js reads
  std::string columns;  ///< deflated, base64; empty where nothing was recorded
};

CaseData case_data(const grading::verdict::CaseVerdict& kase);

}  // namespace shardlings::report
