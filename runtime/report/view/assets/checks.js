'use strict';
// The checks of a case with their formulas and numbers.

function fillChecks(element, run, kase) {
  const verdicts = new Map(kase.checks.map((check) => [check.id, check]));
  replace(element, ...run.checks.map((summary) => checkCard(summary, verdicts.get(summary.id), run)));
  if (run.checks.length === 0) replace(element, make('p', {class: 'empty'}, 'Nothing was checked.'));
}

function checkCard(summary, check, run) {
  const passed = check ? check.passed : summary.passed;
  const points = `${summary.earned} of ${summary.points} points`;
  const header = make('header', {}, mark(passed === false && summary.bonus ? null : passed), make('h3', {}, summary.title || summary.id),
    make('span', {class: 'points'}, points));
  const card = make('article', {class: passed === false && !summary.bonus ? 'verdict bad' : 'verdict'}, header);
  if (!check) return card;
  if (passed === false) card.append(failure(check));
  if (passed === null) card.append(terms([['waits for', titleOfCheck(run, check.blockedBy)]]));
  if (check.bounds.length > 0) card.append(boundsTable(check.bounds, summary.title || summary.id));
  else if (passed === true) card.append(terms([['compared', 'equal to the reference, within its tolerance']]));
  if (passed === true && summary.passed === false) {
    card.append(terms([['but', 'it fails on another case']]));
  }
  return card;
}

function titleOfCheck(run, id) {
  const found = run.checks.find((check) => check.id === id);
  return found ? found.title : id;
}

function failure(check) {
  return terms([['expected', check.expected], ['found', check.found],
    ['where', check.where ? make('span', {class: 'place'}, check.where) : ''], ['likely', check.diagnosis],
    ['more', check.details.join('\n')]]);
}

/** Bounds that differ in the number of the rank alone become one row, where the first of them stands. */
function joined(bounds) {
  const rows = new Map();
  for (const [index, bound] of bounds.entries()) {
    const rank = /^(.*?\brank )(\d+)\b(.*)$/.exec(bound.what);
    const key = rank ? JSON.stringify([rank[1], rank[3], bound.found, bound.bound, bound.relation, bound.formula]) : index;
    if (!rows.has(key)) rows.set(key, {...bound, before: rank ? rank[1] : '', behind: rank ? rank[3] : '', ranks: []});
    if (rank) rows.get(key).ranks.push(Number(rank[2]));
  }
  return [...rows.values()].map((row) => (row.ranks.length < 2 ? row : {...row, what: ofAll(row)}));
}

/** "sent by ranks 0 to 3, each"; within a sentence "memory that rank 0 has used (ranks 0 to 3 alike)". */
function ofAll(row) {
  const {ranks} = row;
  const last = ranks[ranks.length - 1];
  const isRun = last - ranks[0] === ranks.length - 1;
  const names = isRun ? `ranks ${ranks[0]} to ${last}` : `ranks ${ranks.slice(0, -1).join(', ')} and ${last}`;
  return row.behind === '' ? `${row.before.replace(/rank $/, '')}${names}, each` : `${row.what} (${names} alike)`;
}

function boundsTable(bounds, title) {
  const table = make('table', {});
  fillTable(table, [{title: 'measured'}, {title: 'found', number: true}, {title: 'allowed', number: true},
    {title: 'formula'}, {title: 'held'}], joined(bounds).map((bound) => [bound.what, amountText(bound.found, bound.unit),
    `${bound.relation} ${amountText(bound.bound, bound.unit)}`, make('span', {class: 'formula'}, bound.formula),
    mark(bound.held)]));
  return make('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': `Numbers of the check “${title}”`}, table);
}
