// The web site as the target `site` has left it in build/site: read as files, without a server and without a network.

import assert from 'node:assert/strict';
import {existsSync, readdirSync} from 'node:fs';
import {join, relative} from 'node:path';
import {after, before, test} from 'node:test';
import {fileURLToPath} from 'node:url';

import {Browser, picture} from './browser.js';
import {readFileSync, root} from './runs.js';

const site = join(root, 'build/site');
const url = (address) => `file://${site}/${address}`;
const PAGES = ['index.html', 'start.html', 'chapters/3.html', 'puzzles/09_data_parallel.html', 'puzzles/12_zero2.html',
  'puzzles/33_three_d_parallel.html', 'docs/map.html', 'docs/glossary.html', 'docs/reference/clock.html', 'docs/quiz/post.html',
  'docs/architecture.html', 'api.html', 'search.html?q=bubble'];

let browser;

before(async () => {
  assert.ok(existsSync(join(site, 'index.html')), 'there is no site: cmake --build build --target site');
  browser = await Browser.start();
});

after(async () => browser?.stop());

/** A page and what it asked for that is not of the site. */
async function open(address, options) {
  const {page, complaints} = await browser.open(url(address), options);
  return {page, complaints: complaints.filter((text) => !text.startsWith(`request: file://${site}/`))};
}

/** All own pages of the site, without Doxygen's. */
function ownPages(folder = site) {
  return readdirSync(folder, {withFileTypes: true}).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return path === join(site, 'api') ? [] : ownPages(path);
    return entry.name.endsWith('.html') ? [relative(site, path)] : [];
  });
}

