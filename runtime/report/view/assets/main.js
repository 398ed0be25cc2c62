'use strict';
// What is shown: a case of the run, and beside it the goal, another run, or nothing.

const page = readPage();
const run = page.runs[0];
const shown = {name: '', beside: '', part: -1, rank: 0, rows: ROWS_AT_ONCE, hidden: new Set()};
const chart = new MemoryChart(byId('memory-chart'), page.kinds);
const timeline = new Timeline(byId('panels'), {
  changed: (view) => chart.look(view),
  marked: (panel) => tellEvent(byId('event'), panel),
});

/** Runs that may stand beside this case. */
function candidates() {
  return page.runs.slice(1).filter((other) => other.cases.has(shown.name));
}

function besideRun() {
  return candidates().find((other) => other.role === shown.beside) || null;
}

function fillHead() {
  const result = byId('result');
  const words = {did_not_build: 'Did not build', not_implemented: 'Not implemented yet', no_check_ran: 'Nothing was judged',
    not_judged: 'Not judged'};
  const points = `${run.points} of ${run.maxPoints} points`;
  result.textContent = run.passed ? `Passed, ${points}` : words[run.status] || `Not passed, ${points}`;
  result.className = run.passed ? 'good' : 'bad';
}

/** Whether all checks hold on a case, but for those of a bonus; null where some were not judged. */
function passedOn(kase) {
  const bonus = new Set(run.checks.filter((check) => check.bonus).map((check) => check.id));
  const checks = kase.checks.filter((check) => !bonus.has(check.id));
  if (checks.some((check) => check.passed === false)) return false;
  return checks.length > 0 && checks.every((check) => check.passed === true) ? true : null;
}

function fillChoices() {
  const cases = [...run.cases.values()];
  choice(byId('cases'), cases.length > 0 ? 'Case' : '', cases.map((kase) => ({value: kase.name,
    title: kase.hidden ? 'not announced in the lesson' : '', children: [mark(passedOn(kase)), ` ${kase.name}`]})),
  shown.name, chooseCase);
  const others = candidates();
  choice(byId('beside'), others.length > 0 ? 'Beside it' : '', others.length === 0 ? [] : [...others.map((other) =>
    ({value: other.role, children: [other.name]})), {value: 'none', children: ['Nothing']}], shown.beside, showBeside);
}

function fillNotice(kase) {
  const [title, text] = run.status === 'did_not_build' ? ['The file did not build', run.buildLog]
    : kase && kase.explanation ? ['The run did not come to its end', kase.explanation]
      : run.cases.size === 0 ? ['There is no case to show', run.buildLog] : ['', ''];
  byId('notice').hidden = title === '';
  byId('notice-title').textContent = title;
  byId('notice-text').textContent = text;
  byId('output').hidden = !kase || kase.stdout === '';
  byId('stdout').textContent = kase ? kase.stdout : '';
  byId('shown').hidden = !kase || kase.shown === '';
  byId('shown-text').textContent = kase ? kase.shown : '';
}

async function showCase(name) {
  shown.name = name;
  shown.hidden = new Set();
  shown.part = -1;
  const kase = run.cases.get(name);
  const others = candidates();
  if (shown.beside !== 'none' && !others.some((other) => other.role === shown.beside)) {
    shown.beside = others.length > 0 ? others[others.length - 1].role : '';
  }
  await unpack(kase);
  shown.rank = kase.totals.peakRank;
  await refresh();
}

/** By the reader, whose choice a page around this one may want to keep. */
function chooseCase(name) {
  document.body.dataset.chosen = name;
  showCase(name);
}

async function showBeside(role) {
  shown.beside = role;
  await refresh();
}

function panelNote(kase) {
  const idle = kase.totals.computes ? `, idle ${percentText(kase.totals.idle)}` : '';
  return `${timeText(kase.totals.end)}${idle}, peak ${bytesText(kase.totals.peak)}`;
}

/** Everything of the chosen case anew. */
async function refresh() {
  const kase = run.cases.get(shown.name);
  const other = besideRun();
  const beside = other ? {name: other.name, role: other.role, kase: await unpack(other.cases.get(shown.name))} : null;
  kase.comparison = compareRuns(kase, beside);
  fillChoices();
  fillNotice(kase);
  fillReasons(kase);
  fillDifference(kase, kase.comparison);
  fillStuck(kase);
  fillCards(byId('cards'), kase, beside);
  byId('numbers').hidden = kase.ranks.length === 0;
  fillLegend(byId('legend'), kase);
  const panels = [{title: run.name, note: panelNote(kase), kase}];
  if (beside) panels.push({title: beside.name, note: panelNote(beside.kase), kase: beside.kase});
  timeline.show(panels, kase.comparison);
  timeline.setHidden(shown.hidden);
  tellEvent(byId('event'), null);
  fillRanks(kase);
  fillRankSelect(byId('table-rank'), kase);
  fillRankSelect(byId('memory-rank'), kase);
  showMemory();
  fillTraffic(kase, beside, shown.part);
  byId('traffic').hidden = kase.ranks.length < 2;
  fillChecks(byId('check-list'), run, kase);
  document.body.dataset.shown = shown.name;
}

