// The page on a class that `grade FOLDER` leaves, at the width of a screen and of a phone.

import assert from 'node:assert/strict';
import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {after, before, test} from 'node:test';

import {Browser, picture} from './browser.js';
import {Learner, readFileSync} from './runs.js';

const LONG = 'wolfeschlegelsteinhausenbergerdorff-of-the-north';

let browser, learner, url;

/** A student's file of puzzle 01. */
function handIn(student, text) {
  mkdirSync(join(learner.folder, 'class', student), {recursive: true});
  writeFileSync(join(learner.folder, 'class', student, '01.cpp'), text);
}

before(async () => {
  browser = await Browser.start();
  learner = new Learner();
  const solution = readFileSync(join(learner.folder, 'solutions/01_training_step/solution.cpp'), 'utf8');
  handIn(LONG, solution);
  handIn('ada', solution);
  handIn('ben', solution.replace('batch.tokens_of_step()', '1'));
  handIn('cleo', 'this is no C++');
  handIn('dan', readFileSync(join(learner.folder, 'puzzles/01_training_step/puzzle.cpp'), 'utf8'));
  mkdirSync(join(learner.folder, 'class', 'eve'));
  learner.command(['grade', 'class', '--trust', '--puzzles', '01-12', '-j', '2']);
  url = `file://${learner.path('class.graded/class.html')}`;
});

after(async () => {
  await browser?.stop();
  learner?.remove();
});

for (const [width, scheme] of [[1280, 'light'], [1280, 'dark'], [400, 'light'], [400, 'dark']]) {
  test(`fits ${width} in ${scheme}, and breaks no rule of axe-core`, async () => {
    const page = await browser.context.newPage();
    await page.setViewportSize({width, height: 800});
    await page.emulateMedia({colorScheme: scheme});
    await page.goto(url);
    await picture(page, `class-${width}-${scheme}`, false);
    const measured = await page.evaluate(() => {
      document.querySelectorAll('details').forEach((fold) => { fold.open = true; });
      const name = [...document.querySelectorAll('th[scope=row]')].at(-1).getBoundingClientRect();
      const whole = document.querySelector('.whole');
      whole.scrollLeft = 200;
      return {overflow: document.documentElement.scrollWidth - window.innerWidth, name: name.width,
        stays: document.querySelector('th[scope=row]').getBoundingClientRect().left - whole.getBoundingClientRect().left};
    });
    assert.ok(measured.overflow <= 0, `${measured.overflow} pixels too wide`);
    assert.ok(measured.name <= Math.max(0.4 * width, 160), `the column of names has ${measured.name} of ${width} pixels`);
    assert.ok(Math.abs(measured.stays) < 2, 'names stay where they are while the table moves');
    await page.evaluate(readFileSync(new URL('./node_modules/axe-core/axe.min.js', import.meta.url), 'utf8'));
    const broken = await page.evaluate(async () => (await axe.run()).violations.map((rule) =>
      `${rule.id}: ${rule.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(' | ')}`));
    assert.deepEqual(broken, []);
    await page.close();
  });
}

test('says what its signs mean, whose files are alike, and names no mistake that is none', async () => {
  const page = await browser.context.newPage();
  await page.goto(url);
  const text = await page.locator('body').innerText();
  for (const words of ['nothing was handed in', 'not judged: no points', `01_training_step: ada, ${LONG}`]) {
    assert.ok(text.includes(words), words);
  }
  assert.ok(!text.includes('What stopped the cases before it'));
  assert.equal(await page.locator(`th[title="${LONG}"]`).count(), 1, 'a name that is cut is whole under a pointer');
  assert.ok(await page.locator('figure a[href^="kept/"]').count() > 0, 'timelines can be opened');
  await page.close();
});
