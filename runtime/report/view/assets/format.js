'use strict';
// Numbers as text. Bytes and times are written as in the terminal's report.

/** "0", "300 ns", "1.25 ms": at most four digits. */
function timeText(ns) {
  if (ns === 0) return '0';
  const units = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];
  const [size, unit] = units.find(([size]) => Math.abs(ns) >= size) || units[3];
  return `${shortNumber(ns / size)} ${unit}`;
}

/** A time of an axis whose neighbours are `step` apart, all in the unit that suits `largest`. */
function axisTime(ns, step, largest) {
  const units = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];
  const [size, unit] = units.find(([size]) => largest >= size) || units[3];
  let digits = 0;
  while (digits < 9 && Math.abs(step / size * 10 ** digits - Math.round(step / size * 10 ** digits)) > 1e-6) ++digits;
  return `${(ns / size).toFixed(digits)} ${unit}`;
}

/** "96 B", "1.5 KiB". */
function bytesText(bytes) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  let value = bytes;
  while (Math.abs(value) >= 1024 && unit + 1 < units.length) {
    value /= 1024;
    ++unit;
  }
  return `${unit === 0 ? value : shortNumber(value)} ${units[unit]}`;
}

/** "1.5 KiB (1536 B)" where something was rounded or scaled. */
function exactBytes(bytes) {
  return bytes < 1024 ? `${bytes} B` : `${bytesText(bytes)} (${bytes} B)`;
}

function countText(count) {
  return count.toLocaleString('en-US');
}

/** "3.2 M", for counts that nobody reads to the last digit. */
function largeCount(count) {
  const units = [[1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M']];
  const unit = units.find(([size]) => count >= size);
  return unit ? `${shortNumber(count / unit[0])} ${unit[1]}` : countText(count);
}

function percentText(share) {
  return `${(100 * share).toFixed(share > 0 && share < 0.0995 ? 1 : 0)} %`;
}

function shortNumber(value) {
  const digits = Math.abs(value) >= 1000 ? 0 : Math.abs(value) >= 100 ? 1 : Math.abs(value) >= 10 ? 2 : 3;
  return String(Number(value.toFixed(digits)));
}

/** An amount with the unit of a check's bound. */
function amountText(value, unit) {
  if (unit === 'bytes') return exactBytes(value);
  if (unit === 'ns') return timeText(value);
  return `${countText(value)} ${unit}`;
}

function plural(count, one) {
  return `${countText(count)} ${one}${count === 1 ? '' : 's'}`;
}
