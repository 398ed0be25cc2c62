'use strict';
// What depends on what: messages from rank to rank, the critical path, and what ranks wait for that never comes.

function membersOf(kase, i) {
  const group = kase.columns.group[i];
  return group >= 0 ? (kase.members || [])[group] || [] : [];
}

/** Sends and receives in pairs, and the calls of one collective together: Map from an event to [{lane, i}, …]. */
function meetingsOf(kase) {
  if (kase.meetings) return kase.meetings;
  const groups = new Map();
  const counts = new Map();
  const {paint, name, group, peer} = kase.columns;
  for (const lane of outerLanes(kase)) {
    const [first, count] = lane.events;
    for (let i = first; i < first + count; ++i) {
      if (paint[i] < Paint.collective) continue;
      const message = paint[i] !== Paint.collective;
      const sides = paint[i] === Paint.send ? [lane.rank, peer[i]] : [peer[i], lane.rank];
      const what = message ? `${group[i]}:${sides}` : `${group[i]}:${kase.names[name[i]]}`;
      const own = `${what}:${lane.rank}`;
      const at = counts.get(own) || 0;
      counts.set(own, at + 1);
      const key = `${what}#${at}`;
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push({lane, i});
    }
  }
  kase.meetings = new Map();
  for (const meeting of groups.values()) for (const {i} of meeting) kase.meetings.set(i, meeting);
  return kase.meetings;
}

/** All messages: [{from: {lane, i}, to: {lane, i}}, …]. */
function messagesOf(kase) {
  const messages = [];
  for (const [i, meeting] of meetingsOf(kase)) {
    if (kase.columns.paint[i] !== Paint.send || meeting.length < 2) continue;
    messages.push({from: meeting.find((side) => side.i === i), to: meeting.find((side) => side.i !== i)});
  }
  return messages;
}

/** The last event of a lane that takes time and has ended by `time`. */
function lastBefore(kase, lane, time, before = Infinity) {
  if (!lane) return null;
  const {begin, duration} = kase.columns;
  const [first, count] = lane.events;
  for (let i = upperBound(begin, first, count, time) - 1; i >= first; --i) {
    if (i < before && duration[i] > 0 && kase.ends[i] <= time) return {lane, i};
  }
  return null;
}

function programOf(kase, rank) {
  return (kase.lanesOfRank[rank] || []).find((lane) => lane.program) || null;
}

/** What ended a wait of the program: the transfer of that name on another lane of the rank that ended then. */
function endOfWait(kase, {lane, i}) {
  const {begin, name} = kase.columns;
  const end = kase.ends[i];
  for (const other of kase.lanesOfRank[lane.rank]) {
    const [first, count] = other.events;
    for (let k = upperBound(begin, first, count, end) - 1; other !== lane && k >= first; --k) {
      if (kase.ends[k] === end && name[k] === name[i]) return {lane: other, i: k};
    }
  }
  return null;
}

/** What a transfer had to wait for: the rank that called last, or the transfer before it on the link. */
function beginOfTransfer(kase, {lane, i}) {
  const {begin, posted} = kase.columns;
  const start = begin[i];
  const sides = meetingsOf(kase).get(i) || [{lane, i}];
  const late = sides.find((side) => begin[side.i] - posted[side.i] >= start);
  if (late) return lastBefore(kase, programOf(kase, late.lane.rank), start);
  for (const side of sides) {
    const before = lastBefore(kase, side.lane, start, side.i);
    if (before && kase.ends[before.i] === start) return before;
  }
  const last = sides.reduce((a, b) => begin[a.i] - posted[a.i] >= begin[b.i] - posted[b.i] ? a : b);
  return lastBefore(kase, programOf(kase, last.lane.rank), begin[last.i] - posted[last.i]);
}

/** The chain of blocks that the run's time comes from, the last one first. */
function criticalPath(kase) {
  if (kase.path) return kase.path;
  let at = null;
  for (const lane of outerLanes(kase)) {
    const last = lastBefore(kase, lane, kase.end);
    if (last && (!at || kase.ends[last.i] > kase.ends[at.i])) at = last;
  }
  const seen = new Set();
  kase.path = [];
  while (at && !seen.has(at.i)) {
    seen.add(at.i);
    const waits = kase.columns.paint[at.i] === Paint.idle;
    if (!waits && kase.columns.duration[at.i] > 0) kase.path.push(at);
    const before = at.lane.program ? lastBefore(kase, at.lane, kase.columns.begin[at.i], at.i) : null;
    if (waits) at = endOfWait(kase, at) || before;
    else at = at.lane.program ? before : beginOfTransfer(kase, at);
  }
  return kase.path;
}

/** In a run that came to no end: what each rank waits for at last, [{lane, i}, …]. */
function stuckIn(kase) {
  if (kase.stuck) return kase.stuck;
  kase.stuck = [];
  if (kase.ending === 'finished') return kase.stuck;
  const {paint, duration, name} = kase.columns;
  for (const rank of kase.rankNumbers) {
    const lane = programOf(kase, rank);
    if (!lane || lane.events[1] === 0) continue;
    const i = lane.events[0] + lane.events[1] - 1;
    if (paint[i] === Paint.idle && duration[i] === 0 && name[i] >= 0) kase.stuck.push({lane, i});
  }
  return kase.stuck;
}

/** Whether an event of communication is what its rank waits for without end. */
function neverDone(kase, i) {
  const {name, line, begin, duration, peer} = kase.columns;
  return duration[i] === 0 && stuckIn(kase).some(({i: wait}) => name[wait] === name[i] && line[wait] === line[i]
    && begin[wait] === begin[i] && peer[wait] === peer[i]);
}

/** "recv from rank 1" or "all_reduce of ranks 0, 1". */
function stuckText(kase, i) {
  const {name, peer} = kase.columns;
  const call = kase.names[name[i]];
  if (peer[i] >= 0) return `${call} ${call === 'recv' ? 'from' : 'to'} rank ${peer[i]}`;
  const members = membersOf(kase, i);
  return members.length > 0 && members.length <= 8 ? `${call} of ranks ${members.join(', ')}` : call;
}
