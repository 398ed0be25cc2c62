'use strict';
// Where the rows of a timeline are: for each rank its program, its other lanes, its memory.

const AXIS_HEIGHT = 24;

/**
 * Rows of the visible ranks: {rows: [{rank, kind, lane, y, height, label, first}], height, narrow, gutter}.
 * Many ranks make the rows lower.
 */
function layOut(kase, ranks, showMemory, narrow) {
  const size = ranks.length <= 12 ? {program: 22, other: 14, memory: 20, gap: 8}
    : ranks.length <= 32 ? {program: 16, other: 10, memory: 14, gap: 5} : {program: 13, other: 8, memory: 10, gap: 4};
  const rows = [];
  let y = AXIS_HEIGHT + 4;
  for (const rank of ranks) {
    const top = y;
    const add = (kind, lane, height, label) => {
      rows.push({rank, kind, lane, y, height, label, first: y === top});
      y += height + 2;
    };
    for (const lane of kase.lanesOfRank[rank] || []) {
      const main = lane.program || y === top;  // where nobody computes, the first lane is the main one
      const height = main ? size.program + 8 * (lane.rows - 1) : size.other + 4 * (lane.rows - 1);
      add('lane', lane, height, lane.program ? '' : lane.label);
    }
    if (showMemory && kase.memory[rank] && kase.memory[rank][1] > 0) add('memory', null, size.memory, 'mem');
    if (y > top) y += size.gap;
  }
  return {rows, height: y, narrow, gutter: narrow ? 72 : 104};
}

function rowAt(layout, y) {
  return layout.rows.find((row) => y >= row.y - 1 && y < row.y + row.height + 1) || null;
}

/** A scale from virtual time to pixels of a canvas. */
function timeScale(view, left, right) {
  const perNs = (right - left) / (view.to - view.from);
  return {
    left, right, perNs,
    x: (time) => left + (time - view.from) * perNs,
    time: (x) => view.from + (x - left) / perNs,
  };
}

/** Round distances between ticks that leave each at least `room` pixels. */
function tickStep(perNs, room) {
  const least = room / perNs;
  const power = 10 ** Math.floor(Math.log10(least));
  const factor = [1, 2, 5, 10].find((f) => f * power >= least);
  return Math.max(1, factor * power);
}
