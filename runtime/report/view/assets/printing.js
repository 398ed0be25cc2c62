'use strict';
// A printed page, or one saved as PDF, shows everything: no part of it can be scrolled there.

let openedForPrint = [];

function preparePrint() {
  openedForPrint = [...document.querySelectorAll('main details:not([open])')];
  for (const details of openedForPrint) details.open = true;
  document.documentElement.classList.add('print');
  forgetColours();
  shown.rows = Infinity;
  showTable();
  timeline.printing = true;
  timeline.arrange();
  timeline.drawNow();
  chart.showAlways();
}

function endPrint() {
  for (const details of openedForPrint) details.open = false;
  openedForPrint = [];
  document.documentElement.classList.remove('print');
  forgetColours();
  shown.rows = ROWS_AT_ONCE;
  timeline.printing = false;
  timeline.arrange();
  showMemory();
}

function listenToPrinting() {
  window.addEventListener('beforeprint', preparePrint);
  window.addEventListener('afterprint', endPrint);
}
