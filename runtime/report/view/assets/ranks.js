'use strict';
// Ranks in words: with their coordinates where they form a grid, and as one where neighbours do the same.

/** Short names of the axes: their first letters, if these tell them apart. */
function axisLetters(axes) {
  const letters = axes.map((axis) => axis.name.slice(0, 1));
  return new Set(letters).size === letters.length ? letters : axes.map((axis) => axis.name);
}

/** "d1 p0 t1" where ranks form a grid; else empty. */
function coordinatesOf(kase, rank) {
  const axes = kase.axes || [];
  if (axes.length === 0) return '';
  const letters = axisLetters(axes);
  return axes.map((axis, i) => letters[i] + axis.coordinates[rank]).join(' ');
}

/** "5" or "5 (d1 p0 t1)". */
function numberOfRank(kase, rank) {
  const coordinates = coordinatesOf(kase, rank);
  return coordinates ? `${rank} (${coordinates})` : String(rank);
}

function rankName(kase, rank) {
  return `rank ${numberOfRank(kase, rank)}`;
}

/** "rank 5 (d1 p0 t1)" or "ranks 0 to 3, each". */
function namesOfRanks(kase, {first, last}) {
  return first === last ? rankName(kase, first) : `ranks ${first} to ${last}, each`;
}

const FOLDED_COLUMNS = ['begin', 'duration', 'posted', 'paint', 'name', 'micro', 'layer', 'bytes', 'line', 'live'];

function equalRange(values, a, b, count) {
  for (let k = 0; k < count; ++k) if (values[a + k] !== values[b + k]) return false;
  return true;
}

/** Whether two ranks did the same at the same times, with the same memory; to whom they sent it does not count. */
function doTheSame(kase, a, b) {
  const lanes = [kase.lanesOfRank[a], kase.lanesOfRank[b]];
  if (lanes[0].length !== lanes[1].length || kase.ranks[a].budget !== kase.ranks[b].budget) return false;
  for (let k = 0; k < lanes[0].length; ++k) {
    const [one, other] = [lanes[0][k], lanes[1][k]];
    if (one.name !== other.name || one.events[1] !== other.events[1]) return false;
    if (!FOLDED_COLUMNS.every((name) => equalRange(kase.columns[name], one.events[0], other.events[0], one.events[1]))) return false;
  }
  const [[first, count], [second, others]] = [kase.memory[a] || [0, 0], kase.memory[b] || [0, 0]];
  if (count !== others) return false;
  return count === 0 || (equalRange(kase.columns.memoryTime, first, second, count) && equalRange(kase.live, first, second, count));
}

/** The visible ranks as ranges [{first, last}, …]; neighbours that do the same are one. */
function rangesOf(kase, ranks, folded) {
  kase.sameAsBefore = kase.sameAsBefore || kase.rankNumbers.map((rank) => rank > 0 && doTheSame(kase, rank - 1, rank));
  const ranges = [];
  for (const rank of ranks) {
    const last = ranges[ranges.length - 1];
    if (folded && last && last.last + 1 === rank && kase.sameAsBefore[rank]) last.last = rank;
    else ranges.push({first: rank, last: rank});
  }
  return ranges;
}
