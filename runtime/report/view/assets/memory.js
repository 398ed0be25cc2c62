'use strict';
// Memory of one rank over time by kind, drawn by uPlot: stacked, with the budget, the peak and the run beside it.

// Distances between ticks: 1, 2, 5 ns and so on.
const ROUND_TIMES = Array.from({length: 45}, (_, i) => [1, 2, 5][i % 3] * 10 ** Math.floor(i / 3));

class MemoryChart {
  constructor(element, kinds) {
    this.element = element;
    this.kinds = kinds;
    this.chart = null;
    new ResizeObserver(() => this.resize()).observe(element);
    // While nobody sees it, it only remembers what it would show.
    this.visible = false;
    new IntersectionObserver(([entry]) => {
      this.visible = entry.isIntersecting;
      if (this.visible && !this.chart) this.make();
      this.look(this.view);
    }, {rootMargin: '200px'}).observe(element);
  }

  /** Shows a rank of a case; `beside` is {name, kase} or null. */
  show(kase, rank, beside, view) {
    this.kase = kase;
    this.rank = rank;
    this.beside = beside && rank < beside.kase.ranks.length ? beside : null;
    this.view = view;
    if (this.chart) this.chart.destroy();
    this.chart = null;
    if (this.visible) this.make();
  }

  make() {
    if (!this.kase) return;
    const {kase, rank} = this;
    const [first, count] = kase.memory[rank] || [0, 0];
    if (count === 0) {
      replace(this.element, make('p', {class: 'empty'}, 'This rank’s memory was not recorded.'));
      return;
    }
    replace(this.element);
    const data = this.stacked(first, count);
    this.chart = new uPlot(this.options(data), data, this.element);
    this.look(this.view);
  }

  /** uPlot's data: times, and for each kind, the last first, the sum of it and those before it. */
  stacked(first, count) {
    const {columns} = this.kase;
    const times = Array.from(columns.memoryTime.subarray(first, first + count));
    times.push(Math.max(this.kase.end, times[count - 1]));
    const sum = new Float64Array(count);
    const layers = this.kinds.map((_, kind) => {
      const values = columns[`memory${kind}`];
      for (let i = 0; i < count; ++i) sum[i] += values[first + i];
      const layer = Array.from(sum);
      layer.push(sum[count - 1]);
      return layer;
    });
    return [times, ...layers.reverse()];
  }

  options(data) {
    const {kinds} = colours();
    const axis = {stroke: colours().soft, grid: {stroke: colours().line, width: 1}, ticks: {stroke: colours().line},
      font: '11px ui-sans-serif, system-ui, "DejaVu Sans", sans-serif'};
    const series = this.kinds.map((kind, index) => {
      const of = this.kinds.length - 1 - index;
      return {label: this.kinds[of], fill: kinds[of], stroke: kinds[of], width: 1, points: {show: false},
        paths: uPlot.paths.stepped({align: 1})};
    });
    const highest = this.highest(data);
    return {
      width: this.width(), height: 260, padding: [14, 26, 0, 0],
      scales: {x: {time: false, auto: false, range: (_, from, to) => [from, to]}, y: {range: () => [0, highest * 1.06]}},
      axes: [{...axis, size: 34, space: 90, incrs: ROUND_TIMES, values: (_, times, __, ___, step) => times.map((time) =>
        time === 0 ? '0' : axisTime(time, step, times[times.length - 1]))},
      {...axis, size: 74, splits: () => byteSplits(highest), values: (_, values) => values.map(bytesText)}],
      series: [{}, ...series],
      legend: {show: false},
      cursor: {y: false, points: {show: false}, drag: {x: false, y: false}},
      hooks: {draw: [(chart) => this.drawOver(chart)], setCursor: [(chart) => this.tellCursor(chart)]},
    };
  }

  highest(data) {
    let highest = this.kase.ranks[this.rank].budget || 0;
    for (const value of data[1]) highest = Math.max(highest, value);
    if (!this.beside) return highest;
    const {kase} = this.beside;
    const [first, count] = kase.memory[this.rank] || [0, 0];
    for (let i = first; i < first + count; ++i) highest = Math.max(highest, kase.live[i]);
    return highest;
  }

  width() {
    return Math.max(280, this.element.clientWidth);
  }

  resize() {
    if (this.chart) this.chart.setSize({width: this.width(), height: 260});
  }

  /** Draws even what nobody has scrolled to. */
  showAlways() {
    this.visible = true;
    if (this.chart) this.chart.destroy();
    this.make();
  }

  look(view) {
    this.view = view;
    if (this.visible && this.chart && view) this.chart.setScale('x', {min: view.from, max: view.to});
  }

  drawOver(chart) {
    const pen = chart.ctx;
    const {left, top, width, height} = chart.bbox;
    pen.save();
    pen.beginPath();
    pen.rect(left, top, width, height);
    pen.clip();
    if (this.beside) this.drawBeside(chart, pen);
    this.drawLimit(chart, pen);
    this.drawPeak(chart, pen);
    pen.restore();
  }

