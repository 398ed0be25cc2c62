// The page of ./shardlings watch --page, while the learner saves.

import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {after, before, test} from 'node:test';

import {Browser, picture} from './browser.js';
import {cpSync, Learner, readFileSync, root} from './runs.js';

const FILE = 'puzzles/01_training_step/puzzle.cpp';

let browser;
let learner;
let watch;
let url;

before(async () => {
  learner = new Learner();
  watch = spawn(`${root}/build/bin/shardlings`, ['watch', '01', '--page'], {cwd: learner.folder, env: learner.environment,
    stdio: ['ignore', 'pipe', 'inherit']});
  url = await new Promise((found) => {
    let text = '';
    watch.stdout.on('data', (part) => {
      text += part;
      const line = /Page: (\S+)\n/.exec(text);
      if (line) found(line[1]);
    });
  });
  browser = await Browser.start();
});

after(async () => {
  await browser?.stop();
  const ended = new Promise((done) => watch.on('exit', done));
  watch.kill('SIGTERM');
  await ended;
  learner?.remove();
});

test('it follows the file, judges predictions, and keeps what was typed', async () => {
  const {page, complaints} = await browser.openLive(url);
  await page.waitForFunction(() => document.getElementById('status').textContent === 'not yet');
  assert.match(await page.locator('#title').innerText(), /01 One training step/);
  assert.match(await page.locator('#lesson').innerText(), /GPT-2/);
  await page.fill('#answer-time', '4ms');
  await page.press('#answer-time', 'Enter');
  await page.waitForFunction(() => /forward alone/.test(document.querySelector('#questions output').textContent));
  await page.fill('#answer-peak', '12');
  await picture(page, 'live-stub', false);

  cpSync(`${root}/solutions/01_training_step/solution.cpp`, `${learner.folder}/${FILE}`);
  await page.waitForFunction(() => document.getElementById('status').textContent === 'passed');
  assert.equal(await page.inputValue('#answer-peak'), '12');
  const frame = page.frameLocator('#frame');
  await frame.locator('#result').filter({hasText: 'Passed'}).waitFor();
  assert.match(await frame.locator('#difference').innerText(), /the same as the goal/);
  const question = page.locator('#questions-after form').first();
  await question.locator('input').fill('1');
  await question.locator('button').click();
  await page.waitForFunction(() => /Too small/.test(document.querySelector('#questions-after output').textContent));
  await picture(page, 'live-passed', false);
  assert.deepEqual(complaints, []);
  await page.close();
});

test('it breaks no rule of axe-core', async () => {
  const {page} = await browser.openLive(url);
  await page.waitForFunction(() => document.getElementById('lesson').textContent !== '');
  await page.evaluate(readFileSync(new URL('./node_modules/axe-core/axe.min.js', import.meta.url), 'utf8'));
  const broken = await page.evaluate(async () => (await axe.run({exclude: ['#frame']})).violations.map((rule) =>
    `${rule.id}: ${rule.nodes.map((node) => node.html.slice(0, 120)).join(' | ')}`));
  assert.deepEqual(broken, []);
  await page.close();
});