for (const address of PAGES) {
  test(`${address} fits, asks for nothing from outside and breaks no rule of axe-core`, async () => {
    for (const [width, scheme] of [[1280, 'light'], [360, 'dark']]) {
      const {page, complaints} = await open(address, {width, scheme});
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(overflow <= 0, `${overflow} pixels too wide at ${width}`);
      await picture(page, `site-${address.replace(/\W+/g, '-')}-${width}-${scheme}`, false);
      await page.evaluate(() => document.querySelectorAll('details').forEach((fold) => { fold.open = true; }));
      await page.evaluate(readFileSync(new URL('./node_modules/axe-core/axe.min.js', import.meta.url), 'utf8'));
      const broken = await page.evaluate(async () => (await axe.run()).violations.map((rule) =>
        `${rule.id} (${rule.impact}): ${rule.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(' | ')}`));
      assert.deepEqual(broken, [], `at ${width}, ${scheme}`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(wide <= 0, `${wide} pixels too wide at ${width} with all folds open`);
      assert.deepEqual(complaints, []);
      await page.close();
    }
  });
}

test('no page is wider than a phone', async () => {
  for (const address of ownPages()) {
    const {page} = await open(address, {width: 360});
    await page.evaluate(() => document.querySelectorAll('details').forEach((fold) => { fold.open = true; }));
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(overflow <= 0, `${address}: ${overflow} pixels too wide`);
    await page.close();
  }
});

test('every link of every page leads to a file, those of the API too', async () => {
  const page = await browser.context.newPage();
  const dead = new Set();
  for (const address of [...ownPages(), 'api/group_8h.html', 'api/classshardlings_1_1Group.html', 'api/files.html', 'api/annotated.html']) {
    await page.goto(url(address));
    for (const link of await page.evaluate(() => [...document.querySelectorAll('a[href]')].map((a) => a.href))) {
      if (!link.startsWith('file:')) continue;
      const path = fileURLToPath(link.replace(/[?#].*$/, ''));
      if (!existsSync(path)) dead.add(`${address}: ${link}`);
    }
  }
  await page.close();
  assert.deepEqual([...dead], []);
});

/** What search finds: [heading, address] of each. */
async function found(words) {
  const {page, complaints} = await open(`search.html?q=${encodeURIComponent(words)}`);
  const results = await page.evaluate(() => [...document.querySelectorAll('#results a')].map((a) => [a.textContent, a.href]));
  const said = await page.locator('#found').innerText();
  assert.deepEqual(complaints, []);
  await page.close();
  return {results, said};
}

test('search finds words of lessons, of the glossary and of the API', async () => {
  const wanted = {bubble: /puzzles\/19_gpipe/, 'world size': /docs\/glossary\.html#world-size/, ZeRO: /puzzles\/1[123]_zero/, 'all-reduce': /puzzles\/06_ring_all_reduce/,
    all_reduce_async: /api\/classshardlings_1_1Group\.html#/, 'Ψ': /puzzles\//, checkpionting: /checkpoint/};
  for (const [words, address] of Object.entries(wanted)) {
    const {results, said} = await found(words);
    assert.ok(results.some(([, link]) => address.test(link)), `${words}: ${said}, ${results.map(([text]) => text)}`);
    for (const [, link] of results) assert.ok(existsSync(fileURLToPath(link.replace(/#.*$/, ''))), link);
  }
  assert.equal((await found('zzyzx')).said, '0 places');
});

test('search quotes nothing of what a lesson tells after the pass', async () => {
  const {page} = await open('search.html?q=Horovod');
  const quotes = await page.evaluate(() => [...document.querySelectorAll('#results li')]
    .filter((item) => /after the pass/.test(item.querySelector('small')?.textContent))
    .map((item) => item.querySelector('p') !== null));
  assert.ok(quotes.length > 0, 'such places are found');
  assert.ok(!quotes.includes(true), 'and nothing of them is quoted');
  await page.close();
});

test('a slash goes to the search field, and Enter to what it finds', async () => {
  const {page} = await open('docs/map.html');
  await page.keyboard.press('/');
  await page.keyboard.type('ring');
  await page.keyboard.press('Enter');
  await page.waitForSelector('#results li');
  assert.match(page.url(), /search\.html\?q=ring$/);
  await page.close();
});

test('hints open one after another, and a link into the second part opens it', async () => {
  const {page} = await open('puzzles/09_data_parallel.html');
  const summaries = page.locator('.hint > summary');
  assert.equal(await page.locator('.hint > summary:visible').count(), 1);
  await summaries.nth(0).press('Enter');
  assert.equal(await page.locator('.hint > summary:visible').count(), 2);
  assert.ok(!await page.locator('#after-what-it-costs').isVisible());
  await page.evaluate(() => { location.hash = '#after-what-it-costs'; });
  await page.locator('#after-what-it-costs').waitFor();
  await page.close();
});

test('the menu of a phone opens and closes without a script', async () => {
  const unscripted = await Browser.start({javaScriptEnabled: false});
  try {
    const page = await unscripted.context.newPage();
    await page.setViewportSize({width: 360, height: 700});
    await page.goto(url('puzzles/09_data_parallel.html'));
    assert.equal(await page.locator('body[data-ready]').count(), 0, 'a script has run');
    assert.ok(!await page.locator('#navigation').isVisible());
    await page.click('.menu');
    await page.locator('#navigation').waitFor();
    assert.ok(await page.locator('.top .home').isVisible());
    await page.click('.close');
    assert.ok(!await page.locator('#navigation').isVisible());
  } finally {
    await unscripted.stop();
  }
});

test('formulas are MathML in a font that the site brings', async () => {
  const {page} = await open('puzzles/09_data_parallel.html');
  const fonts = await page.evaluate(async () => {
    await document.fonts.ready;
    return [...document.fonts].filter((font) => font.family.includes('Formulas')).map((font) => font.status);
  });
  assert.deepEqual(fonts, ['loaded']);
  assert.ok(await page.locator('math mfrac').count() > 3);
  await page.close();
});

test('a printed lesson shows its text alone', async () => {
  const {page} = await open('puzzles/09_data_parallel.html');
  await page.emulateMedia({media: 'print'});
  for (const hidden of ['.top', '#navigation', '.contents', '.steps']) assert.ok(!await page.locator(hidden).isVisible(), hidden);
  assert.ok(await page.locator('main h1').isVisible());
  await page.pdf({path: join(root, 'build/browser/site-lesson.pdf')});
  await page.close();
});