  drawBeside(chart, pen) {
    const {kase} = this.beside;
    const [first, count] = kase.memory[this.rank] || [0, 0];
    if (count === 0) return;
    pen.strokeStyle = colours().ink;
    pen.lineWidth = 1.5 * devicePixelRatio;
    pen.beginPath();
    for (let i = first; i < first + count; ++i) {
      const x = chart.valToPos(kase.columns.memoryTime[i], 'x', true);
      const y = chart.valToPos(kase.live[i], 'y', true);
      if (i > first) pen.lineTo(x, chart.valToPos(kase.live[i - 1], 'y', true));
      pen.lineTo(x, y);
    }
    pen.lineTo(chart.valToPos(kase.end, 'x', true), chart.valToPos(kase.live[first + count - 1], 'y', true));
    pen.stroke();
  }

  drawLimit(chart, pen) {
    const {budget} = this.kase.ranks[this.rank];
    if (budget === null) return;
    const y = chart.valToPos(budget, 'y', true);
    pen.strokeStyle = colours().bad;
    pen.lineWidth = 1.5 * devicePixelRatio;
    pen.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
    pen.beginPath();
    pen.moveTo(chart.bbox.left, y);
    pen.lineTo(chart.bbox.left + chart.bbox.width, y);
    pen.stroke();
    pen.setLineDash([]);
  }

  /** Where the highest point is: a mark, with its source line. */
  drawPeak(chart, pen) {
    const [first, count] = this.kase.memory[this.rank];
    let at = first;
    for (let i = first; i < first + count; ++i) if (this.kase.live[i] > this.kase.live[at]) at = i;
    const x = chart.valToPos(this.kase.columns.memoryTime[at], 'x', true);
    const y = chart.valToPos(this.kase.live[at], 'y', true);
    const size = 5 * devicePixelRatio;
    pen.fillStyle = colours().ink;
    pen.beginPath();
    pen.moveTo(x, y);
    pen.lineTo(x - size, y - 1.6 * size);
    pen.lineTo(x + size, y - 1.6 * size);
    pen.fill();
  }

  tellCursor(chart) {
    const i = chart.cursor.idx;
    if (i === null || i === undefined || chart.cursor.left < 0) {
      fillMemoryLegend(this.kinds, this.kase, this.rank, this.beside, null);
      return;
    }
    const values = this.kinds.map((_, kind) => {
      const upper = chart.data[this.kinds.length - kind][i];
      return kind === 0 ? upper : upper - chart.data[this.kinds.length - kind + 1][i];
    });
    fillMemoryLegend(this.kinds, this.kase, this.rank, this.beside, {time: chart.data[0][i], values});
  }
}

/** Round multiples of a power of two, four or so of them. */
function byteSplits(highest) {
  const step = 2 ** Math.max(0, Math.ceil(Math.log2(highest / 5)));
  const splits = [];
  for (let value = 0; value <= highest * 1.06; value += step) splits.push(value);
  return splits;
}

/** What the colours mean; with the pointer in the chart, how much of each there is. */
function fillMemoryLegend(kinds, kase, rank, beside, at) {
  const peak = kase.ranks[rank].peakByKind;
  const entries = kinds.map((kind, i) => ({kind, i})).filter(({i}) => peak[i] > 0 || usesKind(kase, rank, i))
    .map(({kind, i}) => make('span', {}, make('span', {class: 'swatch', style: `background: var(--k${i})`}),
      at ? `${kind} ${bytesText(at.values[i])}` : kind));
  if (kase.ranks[rank].budget !== null) {
    entries.push(make('span', {}, make('span', {class: 'dashes'}), `budget ${bytesText(kase.ranks[rank].budget)}`));
  }
  if (beside) entries.push(make('span', {}, make('span', {class: 'thin'}), beside.name));
  if (at) entries.push(make('span', {}, `at ${timeText(at.time)}`));
  replace(byId('memory-legend'), ...entries);
}

function usesKind(kase, rank, kind) {
  const [first, count] = kase.memory[rank] || [0, 0];
  const values = kase.columns[`memory${kind}`];
  for (let i = first; i < first + count; ++i) if (values[i] > 0) return true;
  return false;
}

/** The sentence above the chart. */
function memorySentence(kase, rank) {
  const {peak, peakAt, budget} = kase.ranks[rank];
  const parts = [`Rank ${numberOfRank(kase, rank)} had at most ${exactBytes(peak)} alive`, make('span', {}, peakAt ? ', reached at ' : ''),
    make('span', {class: 'place'}, peakAt), '. '];
  if (budget === null) return parts;
  const over = peak - budget;
  const text = over > 0 ? `That is ${exactBytes(over)} more than the budget of ${exactBytes(budget)}.`
    : over === 0 ? 'That is exactly the budget.' : `The budget is ${exactBytes(budget)}.`;
  return [...parts, make('span', {class: over > 0 ? 'worse' : null}, text)];
}

function fillMemoryTable(kinds, kase) {
  const used = kinds.map((kind, i) => ({kind, i})).filter(({i}) => kase.ranks.some((rank) => rank.peakByKind[i] > 0));
  const columns = [{title: 'rank'}, {title: 'peak', number: true}, {title: 'budget', number: true}, {title: 'reached at'},
    ...used.map(({kind}) => ({title: `${kind} then`, number: true}))];
  const rows = kase.ranks.map((rank, number) => [numberOfRank(kase, number), bytesText(rank.peak),
    rank.budget === null ? '' : bytesText(rank.budget), rank.peakAt, ...used.map(({i}) => bytesText(rank.peakByKind[i]))]);
  fillTable(byId('memory-table'), columns, rows);
}
