'use strict';
// Where the rows of a timeline are: for each rank its program, its other lanes, its memory.

const AXIS_HEIGHT = 24;

/**
 * Rows of the visible ranks: {rows: [{rank, last, kind, lane, y, height, label, first}], height, narrow, gutter}. A row
 * of several ranks shows its first one. Many rows are lower.
 */
function layOut(kase, ranges, showMemory, narrow) {
  const size = ranges.length <= 12 ? {program: 22, other: 14, memory: 44, gap: 8}
    : ranges.length <= 32 ? {program: 16, other: 10, memory: 28, gap: 5} : {program: 13, other: 8, memory: 12, gap: 4};
  const rows = [];
  let y = AXIS_HEIGHT + 4;
  for (const {first: rank, last} of ranges) {
    const top = y;
    const add = (kind, lane, height, label) => {
      rows.push({rank, last, kind, lane, y, height, label, first: y === top});
      y += height + 2;
    };
    for (const lane of kase.lanesOfRank[rank] || []) {
      const main = lane.program || y === top;  // where nobody computes, the first lane is the main one
      const height = main ? size.program + 8 * (lane.rows - 1) : size.other + 4 * (lane.rows - 1);
      const coordinates = narrow || rank !== last ? '' : coordinatesOf(kase, rank);
      add('lane', lane, height, lane.program ? coordinates : lane.label);
    }
    if (showMemory && kase.memory[rank] && kase.memory[rank][1] > 0) add('memory', null, size.memory, size.memory < 24 ? 'mem' : '');
    if (y > top) y += size.gap;
  }
  const longest = narrow ? 0 : Math.max(0, ...rows.map((row) => row.lane && row.lane.program ? row.label.length : 0));
  return {rows, height: y, narrow, gutter: narrow ? 72 : 104 + 6.5 * Math.max(0, longest - 7)};
}

/** The row that shows a lane, perhaps as one of several ranks that do the same; null where it is hidden. */
function rowOfLane(panel, lane) {
  return panel.layout.rows.find((row) => row.kind === 'lane' && row.lane.name === lane.name && row.rank <= lane.rank
    && lane.rank <= row.last) || null;
}

/** The event of the row's own lane that stands for event `i` of `lane`. */
function indexInRow(row, lane, i) {
  return row.lane.events[0] + i - lane.events[0];
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
