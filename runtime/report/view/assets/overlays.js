'use strict';
// What lies over the blocks of a timeline: messages as arrows, the critical path, the first difference, and what ranks
// wait for that never comes.

/** Where an event is drawn: {x, right, y} with y at the middle of its row; null where it is hidden. */
function placeOnPanel(panel, scale, {lane, i}) {
  const row = rowOfLane(panel, lane);
  if (!row) return null;
  const {begin, duration, row: rowOf} = panel.kase.columns;
  const at = indexInRow(row, lane, i);
  const height = row.height / row.lane.rows;
  return {x: scale.x(begin[at]), right: scale.x(begin[at] + duration[at]), y: row.y + (rowOf[at] + 0.5) * height, height};
}

function drawArrow(context, from, to, colour) {
  const angle = Math.atan2(to.y - from.y, to.x - from.x);
  context.strokeStyle = context.fillStyle = colour;
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(from.x, from.y);
  context.lineTo(to.x, to.y);
  context.stroke();
  context.beginPath();
  context.moveTo(to.x, to.y);
  context.lineTo(to.x - 8 * Math.cos(angle - 0.4), to.y - 8 * Math.sin(angle - 0.4));
  context.lineTo(to.x - 8 * Math.cos(angle + 0.4), to.y - 8 * Math.sin(angle + 0.4));
  context.fill();
}

function drawMessage(panel, scale, {from, to}, colour) {
  const [a, b] = [placeOnPanel(panel, scale, from), placeOnPanel(panel, scale, to)];
  if (a && b && a.y !== b.y) drawArrow(panel.context, {x: (a.x + a.right) / 2, y: a.y}, {x: (b.x + b.right) / 2, y: b.y}, colour);
}

/** The other side of the marked message, or the other ranks' calls of the marked collective. */
function drawMeeting(panel, scale, {row, i}) {
  const meeting = meetingsOf(panel.kase).get(i);
  if (!meeting || meeting.length < 2) return;
  const {paint} = panel.kase.columns;
  if (paint[i] !== Paint.collective) {
    const from = meeting.find((side) => paint[side.i] === Paint.send);
    drawMessage(panel, scale, {from, to: meeting.find((side) => side !== from)}, colours().ink);
    return;
  }
  panel.context.strokeStyle = colours().ink;
  panel.context.lineWidth = 1;
  for (const side of meeting) {
    const place = side.lane === row.lane ? null : placeOnPanel(panel, scale, side);
    if (place) panel.context.strokeRect(place.x, place.y - place.height / 2, Math.max(3, place.right - place.x), place.height);
  }
}

const MOST_ARROWS = 600;

function drawOverlays(panel, scale) {
  const {kase, context} = panel;
  if (kase.ends.length > MOST_COMPARED) return;
  if (panel.showPath) drawPath(panel, scale);
  if (panel.showMessages) {
    const {from, to} = {from: scale.time(scale.left), to: scale.time(scale.right)};
    const inView = messagesOf(kase).filter((m) => kase.ends[m.to.i] >= from && kase.columns.begin[m.from.i] <= to);
    for (const message of inView.slice(0, MOST_ARROWS)) drawMessage(panel, scale, message, colours().soft);
  }
  for (const stuck of stuckIn(kase)) drawStuck(panel, scale, stuck);
  const {comparison} = panel;
  if (comparison && comparison.first && comparison.first.missing === (panel.index > 0)) drawFirstDifference(panel, scale, comparison.first);
  context.lineWidth = 1;
}

/** Frames around the blocks of the critical path, and lines from one to the next. */
function drawPath(panel, scale) {
  const {context} = panel;
  let next = null;
  context.strokeStyle = colours().path;
  for (const step of criticalPath(panel.kase)) {
    const place = placeOnPanel(panel, scale, step);
    if (!place) continue;
    context.lineWidth = 2;
    context.strokeRect(place.x + 1, place.y - place.height / 2 + 1, Math.max(1, place.right - place.x - 3), place.height - 2);
    if (next && next.y !== place.y) {
      context.beginPath();
      context.moveTo(place.right, place.y);
      context.lineTo(next.x, next.y);
      context.stroke();
    }
    next = place;
  }
}

/** A dotted line until the end, with what the rank waits for, and an arrow to the rank that does not come. */
function drawStuck(panel, scale, {lane, i}) {
  const {context, kase} = panel;
  const place = placeOnPanel(panel, scale, {lane, i});
  if (!place) return;
  const end = scale.x(kase.drawnEnd);
  context.fillStyle = colours().bad;
  for (let x = place.x + 1; x + 3 <= end; x += 6) context.fillRect(x, Math.round(place.y) - 1, 3, 2);
  const text = `waits: ${stuckText(kase, i)}`;
  context.font = '600 10px ui-sans-serif, system-ui, "DejaVu Sans", sans-serif';
  const width = context.measureText(text).width + 6;
  // Beside a goal that goes on for longer there is no room before the end, where the blocks are, but behind it.
  const isBehind = place.x + width + 22 > end && end + 8 + width <= scale.right;
  const left = isBehind ? end + 8 : Math.max(scale.left + 2, Math.min(place.x + 4, end - width - 18));
  context.fillStyle = colours().raised;
  context.fillRect(left, place.y - 7, width, 14);
  context.fillStyle = colours().bad;
  context.textAlign = 'left';
  context.textBaseline = 'middle';
  context.fillText(text, left + 3, place.y);
  const peer = kase.columns.peer[i];
  const program = peer >= 0 ? programOf(kase, peer) : null;
  const row = program ? rowOfLane(panel, program) : null;
  if (row && row.y + row.height / 2 !== place.y) {
    drawArrow(context, {x: end - 4 - 6 * (lane.rank % 3), y: place.y}, {x: end - 4 - 6 * (lane.rank % 3), y: row.y + row.height / 2}, colours().bad);
  }
}

/** A line through all rows at the time of the first difference, and a frame around the block. */
function drawFirstDifference(panel, scale, {lane, i}) {
  const {context, layout} = panel;
  const place = placeOnPanel(panel, scale, {lane, i});
  if (!place) return;
  context.strokeStyle = colours().bad;
  context.lineWidth = 1;
  context.setLineDash([2, 3]);
  context.beginPath();
  context.moveTo(place.x, AXIS_HEIGHT);
  context.lineTo(place.x, layout.height);
  context.stroke();
  context.setLineDash([]);
  context.lineWidth = 2;
  context.strokeRect(place.x, place.y - place.height / 2, Math.max(4, place.right - place.x), place.height);
}
