'use strict';
// Who sent how much to whom, in all and by operation.

const MANY_RANKS = 16;

/** [sender][receiver] of the chosen parts. */
function matrixOf(kase, parts) {
  const ranks = kase.ranks.length;
  const bytes = Array.from({length: ranks}, () => new Float64Array(ranks));
  for (const part of parts) {
    for (const [from, to, sent] of part.cells) if (from < ranks && to < ranks) bytes[from][to] += sent;
  }
  return bytes;
}

function nameOfPart(part) {
  return `${part.operation} in ${part.group ? groupText(part) : 'no group'}`;
}

function fillMatrix(kase, parts) {
  const bytes = matrixOf(kase, parts);
  const most = Math.max(1, ...bytes.map((row) => Math.max(...row)));
  const table = byId('matrix');
  const many = kase.ranks.length > MANY_RANKS;
  table.className = many ? 'many' : '';
  const heading = (rank, scope) => many && rank % 8 !== 0 ? make('td', {class: 'heading'})
    : make('th', {scope, title: rankName(kase, rank)}, String(rank));
  const head = make('tr', {}, many ? make('td', {class: 'heading'}) : make('th', {scope: 'col'}, 'from \\ to'),
    ...kase.rankNumbers.map((rank) => heading(rank, 'col')));
  const rows = kase.rankNumbers.map((from) => make('tr', {}, heading(from, 'row'),
    ...kase.rankNumbers.map((to) => matrixCell(kase, bytes[from][to], most, from, to))));
  replace(table, make('caption', {hidden: true}, 'Bytes from rank to rank'), make('thead', {}, head), make('tbody', {}, ...rows));
}

const emptyCell = document.createElement('td');  // of many ranks there are thousands

function matrixCell(kase, bytes, most, from, to) {
  if (bytes === 0) return emptyCell.cloneNode();
  const share = bytes / most;
  return make('td', {title: `${rankName(kase, from)} to ${rankName(kase, to)}: ${exactBytes(bytes)}`,
    style: `background: rgba(var(--heat), calc(var(--heat-most) * ${(0.15 + 0.85 * share).toFixed(3)}))`}, bytesText(bytes));
}

/** "2 to 3" or "2": calls of ranks, bytes of ranks. */
function rangeText(values, text) {
  const least = Math.min(...values);
  const most = Math.max(...values);
  return least === most ? text(least) : `${text(least)} to ${text(most)}`;
}

function sentByRank(part, ranks) {
  const sent = new Float64Array(ranks);
  for (const [from, , bytes] of part.cells) if (from < ranks) sent[from] += bytes;
  return sent;
}

/** What the members of the part's group have sent by such operations in another run; of a goal no members are kept. */
function sentInGroup(kase, part) {
  const {name, group, bytes} = kase.columns;
  let sum = 0;
  for (const lane of outerLanes(kase)) {
    if (lane.name !== part.lane || (part.members.length > 0 && !part.members.includes(lane.rank))) continue;
    const [first, count] = lane.events;
    for (let i = first; i < first + count; ++i) {
      if (kase.names[name[i]] === part.operation && (kase.groups[group[i]] || '') === part.group) sum += bytes[i];
    }
  }
  return sum;
}

/** Communication of the other run that this one does not have at all. */
function missingTraffic(kase, beside) {
  const key = (part) => [part.operation, part.group, part.lane].join('|');
  const known = new Set(kase.traffic.map(key));
  return beside ? beside.kase.traffic.filter((part) => !known.has(key(part))) : [];
}

function fillTrafficTable(kase, beside) {
  const columns = [{title: 'operation'}, {title: 'group'}, {title: 'over'}, {title: 'messages', number: true},
    {title: 'sent by a rank', number: true}, {title: 'sent by all', number: true}];
  if (beside) columns.push({title: `${beside.name}: by all`, number: true});
  const rows = kase.traffic.map((part) => {
    const calls = part.cells.reduce((sum, cell) => sum + cell[3], 0);
    const sent = Array.from(sentByRank(part, kase.ranks.length)).filter((_, rank) =>
      part.members.length === 0 || part.members.includes(rank));
    const row = [part.operation, groupText(part), part.lane, countText(calls), rangeText(sent, bytesText),
      bytesText(part.total)];
    if (beside) row.push(bytesText(sentInGroup(beside.kase, part)));
    return row;
  });
  for (const part of missingTraffic(kase, beside)) {
    rows.push([part.operation, groupText(part), part.lane, '0', '0 B', '0 B', bytesText(part.total)]);
  }
  fillTable(byId('traffic-table'), columns, rows);
}

function groupText(part) {
  const {members} = part;
  if (members.length === 0) return part.group;
  const inRow = members.every((rank, i) => i === 0 || rank === members[i - 1] + 1);
  const text = members.length > 2 && inRow ? `${members[0]}–${members[members.length - 1]}` : members.join(', ');
  return `${part.group} (ranks ${text})`;
}

function fillTraffic(kase, beside, chosen) {
  const select = byId('traffic-part');
  const parts = kase.traffic.filter((part) => part.cells.length > 0);
  replace(select, make('option', {value: '-1'}, 'all operations'),
    ...parts.map((part, i) => make('option', {value: String(i)}, nameOfPart(part))));
  select.value = String(Math.min(chosen, parts.length - 1));
  const silent = parts.length === 0;
  byId('traffic-text').textContent = silent ? (kase.totals.sent > 0 ? 'Nothing that was sent had arrived when the run ended.'
    : 'No rank sent anything to another one.')
    : `${bytesText(parts.reduce((sum, part) => sum + part.total, 0))} in all. A row is a sender, a column a receiver.`;
  for (const id of ['matrix', 'traffic-table']) byId(id).parentElement.hidden = silent && id === 'matrix';
  select.parentElement.hidden = silent;
  byId('traffic-table').parentElement.hidden = kase.traffic.length === 0;
  if (!silent) fillMatrix(kase, chosen < 0 ? parts : [parts[Math.min(chosen, parts.length - 1)]]);
  fillTrafficTable(kase, beside);
}
