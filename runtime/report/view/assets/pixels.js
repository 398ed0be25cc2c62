'use strict';
// Rows drawn pixel by pixel: memory, and lanes with so much in them that blocks are a few pixels wide. Drawing thousands
// of rectangles takes a browser without a graphics card far too long for something that follows the pointer.

/** "#2f62c9" as a number whose bytes are red, green, blue, 255 in memory. */
function packedColour(text) {
  const number = parseInt(text.slice(1), 16);
  return (255 << 24 | (number & 255) << 16 | (number >> 8 & 255) << 8 | number >> 16) >>> 0;
}

function mixed(a, b, share) {
  const part = (shift) => Math.round((a >>> shift & 255) * share + (b >>> shift & 255) * (1 - share)) << shift;
  return (255 << 24 | part(16) | part(8) | part(0)) >>> 0;
}

/** Colours of a look: [colour, colour of the stripes]. */
function packedLook(paint, hue) {
  const known = colours().packed.get(lookKey(paint, hue));
  if (known) return known;
  const form = formOf(paint);
  const colour = packedColour(form === 'dark' ? colours().update : hueColour(hue));
  const ground = packedColour(colours().raised);
  const light = mixed(colour, ground, 0.42);
  const look = form === 'shaded' ? [light, light]
    : form === 'hatched' ? [light, mixed(colour, ground, 0.2)]
    : form === 'striped' ? [colour, mixed(colour, ground, 0.45)] : [colour, colour];
  colours().packed.set(lookKey(paint, hue), look);
  return look;
}

/** A picture of a row in pixels of the screen, with the row's ground as far as the run goes. */
function rowPicture(context, row, scale, end) {
  const density = window.devicePixelRatio || 1;
  const left = Math.round(scale.left * density);
  const width = Math.max(1, Math.round(scale.right * density) - left);
  const height = Math.max(1, Math.round(row.height * density));
  const image = context.createImageData(width, height);
  const from = scale.time(scale.left);
  const perNs = scale.perNs * density;
  const picture = {image, width, height, left, density, from, perNs, pixels: new Uint32Array(image.data.buffer),
    column: (time) => Math.round((time - from) * perNs)};
  picture.stop = Math.max(0, Math.min(width, picture.column(end)));
  const track = packedColour(colours().track);
  for (let y = 0; y < height; ++y) picture.pixels.fill(track, y * width, y * width + picture.stop);
  return picture;
}

/** Puts it where it belongs; `top` is the scroll position of the panel. */
function putPicture(context, picture, row, top) {
  context.putImageData(picture.image, picture.left, Math.round((row.y - top) * picture.density));
}

/** What each column of a picture shows: two colours and a height; the later of two things wins. */
class Columns {
  constructor(width) {
    this.colour = new Uint32Array(width);
    this.stripe = new Uint32Array(width);
    this.height = new Int32Array(width);
  }

  /** Columns [from, to), at least one. */
  set(look, from, to, height) {
    const end = Math.min(this.height.length, Math.max(to, from + 1));
    for (let x = Math.max(0, from); x < end; ++x) {
      this.colour[x] = look[0];
      this.stripe[x] = look[1];
      this.height[x] = height;
    }
  }

  /** Draws them into rows [top, bottom) of the picture, standing on the last one. */
  draw(picture, top, bottom) {
    const {width, pixels} = picture;
    for (let y = top; y < bottom; ++y) {
      const line = y * width;
      for (let x = 0; x < width; ++x) {
        if (bottom - y <= this.height[x]) pixels[line + x] = (x + y) % 6 < 2 ? this.stripe[x] : this.colour[x];
      }
    }
  }
}

const FULL_COVER = 16;

/** Segments of a level of detail: as high as the share of the time that is covered. */
function paintSegments(picture, kase, level, view) {
  const {segmentBegin, segmentLength, segmentPaint, segmentHue, segmentCover} = kase.columns;
  const bin = kase.end / level.bins;
  const [first, count] = level.segments;
  const begin = Math.max(first, upperBound(segmentBegin, first, count, view.from / bin) - 1);
  const columns = new Columns(picture.width);
  let painted = -1;
  for (let i = begin; i < first + count && segmentBegin[i] * bin <= view.to; ++i) {
    const to = picture.column((segmentBegin[i] + segmentLength[i]) * bin);
    if (to <= painted) continue;
    const height = Math.max(2, Math.round(picture.height * segmentCover[i] / FULL_COVER));
    columns.set(packedLook(segmentPaint[i], segmentHue[i]), picture.column(segmentBegin[i] * bin), to, height);
    painted = to;
  }
  columns.draw(picture, 0, picture.height);
}

/** Events too narrow for frames and texts. */
function paintEvents(picture, kase, lane, range) {
  const {begin, duration, paint, row} = kase.columns;
  for (let of = 0; of < lane.rows; ++of) {
    const top = Math.round(of * picture.height / lane.rows);
    const bottom = Math.round((of + 1) * picture.height / lane.rows);
    const columns = new Columns(picture.width);
    for (let i = range.first; i < range.first + range.count; ++i) {
      if (row[i] !== of || paint[i] === Paint.idle || duration[i] === 0) continue;
      const look = packedLook(paint[i], hueOf(kase, i));
      columns.set(look, picture.column(begin[i]), picture.column(kase.ends[i]), bottom - top);
    }
    columns.draw(picture, top, bottom);
  }
}

/** The most memory of each column, from the least of all ranks (`range.low`) to the budget or peak (`range.high`). */
function paintMemory(picture, kase, rank, range) {
  const {width, height, pixels, stop} = picture;
  const tops = memoryTops(picture, kase, rank, range);
  const ground = packedColour(colours().memory);
  const edge = packedColour(colours().edge);
  for (let x = 0; x < stop; ++x) {
    const before = x > 0 ? tops[x - 1] : tops[x];
    const from = Math.min(tops[x], before);
    const to = Math.max(tops[x], before);
    for (let y = from; y < height; ++y) pixels[y * width + x] = y <= to ? edge : ground;
  }
}

/** The row of the picture where each column's memory ends. */
function memoryTops(picture, kase, rank, range) {
  const {memoryTime} = kase.columns;
  const {height, from, perNs, stop} = picture;
  const [first, count] = kase.memory[rank];
  const tops = new Int32Array(stop);
  const scale = (height - 1) / (range.high - range.low);
  const level = (bytes) => Math.min(height - 2, Math.round((range.high - bytes) * scale));
  let i = Math.max(first, upperBound(memoryTime, first, count, from) - 1);
  let live = kase.live[i];
  let column = Math.round((memoryTime[i] - from) * perNs);
  for (let x = 0; x < stop; ++x) {
    let highest = live;
    for (; i < first + count && column <= x; column = Math.round((memoryTime[i] - from) * perNs)) {
      live = kase.live[i++];
      if (live > highest || column < x) highest = live;
    }
    tops[x] = Math.max(0, level(highest));
  }
  return tops;
}
