# Writes OUTPUT, the source that holds TEMPLATE and ASSETS of FOLDER as texts (assets.h).

# literal(OUT FILE): the file as a raw string literal.
function(literal out file)
  file(READ ${FOLDER}/${file} text)
  set(${out} "R\"SHARDLINGS(${text})SHARDLINGS\"" PARENT_SCOPE)
endfunction()

set(entries "")
foreach(asset ${ASSETS})
  literal(text ${asset})
  get_filename_component(name ${asset} NAME)
  string(APPEND entries "      {\"${name}\",\n${text}},\n")
endforeach()
literal(template ${TEMPLATE})
file(WRITE ${OUTPUT} "#include \"report/view/assets.h\"

namespace shardlings::report {

const std::vector<ViewAsset>& view_assets() {
  static const std::vector<ViewAsset> kAssets = {
${entries}  };
  return kAssets;
}

std::string_view view_template() {
  return ${template};
}

}  // namespace shardlings::report
")
