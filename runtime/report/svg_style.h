/// \file
/// Colours of SVG pictures, light and dark. Layers and stages take turns with h0 to h4, in the order of the terminal's.
#pragma once

namespace shardlings::report {

/// Numbers on full blocks have a contrast of at least 4.5 to 1 (WCAG 2.1, 1.4.3) in both schemes.
inline constexpr const char* kSvgStyle = R"SVG(<style>
text { font-family: ui-sans-serif, system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; font-size: 12px; }
.title { font-size: 15px; font-weight: 600; }
.small { font-size: 10px; }
.number { font-size: 11px; font-weight: 600; }
.ground { fill: #ffffff; }
.ink { fill: #1c2230; }
.soft { fill: #5b6475; }
.on { fill: #ffffff; }
.track { fill: #f1f3f7; }
.grid { stroke: #d9dee8; stroke-width: 1; }
.memory { fill: #c9d2e3; }
.edge { fill: none; stroke: #7b879d; stroke-width: 1; }
.budget { stroke: #b42318; stroke-width: 1.25; stroke-dasharray: 5 3; }
.over { fill: #d92d20; }
.warn { fill: #b42318; }
.plain { fill: #596275; stroke: #596275; }
.h0 { fill: #2f62c9; stroke: #2f62c9; }
.h1 { fill: #9a5b00; stroke: #9a5b00; }
.h2 { fill: #0b7a72; stroke: #0b7a72; }
.h3 { fill: #a33a8c; stroke: #a33a8c; }
.h4 { fill: #457a1e; stroke: #457a1e; }
.full { stroke: none; }
.shaded { fill-opacity: 0.22; stroke-width: 1; }
.label { stroke: none; }
.stripes { fill: url(#shardlings-stripes); stroke: none; }
.stripe { stroke: #ffffff; }
@media (prefers-color-scheme: dark) {
.ground { fill: #12161f; }
.ink { fill: #e6e9f0; }
.soft { fill: #9aa4b8; }
.on { fill: #12161f; }
.track { fill: #1b2130; }
.grid { stroke: #2c3548; }
.memory { fill: #35415a; }
.edge { stroke: #8894ad; }
.budget { stroke: #ff8a80; }
.over { fill: #ff6b5e; }
.warn { fill: #ff8a80; }
.plain { fill: #9aa4b8; stroke: #9aa4b8; }
.h0 { fill: #7aa8ff; stroke: #7aa8ff; }
.h1 { fill: #e8b04b; stroke: #e8b04b; }
.h2 { fill: #4fd1c2; stroke: #4fd1c2; }
.h3 { fill: #e08fd0; stroke: #e08fd0; }
.h4 { fill: #9fd36a; stroke: #9fd36a; }
.full, .label { stroke: none; }
.stripe { stroke: #12161f; }
}
</style>
<defs><pattern id="shardlings-stripes" width="5" height="5" patternUnits="userSpaceOnUse"
patternTransform="rotate(45)"><line x1="0" y1="0" x2="0" y2="5" class="stripe" stroke-width="3"
stroke-opacity="0.55"/></pattern></defs>
)SVG";

}  // namespace shardlings::report