function fillRanks(kase) {
  const box = byId('rank-box');
  box.hidden = kase.ranks.length < 2;
  const visible = kase.ranks.length - shown.hidden.size;
  byId('rank-summary').textContent = `Ranks: ${visible === kase.ranks.length ? `all ${visible}` : `${visible} of ${kase.ranks.length}`}`;
  const hide = (hidden) => {
    shown.hidden = hidden;
    timeline.setHidden(hidden);
    fillRanks(kase);
  };
  const {slowestRank, peakRank} = kase.totals;
  const ends = new Set([0, kase.ranks.length - 1, slowestRank, peakRank]);
  replace(byId('rank-all'), make('button', {type: 'button', onclick: () => hide(new Set())}, 'all'),
    make('button', {type: 'button', title: 'the first, the last, the slowest and the one with the highest peak',
      onclick: () => hide(new Set(kase.rankNumbers.filter((rank) => !ends.has(rank))))}, 'the telling ones'));
  replace(byId('ranks'), ...kase.rankNumbers.map((rank) => make('button', {type: 'button', 'aria-label': rankName(kase, rank), title: rankName(kase, rank),
    'aria-pressed': String(!shown.hidden.has(rank)), onclick: () => {
      const hidden = new Set(shown.hidden);
      if (!hidden.delete(rank) && visible > 1) hidden.add(rank);
      hide(hidden);
      byId('ranks').children[rank].focus();
    }}, String(rank))));
}

function fillRankSelect(select, kase) {
  replace(select, ...kase.rankNumbers.map((rank) => make('option', {value: String(rank)}, numberOfRank(kase, rank))));
  select.value = String(shown.rank);
  select.parentElement.hidden = kase.ranks.length < 2;
}

function showMemory() {
  const kase = run.cases.get(shown.name);
  byId('memory').hidden = kase.ranks.length === 0;
  if (kase.ranks.length === 0) return;
  const rank = Number(byId('memory-rank').value);
  const other = besideRun();
  const beside = other ? {name: other.name, kase: other.cases.get(shown.name)} : null;
  replace(byId('memory-text'), ...memorySentence(kase, rank));
  fillMemoryLegend(page.kinds, kase, rank, beside, null);
  fillMemoryTable(page.kinds, kase);
  chart.show(kase, rank, beside, timeline.view);
}

function showTable() {
  if (!byId('table-box').open) return;
  fillEventTable(run.cases.get(shown.name), Number(byId('table-rank').value), shown.rows);
}

function listen() {
  byId('zoom-in').addEventListener('click', () => timeline.zoom(0.5, timeline.middle()));
  byId('zoom-out').addEventListener('click', () => timeline.zoom(2, timeline.middle()));
  byId('zoom-fit').addEventListener('click', () => timeline.fit());
  byId('show-memory').addEventListener('change', (event) => {
    timeline.showMemory = event.target.checked;
    timeline.arrange();
  });
  byId('fold-ranks').addEventListener('change', (event) => {
    timeline.folded = event.target.checked;
    timeline.arrange();
  });
  for (const [id, name] of [['show-red', 'showRed'], ['show-path', 'showPath'], ['show-messages', 'showMessages']]) {
    byId(id).addEventListener('change', (event) => timeline.setOverlay(name, event.target.checked));
  }
  listenToPrinting();
  byId('memory-rank').addEventListener('change', showMemory);
  byId('traffic-part').addEventListener('change', (event) => {
    shown.part = Number(event.target.value);
    const other = besideRun();
    fillTraffic(run.cases.get(shown.name), other ? {name: other.name, kase: other.cases.get(shown.name)} : null, shown.part);
  });
  byId('table-box').addEventListener('toggle', showTable);
  byId('table-rank').addEventListener('change', () => {
    shown.rows = ROWS_AT_ONCE;
    showTable();
  });
  byId('table-more').addEventListener('click', () => {
    shown.rows += ROWS_AT_ONCE;
    showTable();
  });
  onColoursChanged(() => refresh());
}

async function start() {
  fillHead();
  listen();
  const asked = decodeURIComponent((/^#case=(.+)$/.exec(location.hash) || ['', ''])[1]);
  if (run.cases.has(asked)) document.body.dataset.chosen = asked;
  const first = document.body.dataset.chosen || run.show || (run.cases.size > 0 ? run.cases.keys().next().value : '');
  if (first === '') {
    fillNotice(null);
    for (const id of ['numbers', 'timeline', 'memory', 'traffic']) byId(id).hidden = true;
    fillChecks(byId('check-list'), run, {checks: []});
  } else {
    await showCase(first);
  }
  document.body.dataset.ready = 'yes';
}

start();
