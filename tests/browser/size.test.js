// A run of 64 ranks with 5,000 events each: how long it takes to make its page, to open it, to point and to zoom. The
// figures are printed; nothing here fails because a machine is slow.

import assert from 'node:assert/strict';
import {statSync} from 'node:fs';
import {test} from 'node:test';

import {Browser, picture, settle} from './browser.js';
import {Learner, largeRun, readFileSync, timed, writeFileSync} from './runs.js';

const RANKS = 64;
const EVENTS = 5000;

/** Milliseconds from an action in the page to the end of the frame that shows it; the most of several. */
async function slowest(page, action, times) {
  return page.evaluate(async ([text, count]) => {
    const act = new Function('n', text);
    let most = 0;
    for (let n = 0; n < count; ++n) {
      const begin = performance.now();
      act(n);
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      most = Math.max(most, performance.now() - begin);
    }
    return most;
  }, [action, times]);
}

test('320,000 events', async (context) => {
  const learner = new Learner();
  const browser = await Browser.start();
  try {
    learner.run('09_data_parallel');
    learner.command(['view', '09', '--export', learner.path('sample.json')]);
    writeFileSync(learner.path('large.json'), largeRun(readFileSync(learner.path('sample.json'), 'utf8'), RANKS, EVENTS));
    let url = '';
    const made = timed(() => {
      url = learner.view('large', '--run', learner.path('large.json'));
    });
    const size = statSync(learner.path('large.html')).size;

    const begin = performance.now();
    const {page, complaints} = await browser.open(url);
    const opened = performance.now() - begin;
    assert.equal(await page.evaluate(() => timeline.panels[0].kase.columns.begin.length), RANKS * EVENTS);
    await page.locator('#panels').scrollIntoViewIfNeeded();
    await settle(page);
    await picture(page, 'large', false);
    const hover = await slowest(page, `
      const {canvas} = timeline.panels[0];
      const box = canvas.getBoundingClientRect();
      canvas.dispatchEvent(new PointerEvent('pointermove', {clientX: box.left + 100 + 37 * n, clientY: box.top + 40 + 11 * n}));`, 20);
    const zoomIn = await slowest(page, 'timeline.zoom(0.7, timeline.middle())', 20);
    const zoomOut = await slowest(page, 'timeline.zoom(1.4, timeline.middle())', 20);
    const scroll = await slowest(page, 'timeline.panels[0].lanes.scrollTop = 100 * n', 12);
    assert.deepEqual(complaints, []);
    context.diagnostic(`page made in ${made.toFixed(0)} ms (the run file read included), ${(size / 1e6).toFixed(2)} MB`);
    context.diagnostic(`opened in ${opened.toFixed(0)} ms; slowest answer: hover ${hover.toFixed(1)} ms, zoom in `
      + `${zoomIn.toFixed(1)} ms, zoom out ${zoomOut.toFixed(1)} ms, scroll ${scroll.toFixed(1)} ms`);
    await page.close();
  } finally {
    await browser.stop();
    learner.remove();
  }
});
