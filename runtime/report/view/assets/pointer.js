'use strict';
// The pointer on a panel: hover shows, a drag zooms into what it spans, Shift and drag (or a finger) moves, two fingers
// zoom.

function listenToPointer(timeline, panel) {
  const {canvas} = panel;
  const pointers = new Map();
  let drag = null;

  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return {x: event.clientX - box.left, y: event.clientY - box.top};
  };
  const hover = (event) => {
    const {x, y} = place(event);
    const found = timeline.eventAt(panel, x, y);
    if (!sameEvent(found, panel.marked)) timeline.mark(panel, found);
    const memory = found ? null : timeline.memoryAt(panel, x, y);
    if (found) showTooltip(panel, found, event.clientX, event.clientY);
    else if (memory) placeTooltip(memory, event.clientX, event.clientY);
    else hideTooltip();
  };

  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    const {x} = place(event);
    pointers.set(event.pointerId, x);
    canvas.setPointerCapture(event.pointerId);
    drag = {x, view: timeline.view, moves: event.shiftKey || event.pointerType === 'touch', moved: false,
      spread: spreadOf(pointers)};
    hover(event);
  });
  canvas.addEventListener('pointermove', (event) => {
    if (!drag) {
      hover(event);
      return;
    }
    const {x} = place(event);
    pointers.set(event.pointerId, x);
    if (pointers.size > 1) {
      pinch(timeline, panel, drag, pointers);
      return;
    }
    drag.moved = drag.moved || Math.abs(x - drag.x) > 4;
    if (!drag.moved) return;
    hideTooltip();
    if (drag.moves) {
      const step = (drag.x - x) / timeline.scaleOf(panel).perNs;
      timeline.lookAt(drag.view.from + step, drag.view.to + step);
    } else {
      timeline.draw();
      requestAnimationFrame(() => drag && drawSelection(panel, drag.x, x));
    }
  });
  const release = (event) => {
    pointers.delete(event.pointerId);
    if (!drag || pointers.size > 0) return;
    const {x} = place(event);
    const {moved, moves, x: begin} = drag;
    drag = null;
    if (!moved) {
      timeline.mark(panel, panel.marked);
    } else if (!moves && event.type === 'pointerup') {
      const scale = timeline.scaleOf(panel);
      const times = [begin, x].map((at) => scale.time(Math.max(scale.left, Math.min(scale.right, at))));
      timeline.lookAt(Math.min(...times), Math.max(...times));
    }
    timeline.draw();
  };
  canvas.addEventListener('pointerup', release);
  canvas.addEventListener('pointercancel', release);
  canvas.addEventListener('pointerleave', () => {
    hideTooltip();
    if (!drag && panel.marked && document.activeElement !== canvas) timeline.mark(panel, null);
  });
}

function sameEvent(a, b) {
  return a === b || (a && b && a.i === b.i && a.row === b.row);
}

function spreadOf(pointers) {
  const places = [...pointers.values()];
  return places.length < 2 ? 0 : Math.max(20, Math.abs(places[0] - places[1]));
}

function pinch(timeline, panel, drag, pointers) {
  const spread = spreadOf(pointers);
  if (drag.spread > 0) {
    const places = [...pointers.values()];
    timeline.zoom(drag.spread / spread, timeline.scaleOf(panel).time((places[0] + places[1]) / 2));
  }
  drag.spread = spread;
  drag.moved = true;
}

function drawSelection(panel, from, to) {
  const {context, height} = panel;
  context.globalAlpha = 0.18;
  context.fillStyle = colours().accent;
  context.fillRect(Math.min(from, to), 0, Math.abs(to - from), height);
  context.globalAlpha = 1;
}

function showTooltip(panel, {row, i}, x, y) {
  placeTooltip([make('strong', {}, titleOf(panel.kase, i)), codeOf(panel, i), terms(detailsOf(panel.kase, row, i))], x, y);
}

/** The learner's line of code that an event comes from; null where it is not known. */
function codeOf(panel, i) {
  const code = sourceLine(panel.index === 0 ? run : {}, placeOf(panel.kase, i));
  return code ? make('code', {class: 'code'}, code) : null;
}

function placeTooltip(children, x, y) {
  const tooltip = byId('tooltip');
  replace(tooltip, ...children);
  tooltip.hidden = false;
  const box = tooltip.getBoundingClientRect();
  const left = x + 16 + box.width > window.innerWidth ? Math.max(4, x - box.width - 16) : x + 16;
  const top = y + 18 + box.height > window.innerHeight ? Math.max(4, y - box.height - 12) : y + 18;
  tooltip.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
}

function hideTooltip() {
  byId('tooltip').hidden = true;
}
