'use strict';
// Events as text: the one that is marked, and all of a rank as a table.

const ROWS_AT_ONCE = 100;

/** Tells about the marked event; `element` is read aloud when it changes. */
function tellEvent(element, panel) {
  if (!panel || !panel.marked) {
    replace(element, make('span', {class: 'soft'}, 'Point at a block, or focus the timeline and use the arrow keys.'));
    return;
  }
  const {row, i} = panel.marked;
  replace(element, make('strong', {}, titleOf(panel.kase, i)), codeOf(panel, i), terms(detailsOf(panel.kase, row, i)));
}

/** Events of a rank's lanes in order of time, waiting left out. */
function eventsOfRank(kase, rank) {
  const events = [];
  for (const lane of kase.lanesOfRank[rank] || []) {
    const [first, count] = lane.events;
    for (let i = first; i < first + count; ++i) if (kase.columns.paint[i] !== Paint.idle) events.push({lane, i});
  }
  const {begin} = kase.columns;
  return events.sort((a, b) => begin[a.i] - begin[b.i] || a.i - b.i);
}

function fillEventTable(kase, rank, shown) {
  const events = eventsOfRank(kase, rank);
  const {columns} = kase;
  const rows = events.slice(0, shown).map(({lane, i}) => [
    titleOf(kase, i), lane.label || 'program', placeOf(kase, i), timeText(columns.begin[i]), timeText(kase.ends[i]),
    columns.bytes[i] > 0 ? bytesText(columns.bytes[i]) : '', columns.flops[i] > 0 ? largeCount(columns.flops[i]) : '',
    bytesText(columns.live[i])]);
  fillTable(byId('event-table'), [{title: 'operation'}, {title: 'lane'}, {title: 'at'}, {title: 'begin', number: true},
    {title: 'end', number: true}, {title: 'sent', number: true}, {title: 'flop', number: true},
    {title: 'memory after', number: true}], rows);
  byId('table-more').hidden = events.length <= shown;
}
