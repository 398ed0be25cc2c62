'use strict';
// Why a run does not pass, at the top of the page, each reason with a way to the block that it is about.

/** The line of the learner's file that a place ("puzzle.cpp:31") names; empty where it is not known. */
function sourceLine(of, place) {
  const line = Number((/:(\d+)$/.exec(place || '') || [])[1]);
  return line > 0 && of.source ? (of.source[line - 1] || '').trim() : '';
}

/** The first block of a source line; of those that differ from the run beside it, if any do. */
function blockAtLine(kase, place) {
  const line = Number((/:(\d+)$/.exec(place || '') || [])[1]);
  if (!line) return null;
  const red = kase.comparison ? kase.comparison.red : null;
  let best = null;
  for (const lane of outerLanes(kase)) {
    const [first, count] = lane.events;
    for (let i = first; i < first + count; ++i) {
      if (kase.columns.line[i] !== line || kase.columns.paint[i] === Paint.idle) continue;
      const score = red && red[i] ? 1 : 0;
      if (!best || score > best.score) best = {lane, i, score};
    }
  }
  return best;
}

/** Shows a block of a panel: in view, marked, with what is told about it. */
function jumpTo(panelIndex, {lane, i}) {
  const panel = timeline.panels[panelIndex];
  if (!panel) return;
  if (timeline.hidden.size > 0) timeline.setHidden(new Set());
  byId('timeline').scrollIntoView();
  const row = rowOfLane(panel, lane);
  if (!row) return;
  panel.canvas.focus({preventScroll: true});
  timeline.goTo(panel, row, indexInRow(row, lane, i));
}

function jumpButton(text, jump) {
  return make('button', {type: 'button', onclick: jump}, text);
}

/** One failed check: what was expected and found, the likely cause, and where. */
function reasonCard(check, summary, kase) {
  const block = blockAtLine(kase, check.where) || (kase.comparison && kase.comparison.first && !kase.comparison.first.missing
    ? kase.comparison.first : null);
  const code = sourceLine(run, check.where);
  return make('article', {class: 'reason'}, make('h3', {}, mark(false), ` ${summary.title || summary.id}`),
    check.diagnosis ? make('p', {class: 'cause'}, make('strong', {}, 'Likely cause: '), check.diagnosis) : null,
    terms([['expected', check.expected], ['found', check.found],
      ['where', check.where ? make('span', {class: 'place'}, check.where) : ''], ['line', code ? make('code', {}, code) : '']]),
    block ? jumpButton('Show the block', () => jumpTo(0, block)) : null);
}

/** Failed checks of the case; or, if it passes, which other case fails. */
function fillReasons(kase) {
  const failed = run.checks.map((summary) => [kase.checks.find((check) => check.id === summary.id), summary])
    .filter(([check]) => check && check.passed === false);
  const elsewhere = failed.length > 0 ? [] : [...run.cases.values()].filter((other) => passedOn(other) === false);
  byId('reasons').hidden = failed.length === 0 && elsewhere.length === 0;
  byId('reasons-title').textContent = failed.length > 0 ? 'Why it does not pass' : 'This case passes, and others fail';
  replace(byId('reason-list'), ...failed.map(([check, summary]) => reasonCard(check, summary, kase)),
    ...elsewhere.map((other) => jumpButton(`Show ${other.name}`, () => showCase(other.name))));
}

/** The first difference from the run beside it, as a sentence above the timeline. */
function fillDifference(kase, comparison) {
  const element = byId('difference');
  element.hidden = !comparison;
  if (!comparison) return;
  const {first, name} = comparison;
  if (!first) {
    replace(element, `Block by block, the run is the same as ${name}.`);
    return;
  }
  const of = first.missing ? comparison.other : kase;
  const place = first.missing ? '' : placeOf(of, first.i);
  replace(element, make('strong', {}, `First difference from ${name}: `),
    `${rankName(of, first.lane.rank)}, at ${timeText(first.time)}: ${titleOf(of, first.i)} ${first.text}`,
    place ? make('span', {}, ' (', make('span', {class: 'place'}, place), ')') : null, '. ',
    jumpButton('Show it', () => jumpTo(first.missing ? 1 : 0, first)));
}

/** What everybody waits for, where the run came to no end. */
function fillStuck(kase) {
  const stuck = stuckIn(kase);
  byId('stuck').hidden = stuck.length === 0;
  replace(byId('stuck'), ...stuck.map(({lane, i}) => make('li', {}, `${rankName(kase, lane.rank)} waits in `,
    make('strong', {}, stuckText(kase, i)), placeOf(kase, i) ? `, at ${placeOf(kase, i)}, ` : ' ',
    `since ${timeText(kase.columns.begin[i])} `, jumpButton('Show it', () => jumpTo(0, {lane, i})))));
}
