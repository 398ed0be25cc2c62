'use strict';
// The timeline as a thing to use: panels that share one span of time, pointer, wheel, touch and keys.

const LEAST_SPAN = 10;  // ns

class Timeline {
  /** `changed(view)` is called when another span of time is shown, `marked(panel)` when another event is. */
  constructor(element, {changed, marked}) {
    this.element = element;
    this.changed = changed;
    this.marked = marked;
    this.panels = [];
    this.hidden = new Set();
    this.showMemory = true;
    this.folded = true;
    this.overlays = {showRed: true, showPath: false, showMessages: false};
    this.printing = false;
    this.view = {from: 0, to: 1};
    this.end = 1;
    new ResizeObserver(() => this.arrange()).observe(element);
  }

  /** Shows runs of one case, [{title, note, kase}, …], one below the other; how the first differs from the second. */
  show(runs, comparison) {
    this.comparison = comparison;
    this.end = Math.max(1, ...runs.map(({kase}) => kase.drawnEnd));
    this.view = {from: 0, to: this.end};
    this.panels = runs.map((run, index) => this.makePanel(run, index));
    replace(this.element, ...this.panels.map((panel) => panel.element));
    this.arrange();
    this.changed(this.view);
  }

  makePanel({title, note, kase}, index) {
    const canvas = make('canvas', {tabindex: '0', role: 'group', 'aria-roledescription': 'timeline',
      'aria-label': `${title}: ${plural(kase.ranks.length, 'rank')}, ${timeText(kase.end)}`,
      'aria-describedby': 'timeline-help'});
    const spacer = make('div', {});
    const lanes = make('div', {class: 'lanes'}, canvas, spacer);
    const empty = kase.lanes.length === 0;
    const body = empty ? make('p', {class: 'empty'}, 'No rank left a trace.') : lanes;
    const heading = make('h3', {}, title, make('small', {}, note));
    const panel = {index, kase, canvas, spacer, lanes, empty, context: canvas.getContext('2d'), marked: null,
      comparison: this.comparison,
      element: make('div', {class: 'panel'}, heading, body), memoryScale: memoryScaleOf(kase)};
    if (!empty) this.listen(panel);
    return panel;
  }

  visibleRanks(panel) {
    return panel.kase.rankNumbers.filter((rank) => !this.hidden.has(rank));
  }

  /** After a change of size, ranks or rows. */
  arrange() {
    for (const panel of this.panels) {
      if (panel.empty) continue;
      const width = panel.lanes.clientWidth;
      panel.layout = layOut(panel.kase, rangesOf(panel.kase, this.visibleRanks(panel), this.folded), this.showMemory, width < 600);
      const most = this.printing ? Infinity : Math.max(this.panels.length > 1 ? 420 : 640, 0.7 * window.innerHeight);
      panel.height = Math.max(60, Math.min(panel.layout.height, most));
      panel.width = width;
      const density = window.devicePixelRatio || 1;
      panel.canvas.width = Math.round(width * density);
      panel.canvas.height = Math.round(panel.height * density);
      panel.canvas.style.height = `${panel.height}px`;
      panel.lanes.style.maxHeight = `${panel.height + 2}px`;
      panel.spacer.style.height = `${Math.max(0, panel.layout.height - panel.height)}px`;
      panel.context.setTransform(density, 0, 0, density, 0, 0);
      panel.marked = this.markedAgain(panel);
    }
    this.draw();
  }

  /** What is marked, in the rows as they are now. */
  markedAgain(panel) {
    if (!panel.marked) return null;
    const {lane} = panel.marked.row;
    const row = rowOfLane(panel, lane);
    return row ? {row, i: indexInRow(row, lane, panel.marked.i)} : null;
  }

  setOverlay(name, on) {
    this.overlays[name] = on;
    this.draw();
  }

  drawNow() {
    for (const panel of this.panels) if (!panel.empty) this.drawOne(panel, true);
  }

