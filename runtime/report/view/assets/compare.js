'use strict';
// A run against the run beside it, block by block: what differs first, what ends later, what is more exposed.

const MOST_COMPARED = 200000;  // events; of more, nobody looks at blocks one by one

const RED = {late: 1, exposed: 2};

function outerLanes(kase) {
  return kase.lanes.filter((lane) => !lane.inside);
}

function laneOf(kase, rank, name) {
  return (kase.lanesOfRank[rank] || []).find((lane) => lane.name === name) || null;
}

/** What a block is about: the n-th of these on a lane is the same block in both runs. */
function blockKey(kase, i) {
  const {name, micro, layer, peer, paint} = kase.columns;
  const other = paint[i] === Paint.send || paint[i] === Paint.recv ? peer[i] : -1;
  return `${kase.names[name[i]]}|${micro[i]}|${layer[i]}|${other}`;
}

/** Of each event of `lane` its partner in `otherLane`; -1: none. Waiting is nobody's partner. */
function partnersInLane(kase, lane, other, otherLane, partners) {
  const waiting = new Map();
  const [begin, count] = otherLane ? otherLane.events : [0, 0];
  for (let i = begin; i < begin + count; ++i) {
    if (other.columns.paint[i] === Paint.idle) continue;
    const key = blockKey(other, i);
    if (!waiting.has(key)) waiting.set(key, []);
    waiting.get(key).push(i);
  }
  const next = new Map();
  const [first, events] = lane.events;
  for (let i = first; i < first + events; ++i) {
    if (kase.columns.paint[i] === Paint.idle) continue;
    const key = blockKey(kase, i);
    const at = next.get(key) || 0;
    next.set(key, at + 1);
    partners[i] = (waiting.get(key) || [])[at] ?? -1;
  }
}

function partnersOf(kase, other) {
  const partners = new Int32Array(kase.ends.length).fill(-1);
  for (const lane of outerLanes(kase)) partnersInLane(kase, lane, other, laneOf(other, lane.rank, lane.name), partners);
  return partners;
}

/** How long the program of its rank stands still while each transfer runs, in ns. */
function exposureOf(kase) {
  const {begin, duration, paint} = kase.columns;
  const exposure = new Float64Array(kase.ends.length);
  for (const lane of outerLanes(kase)) {
    if (lane.program) continue;
    const program = (kase.lanesOfRank[lane.rank] || []).find((own) => own.program);
    if (!program) continue;
    const [from, count] = program.events;
    const [first, events] = lane.events;
    for (let i = first; i < first + events; ++i) {
      if (paint[i] < Paint.collective) continue;
      let at = Math.max(from, upperBound(begin, from, count, begin[i]) - 1);
      for (; at < from + count && begin[at] < kase.ends[i]; ++at) {
        if (paint[at] !== Paint.idle || duration[at] === 0) continue;
        exposure[i] += Math.max(0, Math.min(kase.ends[i], kase.ends[at]) - Math.max(begin[i], begin[at]));
      }
    }
  }
  return exposure;
}

/** "begins 1.2 ms later than in the goal"; empty where the two are alike. */
function differenceText(kase, i, other, p, name) {
  if (neverDone(kase, i)) return 'never comes to its end';
  const steps = [[kase.columns.begin[i] - other.columns.begin[p], 'begins', 'later', 'earlier'],
    [kase.columns.duration[i] - other.columns.duration[p], 'takes', 'longer', 'less']];
  for (const [step, verb, more, less] of steps) {
    if (step !== 0) return `${verb} ${timeText(Math.abs(step))} ${step > 0 ? more : less} than in ${name}`;
  }
  const bytes = kase.columns.bytes[i] - other.columns.bytes[p];
  return bytes === 0 ? '' : `sends ${bytesText(Math.abs(bytes))} ${bytes > 0 ? 'more' : 'less'} than in ${name}`;
}

/** The earliest block that differs: {missing, lane, i, text}. `missing`: only the other run has it. Null: none does. */
function firstDifference(kase, other, partners, name) {
  let first = null;
  const take = (of, lane, i, missing, text) => {
    const time = of.columns.begin[i];
    if (!first || time < first.time) first = {time, lane, i, missing, text};
  };
  const found = new Uint8Array(other.ends.length);
  for (const lane of outerLanes(kase)) {
    const [begin, count] = lane.events;
    for (let i = begin; i < begin + count; ++i) {
      if (kase.columns.paint[i] === Paint.idle) continue;
      if (partners[i] >= 0) found[partners[i]] = 1;
      const text = partners[i] < 0 ? `is not in ${name}` : differenceText(kase, i, other, partners[i], name);
      if (text) take(kase, lane, i, false, text);
    }
  }
  for (const lane of outerLanes(other)) {
    const [begin, count] = lane.events;
    for (let i = begin; i < begin + count; ++i) {
      if (!found[i] && other.columns.paint[i] !== Paint.idle) take(other, lane, i, true, 'is missing in this run');
    }
  }
  return first;
}

/** Compares once for each pair of runs: {first, red, partners, name}; null where there is nothing to compare. */
function compareRuns(kase, beside) {
  if (!beside || kase.ends.length + beside.kase.ends.length > MOST_COMPARED) return null;
  if (kase.comparison && kase.comparison.other === beside.kase) return kase.comparison;
  const other = beside.kase;
  const name = beside.role === 'goal' ? 'the goal' : `“${beside.name}”`;
  const partners = partnersOf(kase, other);
  const [exposed, usual] = [exposureOf(kase), exposureOf(other)];
  const red = new Uint8Array(kase.ends.length);
  for (let i = 0; i < red.length; ++i) {
    const p = partners[i];
    if (p >= 0 && kase.ends[i] > other.ends[p]) red[i] |= RED.late;
    if (exposed[i] > (p >= 0 ? usual[p] : 0)) red[i] |= RED.exposed;
  }
  kase.comparison = {other, name, partners, red, first: firstDifference(kase, other, partners, name)};
  return kase.comparison;
}
