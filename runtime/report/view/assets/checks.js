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

/** Bounds that differ in the number of the rank alone become one row. */
function joined(bounds) {
  const rows = [];
  for (const bound of bounds) {
    const rank = /^(.*)\brank (\d+)$/.exec(bound.what);
    const key = rank && JSON.stringify([rank[1], bound.found, bound.bound, bound.relation, bound.formula]);
    const last = rows[rows.length - 1];
    if (key && last && last.key === key && last.ranks.at(-1) + 1 === Number(rank[2])) last.ranks.push(Number(rank[2]));
    else rows.push({...bound, key, start: rank ? rank[1] : '', ranks: rank ? [Number(rank[2])] : []});
  }
  return rows.map((row) => row.ranks.length < 2 ? row
    : {...row, what: `${row.start}ranks ${row.ranks[0]} to ${row.ranks[row.ranks.length - 1]}, each`});
}

function boundsTable(bounds, title) {
  const table = make('table', {});
  fillTable(table, [{title: 'measured'}, {title: 'found', number: true}, {title: 'allowed', number: true},
    {title: 'formula'}, {title: 'held'}], joined(bounds).map((bound) => [bound.what, amountText(bound.found, bound.unit),
    `${bound.relation} ${amountText(bound.bound, bound.unit)}`, make('span', {class: 'formula'}, bound.formula),
    mark(bound.held)]));
  return make('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': `Numbers of the check “${title}”`}, table);
}