  /** In the next frame. Where only the marked event is another one, the picture that is kept does for the rest. */
  draw(everything = true) {
    this.stale = this.stale || everything;
    if (this.drawing) return;
    this.drawing = requestAnimationFrame(() => {
      const {stale} = this;
      this.drawing = 0;
      this.stale = false;
      for (const panel of this.panels) if (!panel.empty) this.drawOne(panel, stale);
    });
  }

  drawOne(panel, stale) {
    const {scrollTop} = panel.lanes;
    Object.assign(panel, this.overlays);
    if (stale) {
      drawPanel(panel, this.view, scrollTop, panel.width, panel.height);
      keepPicture(panel);
    } else {
      restorePicture(panel);
    }
    drawMarked(panel, this.scaleOf(panel), scrollTop);
  }

  zoom(factor, at) {
    const {from, to} = this.view;
    const span = Math.max(LEAST_SPAN, Math.min(this.end, (to - from) * factor));
    const share = (at - from) / (to - from);
    this.lookAt(at - share * span, at - share * span + span);
  }

  lookAt(from, to) {
    const span = Math.max(LEAST_SPAN, Math.min(this.end, to - from));
    const begin = Math.max(0, Math.min(from, this.end - span));
    this.view = {from: begin, to: begin + span};
    this.draw();
    this.changed(this.view);
  }

  middle() {
    return (this.view.from + this.view.to) / 2;
  }

  fit() {
    this.lookAt(0, this.end);
  }

  setHidden(hidden) {
    this.hidden = hidden;
    this.arrange();
  }

  scaleOf(panel) {
    return timeScale(this.view, panel.layout.gutter, panel.width - 10);
  }

  /** The event at a place of the canvas: {row, i}, or null. */
  eventAt(panel, x, y) {
    const row = rowAt(panel.layout, y + panel.lanes.scrollTop);
    if (!row || row.kind !== 'lane' || x < panel.layout.gutter) return null;
    const {kase} = panel;
    const scale = this.scaleOf(panel);
    const time = scale.time(x);
    const slack = 3 / scale.perNs;
    const within = Math.floor((y + panel.lanes.scrollTop - row.y) / (row.height / row.lane.rows));
    const i = nearestEvent(kase, row.lane, time, slack, within);
    return i < 0 ? null : {row, i};
  }

  /** What a place on a row of memory shows, as children of a tooltip; null elsewhere. */
  memoryAt(panel, x, y) {
    const row = rowAt(panel.layout, y + panel.lanes.scrollTop);
    if (!row || row.kind !== 'memory' || x < panel.layout.gutter) return null;
    const {kase} = panel;
    const time = this.scaleOf(panel).time(x);
    const [first, count] = kase.memory[row.rank];
    const i = upperBound(kase.columns.memoryTime, first, count, time) - 1;
    if (i < first || time > kase.drawnEnd) return null;
    const {budget} = kase.ranks[row.rank];
    return [make('strong', {}, `memory of ${namesOfRanks(kase, {first: row.rank, last: row.last})}`),
      terms([['at', timeText(Math.round(time))], ['alive', exactBytes(kase.live[i])], ['budget', budget === null ? '' : exactBytes(budget)]])];
  }

  mark(panel, marked) {
    for (const other of this.panels) other.marked = other === panel ? marked : null;
    this.draw(false);
    this.marked(marked ? panel : null);
  }

  listen(panel) {
    const {canvas, lanes} = panel;
    lanes.addEventListener('scroll', () => this.draw());
    canvas.addEventListener('wheel', (event) => this.onWheel(panel, event), {passive: false});
    canvas.addEventListener('dblclick', () => this.fit());
    canvas.addEventListener('keydown', (event) => this.onKey(panel, event));
    listenToPointer(this, panel);
  }

