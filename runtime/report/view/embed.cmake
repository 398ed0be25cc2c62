# Writes OUTPUT, the source that holds TEMPLATE and, if there are any, ASSETS of FOLDER as texts: <NAME>_template() and
# <NAME>_assets() of NAMESPACE, which HEADER declares.

# literal(OUT FILE): the file as a raw string literal.
function(literal out file)
  file(READ ${FOLDER}/${file} text)
  set(${out} "R\"SHARDLINGS(${text})SHARDLINGS\"" PARENT_SCOPE)
endfunction()

set(assets "")
foreach(asset ${ASSETS})
  literal(text ${asset})
  get_filename_component(name ${asset} NAME)
  string(APPEND assets "      {\"${name}\",\n${text}},\n")
endforeach()
if(assets)
  set(assets "const std::vector<ViewAsset>& ${NAME}_assets() {
  static const std::vector<ViewAsset> kAssets = {
${assets}  };
  return kAssets;
}

")
endif()
literal(template ${TEMPLATE})
file(WRITE ${OUTPUT} "#include \"${HEADER}\"

namespace ${NAMESPACE} {

${assets}std::string_view ${NAME}_template() {
  return ${template};
}

}  // namespace ${NAMESPACE}
")
