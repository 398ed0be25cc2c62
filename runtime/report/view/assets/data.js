'use strict';
// What the page carries: heads of runs, data of cases, and columns that are unpacked when a case is shown.

// In the order of the program that wrote the page (enum Paint).
const Paint = {idle: 0, forward: 1, backward: 2, weights: 3, loss: 4, update: 5, operation: 6, collective: 7, send: 8, recv: 9};
const PAINT_NAMES = ['waiting', 'forward', 'backward', 'weights', 'loss', 'update', 'operation', 'collective', 'send', 'receive'];

/** Reads the page's own elements: {puzzle, kinds, runs: [{role, name, …, cases: Map of name to case}]}. */
function readPage() {
  const page = JSON.parse(byId('head').textContent);
  for (const run of page.runs) run.cases = new Map();
  for (const element of document.querySelectorAll('script.case')) {
    const data = JSON.parse(element.textContent);
    data.packed = element.nextElementSibling;
    page.runs[Number(element.dataset.run)].cases.set(data.name, data);
  }
  return page;
}

function fromBase64(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

async function inflate(base64) {
  const stream = new Blob([fromBase64(base64)]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Numbers are differences, zigzag, in groups of seven bits; a column of one number only has no bytes. */
function readColumns(bytes, columns) {
  const result = {};
  let at = 0;
  for (const {name, count, wide, constant} of columns) {
    const values = wide || Math.abs(constant || 0) >= 2 ** 31 ? new Float64Array(count) : new Int32Array(count);
    if (constant !== undefined) values.fill(constant);
    else at = wide ? readWide(bytes, at, values) : readNarrow(bytes, at, values);
    result[name] = values;
  }
  return result;
}

/** Numbers of 32 bits, whose differences may have 33. Returns where the next column begins. */
function readNarrow(bytes, begin, values) {
  let at = begin;
  let value = 0;
  for (let i = 0; i < values.length; ++i) {
    let byte = bytes[at++];
    let raw = byte & 127;
    for (let shift = 7; byte >= 128 && shift < 28; shift += 7) {
      byte = bytes[at++];
      raw |= (byte & 127) << shift;
    }
    if (byte >= 128) {
      // The fifth group: its lowest bits end the number modulo 2^32, which is all that a sum of 32 bits needs.
      byte = bytes[at++];
      const high = byte & 127;
      value = value + ((raw >>> 1 | (high << 27)) ^ -(raw & 1)) | 0;
    } else {
      value = value + ((raw >>> 1) ^ -(raw & 1)) | 0;
    }
    values[i] = value;
  }
  return at;
}

function readWide(bytes, begin, values) {
  let at = begin;
  let value = 0;
  for (let i = 0; i < values.length; ++i) {
    let byte = bytes[at++];
    let raw = byte & 127;
    for (let scale = 128; byte >= 128; scale *= 128) {
      byte = bytes[at++];
      raw += (byte & 127) * scale;
    }
    value += raw % 2 === 0 ? raw / 2 : -(raw + 1) / 2;
    values[i] = value;
  }
  return at;
}

/** Makes the columns of a case usable, once. Afterwards it has `columns`, `ends`, `live` and indices of lanes. */
async function unpack(kase) {
  if (kase.ready) return kase;
  kase.lanes = kase.lanes || [];
  kase.memory = kase.memory || [];
  kase.traffic = kase.traffic || [];
  kase.end = kase.end || kase.totals.end;
  const bytes = kase.columns ? await inflate(kase.packed.textContent) : new Uint8Array();
  kase.packed = null;
  kase.columns = readColumns(bytes, kase.columns || []);
  const {begin, duration} = kase.columns;
  kase.ends = begin ? begin.map((time, i) => time + duration[i]) : new Float64Array();
  if (begin && !(begin instanceof Float64Array)) kase.ends = Float64Array.from(begin, (time, i) => time + duration[i]);
  kase.live = totalMemory(kase.columns);
  kase.hueOfLayer = hueTable(kase.hues || []);
  const rankOfLane = kase.lanes.filter((lane) => !lane.inside);
  kase.rankNumbers = kase.ranks.map((_, rank) => rank);
  kase.lanesOfRank = kase.rankNumbers.map((rank) => rankOfLane.filter((lane) => lane.rank === rank));
  for (const lane of rankOfLane) {
    lane.inner = kase.lanes.find((other) => other.inside && other.rank === lane.rank && other.name === lane.name) || null;
  }
  kase.drawnEnd = stuckIn(kase).length > 0 ? Math.max(kase.end * 1.15, 1000) : kase.end;
  kase.ready = true;
  return kase;
}

/** All kinds of memory together at each point. */
function totalMemory(columns) {
  const kinds = Object.keys(columns).filter((name) => /^memory\d$/.test(name));
  const count = columns.memoryTime ? columns.memoryTime.length : 0;
  const total = new Float64Array(count);
  for (const kind of kinds) {
    const values = columns[kind];
    for (let i = 0; i < count; ++i) total[i] += values[i];
  }
  return total;
}

/** The first index in [first, first + count) whose value is greater than `limit`. */
function upperBound(values, first, count, limit) {
  let low = first;
  let high = first + count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] > limit) high = middle;
    else low = middle + 1;
  }
  return low;
}