  onWheel(panel, event) {
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : event.shiftKey ? event.deltaY : 0;
    if (event.ctrlKey || event.metaKey) {
      this.zoom(Math.exp(event.deltaY * 0.0025), this.scaleOf(panel).time(event.offsetX));
    } else if (sideways !== 0) {
      const step = sideways / this.scaleOf(panel).perNs;
      this.lookAt(this.view.from + step, this.view.to + step);
    } else {
      return;
    }
    event.preventDefault();
  }

  onKey(panel, event) {
    const span = this.view.to - this.view.from;
    const actions = {
      '+': () => this.zoom(0.5, this.focusTime(panel)), '=': () => this.zoom(0.5, this.focusTime(panel)),
      '-': () => this.zoom(2, this.focusTime(panel)), '0': () => this.fit(),
      ArrowLeft: () => event.shiftKey ? this.lookAt(this.view.from - span / 4, this.view.to - span / 4) : this.step(panel, -1),
      ArrowRight: () => event.shiftKey ? this.lookAt(this.view.from + span / 4, this.view.to + span / 4) : this.step(panel, 1),
      ArrowUp: () => this.stepRow(panel, -1), ArrowDown: () => this.stepRow(panel, 1),
      Enter: () => this.mark(panel, panel.marked), Escape: () => this.mark(panel, null),
    };
    if (event.ctrlKey || event.metaKey || event.altKey || !actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }

  focusTime(panel) {
    if (!panel.marked) return this.middle();
    return panel.kase.columns.begin[panel.marked.i] + panel.kase.columns.duration[panel.marked.i] / 2;
  }

  /** To the next or previous event of the lane. */
  step(panel, direction) {
    const rows = panel.layout.rows.filter((row) => row.kind === 'lane');
    if (rows.length === 0) return;
    const marked = panel.marked || {row: rows[0], i: rows[0].lane.events[0] - (direction > 0 ? 1 : 0)};
    const [first, count] = marked.row.lane.events;
    const i = Math.max(first, Math.min(first + count - 1, marked.i + direction));
    if (count > 0) this.goTo(panel, marked.row, i);
  }

  /** To the event of the lane above or below that is nearest in time. */
  stepRow(panel, direction) {
    const rows = panel.layout.rows.filter((row) => row.kind === 'lane' && row.lane.events[1] > 0);
    if (rows.length === 0) return;
    const at = panel.marked ? rows.indexOf(panel.marked.row) + direction : 0;
    const row = rows[Math.max(0, Math.min(rows.length - 1, at))];
    const [first, count] = row.lane.events;
    const i = upperBound(panel.kase.columns.begin, first, count, this.focusTime(panel)) - 1;
    this.goTo(panel, row, Math.max(first, i));
  }

  goTo(panel, row, i) {
    const {columns, ends} = panel.kase;
    const span = this.view.to - this.view.from;
    if (ends[i] < this.view.from || columns.begin[i] > this.view.to) {
      this.lookAt(columns.begin[i] - span / 2, columns.begin[i] + span / 2);
    }
    const {lanes} = panel;
    if (row.y - AXIS_HEIGHT < lanes.scrollTop) lanes.scrollTop = row.y - AXIS_HEIGHT - 8;
    if (row.y + row.height > lanes.scrollTop + panel.height) lanes.scrollTop = row.y + row.height - panel.height + 8;
    this.mark(panel, {row, i});
  }
}

/** The event of a lane at a time; events that take no time are found within `slack`. -1: none. */
function nearestEvent(kase, lane, time, slack, row) {
  const {begin, duration, row: rowOf} = kase.columns;
  const [first, count] = lane.events;
  const last = upperBound(begin, first, count, time + slack) - 1;
  let best = -1;
  for (let i = last; i >= Math.max(first, last - 64); --i) {
    const exact = begin[i] <= time && time < kase.ends[i];
    if (exact && (lane.rows === 1 || rowOf[i] === row)) return i;
    const distance = Math.max(begin[i] - time, time - kase.ends[i], 0);
    if (best < 0 && distance <= slack && (duration[i] === 0 || duration[i] < slack)) best = i;
    if (best < 0 && exact) best = i;
  }
  return best;
}
