// Pages to look at: made by the real command in a copy of the project, and by hand where no puzzle is large enough.

import {execFileSync, spawnSync} from 'node:child_process';
import {cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
export const pictures = join(root, 'build/browser');

/** A learner's copy of the project: puzzles, and the harnesses and graders that are built. */
export class Learner {
  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'shardlings-view-'));
    for (const part of ['puzzles', 'solutions', 'runtime/front/clock/clusters']) {
      cpSync(join(root, part), join(this.folder, part), {recursive: true});
    }
    mkdirSync(join(this.folder, 'build'));
    cpSync(join(root, 'build/toolchain.json'), join(this.folder, 'build/toolchain.json'));
    this.environment = {...process.env, SHARDLINGS_ROOT: this.folder, SHARDLINGS_BUILD: join(this.folder, 'build'),
      NO_COLOR: '1'};
  }

  /** Runs the command; its output. A status other than `status` is an error. */
  command(words, status = 0) {
    const result = spawnSync(join(root, 'build/bin/shardlings'), words,
      {cwd: this.folder, env: this.environment, encoding: 'utf8'});
    if (result.status !== status) {
      throw new Error(`shardlings ${words.join(' ')}: status ${result.status}\n${result.stdout}${result.stderr}`);
    }
    return result.stdout;
  }

  /** Grades the solution, or one of its mutants. */
  run(puzzle, mutant = '') {
    const which = mutant ? ['--mutant', mutant] : ['--file', `solutions/${puzzle}/solution.cpp`];
    this.command(['run', puzzle, ...which], mutant ? 1 : 0);
  }

  /** The URL of the page that `view` writes. */
  view(name, ...words) {
    const path = join(this.folder, `${name}.html`);
    this.command(['view', ...words, '--out', path]);
    return `file://${path}`;
  }

  path(name) {
    return join(this.folder, name);
  }

  remove() {
    rmSync(this.folder, {recursive: true, force: true});
  }
}

/** A column of a run file: differences, repeated ones counted. */
export function column(values) {
  const words = [];
  let before = 0;
  for (let i = 0; i < values.length;) {
    const step = values[i] - before;
    let run = 0;
    for (; i < values.length && values[i] - before === step; ++i, ++run) before = values[i];
    words.push(run > 1 ? `${step}*${run}` : String(step));
  }
  return words.join(' ');
}

const KINDS = {forward: 0, backward: 1, update: 3, operation: 4, collective: 5, wait: 8};
const LAYERS = 8;

/** Events of one rank: forward through some layers and backward again, each layer's gradient reduced meanwhile. */
function eventsOfRank(rank, ranks, count, random) {
  const events = [];
  let now = 0;
  let lane = 0;
  for (let micro = 0; events.length < count; micro = (micro + 1) % 40) {
    for (let step = 0; step < 2 * LAYERS && events.length < count; ++step) {
      const kind = step < LAYERS ? 'forward' : 'backward';
      const layer = step < LAYERS ? step : 2 * LAYERS - 1 - step;
      const length = (kind === 'backward' ? 2000 : 1000) + Math.floor(random() * 400);
      const name = KINDS[kind];
      const common = {layer, micro, line: 20 + step, bytes: 0, peer: -1, group: -1};
      events.push({...common, kind: name, name, lane: 0, begin: now, end: now + length});
      now += length;
      if (kind !== 'backward' || events.length >= count) continue;
      lane = Math.max(lane, now);
      const end = lane + 900 + Math.floor(random() * 300);
      events.push({...common, kind: KINDS.collective, name: 2, lane: 1, begin: lane, end, line: 60, bytes: 4096 + step,
        peer: (rank + 1) % ranks, group: 0});
      lane = end;
    }
    now = Math.max(now, lane) + Math.floor(random() * 3000);
  }
  return events;
}

function traceOfRank(rank, ranks, count, random) {
  const events = eventsOfRank(rank, ranks, count, random);
  const of = (name) => column(events.map((event) => event[name]));
  const zeros = column(events.map(() => 0));
  const live = events.map(({layer, kind}) => 1_000_000 + 40_960 * (layer + (kind === KINDS.collective ? 1 : 0))
    + Math.floor(random() * 512));
  const none = column(events.map(() => 0));
  const computing = events.filter((event) => event.lane === 0);
  const trace = {
    names: ['forward', 'backward', 'all_reduce'], files: ['puzzle.cpp'],
    groups: [{name: 'world', size: ranks, members: column(Array.from({length: ranks}, (_, i) => i))}],
    events: {count, kind: of('kind'), lane: of('lane'), depth: zeros, name: of('name'), group: of('group'), micro: of('micro'),
      layer: of('layer'), line: of('line'), order: column(events.map((_, i) => i)), begin: of('begin'), end: of('end'),
      posted: of('begin'), bytes: of('bytes'), flops: column(events.map((_, i) => 1000 * (i % 50))), live_after: column(live),
      peer: column(events.map((event) => event.peer < 0 ? -1 : (event.peer - rank + ranks) % ranks)), file: zeros},
    memory: {count, time: column(events.map((event) => event.begin).sort((a, b) => a - b)), parameter: none, gradient: none, optimizer: none, activation: column(live), buffer: none,
      other: none},
  };
  return {trace, end: Math.max(...events.map((event) => event.end)), peak: Math.max(...live),
    busy: computing.reduce((sum, event) => sum + event.end - event.begin, 0)};
}

/** Counters that go with a trace, as far as a page shows them. */
function countersOf(counters, {end, busy, peak}) {
  return {...counters, end_ns: end, peak_bytes: peak, busy_ns: {...counters.busy_ns, compute: busy}, traffic: []};
}

/** A run file like `sample` (the text of a real one) with one case of so many ranks and events on each. */
export function largeRun(sample, ranks, count) {
  const run = JSON.parse(sample);
  let seed = 12345;
  const random = () => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed / 2147483648;
  };
  const kase = run.cases[0];
  kase.checks = [];
  const {counters} = kase.ranks[0];
  kase.case.ranks = ranks;
  kase.ranks = [];
  for (let rank = 0; rank < ranks; ++rank) {
    const {trace, ...sums} = traceOfRank(rank, ranks, count, random);
    kase.ranks.push({ranks: [rank], counters: countersOf(counters, sums), trace});
  }
  run.cases = [kase];
  return JSON.stringify(run);
}

/** Milliseconds that a command takes. */
export function timed(action) {
  const begin = process.hrtime.bigint();
  action();
  return Number(process.hrtime.bigint() - begin) / 1e6;
}

export {cpSync, execFileSync, readFileSync, writeFileSync};