function placeOf(kase, i) {
  const file = kase.files[kase.columns.file[i]];
  return file ? `${file}:${kase.columns.line[i]}` : '';
}

/** Hues by layer + 1; the first is that of what belongs to none. */
function hueTable(hues) {
  const table = new Int32Array(Math.max(0, ...hues.map(([layer]) => layer)) + 2).fill(-1);
  for (const [layer, hue] of hues) table[layer + 1] = hue;
  return table;
}

function hueOf(kase, i) {
  const hue = kase.hueOfLayer[kase.columns.layer[i] + 1];
  return hue === undefined ? -1 : hue;
}

/** What the number inside a block counts; -1: none. */
function numberOf(kase, i) {
  if (kase.numbering === 'micro') return kase.columns.micro[i];
  return kase.numbering === 'layer' ? kase.columns.layer[i] : -1;
}

/** "backward, layer 2, micro-batch 1". */
function titleOf(kase, i) {
  const {columns} = kase;
  const paint = columns.paint[i];
  const name = kase.names[columns.name[i]];
  const parts = [paint === Paint.idle ? `waiting for ${name}` : name];
  if (columns.layer[i] >= 0) parts.push(`layer ${columns.layer[i]}`);
  if (columns.micro[i] >= 0) parts.push(`micro-batch ${columns.micro[i]}`);
  return parts.join(', ');
}

/** Everything that is known about an event, as [[term, text], …]. */
function detailsOf(kase, {lane, rank, last}, i) {
  const {columns} = kase;
  const communicates = columns.paint[i] >= Paint.collective;
  const waited = columns.posted[i];
  const group = columns.group[i] >= 0 ? kase.groups[columns.group[i]] : '';
  const direction = columns.paint[i] === Paint.recv ? 'from' : 'to';
  return [
    ['at', placeOf(kase, i)],
    ['time', `${timeText(columns.begin[i])} to ${timeText(kase.ends[i])} (${timeText(columns.duration[i])})`],
    ['posted', communicates && waited > 0 ? `${timeText(waited)} before it began` : ''],
    ['bytes sent', columns.bytes[i] > 0 ? exactBytes(columns.bytes[i]) : ''],
    [direction, communicates && columns.peer[i] >= 0 ? rankName(kase, columns.peer[i]) : ''],
    ['group', group],
    ['operations', columns.flops[i] > 0 ? `${largeCount(columns.flops[i])} flop` : ''],
    ['memory after', columns.live[i] > 0 ? exactBytes(columns.live[i]) : ''],
    ['on', `${namesOfRanks(kase, {first: rank, last})}, ${lane.name}`],
    ...comparedWith(kase, i),
  ];
}

/** What the comparison with the run beside it says of a block. */
function comparedWith(kase, i) {
  const {comparison} = kase;
  if (!comparison || kase.columns.paint[i] === Paint.idle) return [];
  const p = comparison.partners[i];
  const text = p < 0 ? `is not in ${comparison.name}` : differenceText(kase, i, comparison.other, p, comparison.name);
  return [['compared', text], ['exposed', comparison.red[i] & RED.exposed ? `more than in ${comparison.name}` : '']];
}
