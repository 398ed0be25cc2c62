'use strict';
// How events look: colours of the style sheet, and the forms of forward, backward and communication.

const HUES = 12;  // as many as the style sheet has; further layers start over

let theme = null;

/** Colours by name, read from the style sheet once for each scheme. */
function colours() {
  if (theme) return theme;
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue(`--${name}`).trim();
  theme = {hues: [], patterns: new Map(), packed: new Map()};
  for (let i = 0; i < HUES; ++i) theme.hues.push(value(`h${i}`));
  theme.kinds = [0, 1, 2, 3, 4, 5].map((i) => value(`k${i}`));
  for (const name of ['ground', 'raised', 'line', 'track', 'ink', 'soft', 'on', 'accent', 'bad', 'plain', 'update', 'stripe',
    'memory', 'edge', 'focus', 'path']) theme[name] = value(name);
  return theme;
}

function forgetColours() {
  theme = null;
}

/** Calls `changed` whenever the scheme does. */
function onColoursChanged(changed) {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    theme = null;
    changed();
  });
}

/** Which colour an event has: that of its layer or stage, or the one for what belongs to none. */
function hueColour(hue) {
  return hue < 0 ? colours().plain : colours().hues[hue % HUES];
}

/** full: the colour itself; shaded: a light ground, framed; striped: the colour with stripes; hatched: both. */
function formOf(paint) {
  switch (paint) {
    case Paint.backward:
    case Paint.recv: return 'shaded';
    case Paint.weights: return 'hatched';
    case Paint.collective: return 'striped';
    case Paint.update: return 'dark';
    default: return 'full';
  }
}

function isLight(form) {
  return form === 'shaded' || form === 'hatched';
}

/** A key under which everything of one look can be drawn at once. */
function lookKey(paint, hue) {
  return paint * 64 + ((hue + 1) % 64);
}

/** Stripes over a colour; made once for each colour. */
function stripes(context, colour) {
  const known = colours().patterns.get(colour);
  if (known) return known;
  const tile = document.createElement('canvas');
  tile.width = tile.height = 6;
  const pen = tile.getContext('2d');
  pen.fillStyle = colour;
  pen.fillRect(0, 0, 6, 6);
  pen.strokeStyle = colours().stripe;
  pen.lineWidth = 2;
  pen.beginPath();
  for (const shift of [-6, 0, 6]) {
    pen.moveTo(shift - 1, 7);
    pen.lineTo(shift + 7, -1);
  }
  pen.stroke();
  const pattern = context.createPattern(tile, 'repeat');
  colours().patterns.set(colour, pattern);
  return pattern;
}

/** Draws rectangles [x, y, width, height, …] of one look. */
function drawRectangles(context, paint, hue, rectangles) {
  const form = formOf(paint);
  const colour = form === 'dark' ? colours().update : hueColour(hue);
  context.globalAlpha = isLight(form) ? 0.3 : 1;
  context.fillStyle = form === 'striped' || form === 'hatched' ? stripes(context, colour) : colour;
  for (let i = 0; i < rectangles.length; i += 4) {
    context.fillRect(rectangles[i], rectangles[i + 1], rectangles[i + 2], rectangles[i + 3]);
  }
  context.globalAlpha = 1;
  if (!isLight(form)) return;
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.beginPath();
  for (let i = 0; i < rectangles.length; i += 4) {
    if (rectangles[i + 2] < 4) continue;
    context.rect(rectangles[i] + 0.5, rectangles[i + 1] + 0.5, rectangles[i + 2] - 1, rectangles[i + 3] - 1);
  }
  context.stroke();
}

/** The colour of text on an event. */
function textColour(paint, hue) {
  return isLight(formOf(paint)) ? hueColour(hue) : colours().on;
}

/** Which paints take time, and the names of what takes none. */
function looksOf(kase) {
  const {paint, duration, name} = kase.columns;
  const painted = new Uint8Array(PAINT_NAMES.length);
  const instant = new Uint8Array((kase.names || []).length);
  for (let i = 0; i < (paint || []).length; ++i) {
    if (duration[i] > 0) painted[paint[i]] = 1;
    else instant[name[i]] = 1;
  }
  const those = (flags) => [...flags.keys()].filter((i) => flags[i]);
  return {paints: new Set(those(painted)), instants: those(instant).map((i) => kase.names[i])};
}

/** What colours and forms mean, for the events that there are. */
function fillLegend(element, kase) {
  const {paints, instants} = looksOf(kase);
  const entries = [];
  const sample = (paint, hue) => {
    const canvas = make('canvas', {width: 44, height: 28, style: 'width:22px;height:14px', 'aria-hidden': 'true'});
    const context = canvas.getContext('2d');
    context.scale(2, 2);
    drawRectangles(context, paint, hue, [0, 0, 22, 14]);
    return canvas;
  };
  for (const paint of PAINT_NAMES.keys()) {
    if (paint !== Paint.idle && paints.has(paint)) entries.push(make('span', {}, sample(paint, -1), PAINT_NAMES[paint]));
  }
  const hues = new Map((kase.hues || []).map(([layer, hue]) => [hue, layer]));
  if (kase.colouring !== 'none') {
    const shown = [...hues.keys()].sort((a, b) => a - b).slice(0, 12);
    for (const hue of shown) entries.push(make('span', {}, sample(Paint.forward, hue), `${kase.colouring} ${hue}`));
    if (hues.size > shown.length) entries.push(make('span', {}, 'and so on'));
  }
  if (paints.has(Paint.idle)) entries.push(make('span', {}, waitingSample(), 'waiting'));
  if (instants.length > 0) {
    const names = instants.slice(0, 4).join(', ') + (instants.length > 4 ? ', …' : '');
    entries.push(make('span', {}, make('span', {class: 'tick'}), `takes no time: ${names}`));
  }
  if (kase.numbering !== 'none') {
    entries.push(make('span', {}, `numbers: ${kase.numbering === 'micro' ? 'micro-batches' : 'layers'}`));
  }
  if (kase.comparison && kase.comparison.red.some((red) => red & RED.late)) {
    entries.push(make('span', {}, make('span', {class: 'late'}), `ends later than in ${kase.comparison.name}`));
  }
  if (kase.comparison && kase.comparison.red.some((red) => red & RED.exposed)) {
    entries.push(make('span', {}, make('span', {class: 'exposed'}), `the program stands still for it, more than in ${kase.comparison.name}`));
  }
  replace(element, ...entries);
}

function waitingSample() {
  const canvas = make('canvas', {width: 44, height: 28, style: 'width:22px;height:14px', 'aria-hidden': 'true'});
  const context = canvas.getContext('2d');
  context.scale(2, 2);
  context.fillStyle = colours().track;
  context.fillRect(0, 0, 22, 14);
  context.fillStyle = colours().soft;
  for (let x = 1; x < 22; x += 4) context.fillRect(x, 6.5, 2, 1);
  return canvas;
}
