'use strict';
// Draws one panel of the timeline: axis, lanes, memory. Coarse levels where there is more than the eye can part.

/** Draws what of `panel` is visible into its canvas. */
function drawPanel(panel, view, scrollTop, width, height) {
  const context = panel.context;
  const {layout, kase} = panel;
  const scale = timeScale(view, layout.gutter, width - 10);
  context.clearRect(0, 0, width, height);
  context.save();
  context.translate(0, -scrollTop);
  const visible = layout.rows.filter((row) => row.y + row.height >= scrollTop && row.y <= scrollTop + height);
  drawGrid(context, scale, view, scrollTop, Math.min(height, layout.height));
  for (const row of visible) drawTrack(context, row, scale, kase.end);
  const red = panel.showRed && kase.comparison ? kase.comparison.red : null;
  context.save();
  context.beginPath();
  context.rect(scale.left, scrollTop, scale.right - scale.left, height);
  context.clip();
  const looks = new Map();
  const texts = [];
  for (const row of visible) {
    if (row.kind === 'lane') collectLane(kase, row, scale, view, looks, texts, context, scrollTop);
    else drawMemoryStrip(context, kase, row, scale, panel.memoryScale, scrollTop);
  }
  for (const [, look] of looks) drawRectangles(context, look.paint, look.hue, look.rectangles);
  drawTexts(context, texts);
  if (red) for (const row of visible) if (row.kind === 'lane') drawRed(context, kase, row, scale, view, red);
  drawOverlays(panel, scale);
  context.restore();
  for (const row of visible) drawLabel(context, row, layout);
  for (const row of visible) if (row.kind === 'memory') drawMemoryFigures(context, row, layout, panel.memoryScale);
  context.restore();
  drawAxis(context, scale, view, width);
}

/** The ground of a row, as long as the run: what lies behind its end is not idle time. */
function drawTrack(context, row, scale, end) {
  const right = Math.min(scale.right, scale.x(end));
  context.fillStyle = colours().track;
  if (right > scale.left) context.fillRect(scale.left, row.y, right - scale.left, row.height);
}

function drawLabel(context, row, {gutter, narrow}) {
  context.textBaseline = 'middle';
  const middle = row.y + row.height / 2 + 0.5;
  const size = Math.max(9, Math.min(12, row.height - 1));
  if (row.first) {
    context.fillStyle = colours().ink;
    context.font = `600 ${size}px ui-sans-serif, system-ui, "DejaVu Sans", sans-serif`;
    context.textAlign = 'left';
    const several = row.last > row.rank;
    const number = several ? `${row.rank}–${row.last}` : String(row.rank);
    context.fillText(narrow ? `r ${number}` : `${several ? 'ranks' : 'rank'} ${number}`, 8, middle);
  }
  if (!row.label) return;
  context.fillStyle = colours().soft;
  context.font = `${Math.min(11, size)}px ui-sans-serif, system-ui, "DejaVu Sans", sans-serif`;
  context.textAlign = 'right';
  context.fillText(row.label, gutter - 6, middle);
}

function drawGrid(context, scale, view, top, height) {
  const step = tickStep(scale.perNs, 64);
  context.fillStyle = colours().line;
  for (let time = Math.ceil(view.from / step) * step; time <= view.to; time += step) {
    context.fillRect(Math.round(scale.x(time)), top, 1, height);
  }
}

function drawAxis(context, scale, view, width) {
  context.fillStyle = colours().raised;
  context.fillRect(0, 0, width, AXIS_HEIGHT);
  context.fillStyle = colours().line;
  context.fillRect(0, AXIS_HEIGHT - 1, width, 1);
  const step = tickStep(scale.perNs, 64);
  context.font = '11px ui-sans-serif, system-ui, "DejaVu Sans", sans-serif';
  context.textBaseline = 'middle';
  for (let time = Math.ceil(view.from / step) * step; time <= view.to; time += step) {
    const x = Math.round(scale.x(time));
    context.fillStyle = colours().soft;
    context.fillRect(x, AXIS_HEIGHT - 5, 1, 4);
    const text = time === 0 ? '0' : axisTime(time, step, view.to);
    const half = context.measureText(text).width / 2;
    context.textAlign = x + half > width - 4 ? 'right' : 'center';
    context.fillText(text, context.textAlign === 'right' ? width - 4 : x, AXIS_HEIGHT / 2 - 1);
  }
}

/** Few events are sorted by look, so that each look is drawn at once; many are painted pixel by pixel. */
function collectLane(kase, row, scale, view, looks, texts, context, top) {
  const range = eventsInView(kase, row.lane, view);
  const pixels = scale.right - scale.left;
  if (range.count <= pixels / 8) {
    collectEvents(kase, row, range, scale, looks, texts, context);
    return;
  }
  const level = range.count > 1.5 * pixels ? levelFor(row.lane, kase.end, view, pixels) : null;
  const picture = rowPicture(context, row, scale, kase.end);
  if (level) paintSegments(picture, kase, level, view);
  else paintEvents(picture, kase, row.lane, range);
  putPicture(context, picture, row, top);
}

function eventsInView(kase, lane, view) {
  const [first, count] = lane.events;
  const {begin} = kase.columns;
  const end = upperBound(begin, first, count, view.to);
  let from = upperBound(begin, first, count, view.from);
  // Events that began before the view may reach into it; of those that overlap some more have to be looked at.
  const back = lane.rows > 1 ? 64 : 1;
  from = Math.max(first, from - back);
  return {first: from, count: Math.max(0, end - from)};
}

/** The coarsest level whose bins are no wider than a pixel; null if all are. */
function levelFor(lane, end, view, pixels) {
  const needed = pixels * end / (view.to - view.from);
  return lane.levels.find((level) => level.bins >= needed) || null;
}

function rectanglesOf(looks, paint, hue) {
  const key = lookKey(paint, hue);
  let look = looks.get(key);
  if (!look) looks.set(key, look = {paint, hue, rectangles: []});
  return look.rectangles;
}

function collectEvents(kase, row, range, scale, looks, texts, context) {
  const {begin, paint, duration, row: rowOf} = kase.columns;
  const height = row.height / row.lane.rows;
  for (let i = range.first; i < range.first + range.count; ++i) {
    const x = scale.x(begin[i]);
    if (duration[i] === 0) {
      context.fillStyle = colours().ink;
      context.fillRect(x - 0.5, row.y + row.height - 4, 1.5, 4);
      continue;
    }
    const width = Math.max(1, duration[i] * scale.perNs - (duration[i] * scale.perNs > 4 ? 1 : 0));
    const y = row.y + rowOf[i] * height;
    if (paint[i] === Paint.idle) {
      drawWaiting(context, x, y + height / 2, width);
      continue;
    }
    const hue = hueOf(kase, i);
    rectanglesOf(looks, paint[i], hue).push(x, y, width, height);
    if (width >= 12 && height >= 9) texts.push({i, kase, x, y, width, height, paint: paint[i], hue});
    if (row.lane.inner && width > 40) collectInside(kase, row, i, scale, looks);
  }
}

/** Operations inside of a call, as a thin row in the block. */
function collectInside(kase, row, outer, scale, looks) {
  const {begin, duration} = kase.columns;
  const [first, count] = row.lane.inner.events;
  const from = upperBound(begin, first, count, begin[outer] - 1);
  const shown = rectanglesOf(looks, Paint.loss, -1);
  for (let i = from; i < first + count && begin[i] < kase.ends[outer]; ++i) {
    const width = duration[i] * scale.perNs - 1;
    if (width >= 1) shown.push(scale.x(begin[i]), row.y + row.height - 3, width, 2);
  }
}

function drawWaiting(context, x, y, width) {
  context.fillStyle = colours().soft;
  const end = Math.min(x + width, context.canvas.width);
  for (let at = Math.max(x, 0) + 1; at + 2 <= end; at += 6) context.fillRect(at, Math.round(y) - 0.5, 2, 1);
}

/** Writes as much into a block as there is room for. */
function drawTexts(context, texts) {
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  for (const {i, kase, x, y, width, height, paint, hue} of texts) {
    const left = Math.max(x, 0);
    const right = Math.min(x + width, context.canvas.clientWidth || context.canvas.width);
    const room = right - left - 4;
    const number = numberOf(kase, i);
    const name = kase.names[kase.columns.name[i]];
    const full = number >= 0 ? `${name} ${number}` : name;
    context.font = `600 ${Math.min(12, height - 2)}px ui-sans-serif, system-ui, "DejaVu Sans", sans-serif`;
    const text = [full, number >= 0 ? String(number) : ''].find((t) => t !== '' && context.measureText(t).width <= room);
    if (!text) continue;
    if (formOf(paint) === 'striped') coverStripes(context, paint, hue, text, (left + right) / 2, y, height);
    context.fillStyle = textColour(paint, hue);
    context.fillText(text, (left + right) / 2, y + height / 2 + 0.5);
  }
}

/** Plain ground for a text on stripes. */
function coverStripes(context, paint, hue, text, middle, y, height) {
  const width = context.measureText(text).width + 8;
  context.fillStyle = hueColour(hue);
  context.fillRect(middle - width / 2, y, width, height);
}

/** A bar above what ends later than in the run beside it, one below what the program stands still for. */
function drawRed(context, kase, row, scale, view, red) {
  const {begin, duration, row: rowOf} = kase.columns;
  const range = eventsInView(kase, row.lane, view);
  if (range.count > (scale.right - scale.left) / 4) return;
  const height = row.height / row.lane.rows;
  context.fillStyle = colours().bad;
  for (let i = range.first; i < range.first + range.count; ++i) {
    if (!red[i]) continue;
    const y = row.y + rowOf[i] * height;
    const width = Math.max(1.5, duration[i] * scale.perNs - 1);
    if (red[i] & RED.late) context.fillRect(scale.x(begin[i]), y, width, 2.5);
    if (red[i] & RED.exposed) context.fillRect(scale.x(begin[i]), y + height - 2.5, width, 2.5);
  }
}

/** Figures of a memory row: what its lowest and its highest line mean. */
function drawMemoryFigures(context, row, {gutter, narrow}, {low, high}) {
  if (row.height < 24) return;
  context.fillStyle = colours().soft;
  context.font = '9.5px ui-sans-serif, system-ui, "DejaVu Sans", sans-serif';
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  context.fillText(bytesText(high), gutter - 6, row.y + 5);
  context.fillText(bytesText(low), gutter - 6, row.y + row.height - 5);
  if (narrow) return;
  context.textAlign = 'left';
  context.fillText('memory', 8, row.y + row.height / 2);
}

/** Keeps the panel as it is drawn, without anything marked. */
function keepPicture(panel) {
  const {canvas} = panel;
  panel.picture = panel.picture || document.createElement('canvas');
  if (panel.picture.width !== canvas.width) panel.picture.width = canvas.width;
  if (panel.picture.height !== canvas.height) panel.picture.height = canvas.height;
  const pen = panel.picture.getContext('2d');
  pen.clearRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(canvas, 0, 0);
}

function restorePicture(panel) {
  const {context, picture, width, height} = panel;
  context.clearRect(0, 0, width, height);
  context.drawImage(picture, 0, 0, width, height);
}

/** Frames what the pointer or the keyboard is at. */
function drawMarked(panel, scale, scrollTop) {
  if (!panel.marked) return;
  const {context} = panel;
  const {row, i} = panel.marked;
  const {begin, duration, row: rowOf} = panel.kase.columns;
  const height = row.height / row.lane.rows;
  const width = Math.max(3, duration[i] * scale.perNs);
  context.save();
  context.beginPath();
  context.rect(scale.left, AXIS_HEIGHT, scale.right - scale.left, panel.height - AXIS_HEIGHT);
  context.clip();
  context.strokeStyle = colours().ink;
  context.lineWidth = 2;
  context.strokeRect(scale.x(begin[i]), row.y - scrollTop + rowOf[i] * height, width, height);
  context.translate(0, -scrollTop);
  drawMeeting(panel, scale, panel.marked);
  context.restore();
}

/** Of all ranks together, so that ranks can be compared: from the least memory to the budget or the highest peak. */
function memoryScaleOf(kase) {
  let low = Infinity;
  let high = 1;
  for (const [first, count] of kase.memory) {
    for (let i = first; i < first + count; ++i) {
      low = Math.min(low, kase.live[i]);
      high = Math.max(high, kase.live[i]);
    }
  }
  for (const rank of kase.ranks) high = Math.max(high, rank.budget || 0);
  return {low: Number.isFinite(low) ? Math.min(low, high * 0.95) : 0, high};
}

function drawMemoryStrip(context, kase, row, scale, range, top) {
  const picture = rowPicture(context, row, scale, kase.end);
  paintMemory(picture, kase, row.rank, range);
  putPicture(context, picture, row, top);
  drawBudget(context, kase, row, scale, range);
}

function drawBudget(context, kase, row, scale, range) {
  const {budget, peak} = kase.ranks[row.rank];
  if (budget === null) return;
  const y = Math.round(row.y + (row.height - 1) * (1 - (budget - range.low) / (range.high - range.low))) + 0.5;
  context.strokeStyle = colours().bad;
  context.lineWidth = peak > budget ? 1.5 : 1;
  context.setLineDash([4, 3]);
  context.beginPath();
  context.moveTo(scale.left, y);
  context.lineTo(Math.min(scale.right, scale.x(kase.end)), y);
  context.stroke();
  context.setLineDash([]);
}
