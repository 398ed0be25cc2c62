// The page of a solved run, a failed one, two of them, one that ended early, and one that never ran.

import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';

import {Browser, picture, placeOfEvent, settle} from './browser.js';
import {Learner, readFileSync, writeFileSync} from './runs.js';

const PUZZLE = '09_data_parallel';
const SIZES = [{width: 1280, height: 800}, {width: 390, height: 844}];

let browser;
let learner;
const urls = {};

before(async () => {
  learner = new Learner();
  learner.run(PUZZLE, 'waited_at_once');
  urls.failed = learner.view('failed', '09');
  learner.command(['view', '09', '--export', learner.path('failed.json')]);
  learner.run(PUZZLE);
  urls.solved = learner.view('solved', '09');
  urls.compared = learner.view('compared', '09', '--against', 'LAST');
  learner.run(PUZZLE, 'only_rank_0_calls');
  urls.broken = learner.view('broken', '09');
  learner.run('06_ring_all_reduce');
  urls.ring = learner.view('ring', '06');
  learner.run('03_activation_checkpointing');
  urls.single = learner.view('single', '03');
  learner.run('20_one_f_one_b');
  urls.pipeline = learner.view('pipeline', '20');
  learner.run('20_one_f_one_b', 'blocking');
  urls.deadlock = learner.view('deadlock', '20');
  learner.run('33_three_d_parallel');
  urls.grid = learner.view('grid', '33');
  writeFileSync(learner.path('unbuilt.cpp'), '#include <shardlings/puzzle.h>\nint x = "<script>";\n');
  learner.command(['run', '09', '--file', 'unbuilt.cpp'], 1);
  urls.unbuilt = learner.view('unbuilt', '09');
  browser = await Browser.start();
});

after(async () => {
  await browser?.stop();
  learner?.remove();
});

for (const size of SIZES) {
  for (const name of ['solved', 'failed', 'compared', 'broken', 'ring', 'single', 'unbuilt', 'deadlock', 'grid']) {
    test(`${name} at ${size.width}x${size.height} fetches nothing, complains about nothing, fits`, async () => {
      for (const scheme of ['light', 'dark']) {
        const {page, complaints} = await browser.open(urls[name], {...size, scheme});
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        assert.ok(overflow <= 0, `the page is ${overflow} pixels too wide`);
        await picture(page, `${name}-${size.width}-${scheme}`);
        assert.deepEqual(complaints, []);
        await page.close();
      }
    });
  }

  test(`at ${size.width}x${size.height} a block tells its operation and source line`, async () => {
    const {page, complaints} = await browser.open(urls.solved, size);
    await page.locator('#panels').scrollIntoViewIfNeeded();
    const place = await placeOfEvent(page, 'kase.columns.paint[i] === Paint.backward && kase.columns.layer[i] === 2');
    await page.mouse.move(place.x, place.y);
    await settle(page);
    const tooltip = page.locator('#tooltip');
    assert.match(await tooltip.innerText(), /backward, layer 2/);
    assert.match(await tooltip.innerText(), /solution\.cpp:\d+/);
    assert.match(await tooltip.innerText(), /memory after/);
    assert.match(await page.locator('#event').innerText(), /backward, layer 2/);
    await picture(page, `hover-${size.width}`, false);
    assert.deepEqual(complaints, []);
    await page.close();
  });

  test(`at ${size.width}x${size.height} buttons and keys zoom, a rank can be hidden`, async () => {
    const {page, complaints} = await browser.open(urls.solved, size);
    const view = () => page.evaluate(() => timeline.view);
    const whole = await view();
    await page.click('#zoom-in');
    const half = await view();
    assert.ok(Math.abs((half.to - half.from) / (whole.to - whole.from) - 0.5) < 1e-9);
    await page.click('#zoom-fit');
    assert.deepEqual(await view(), whole);
    const rows = () => page.evaluate(() => timeline.panels[0].layout.rows.map((row) => row.rank));
    assert.deepEqual([...new Set(await rows())], [0], 'all ranks do the same, and are one row');
    await page.click('#fold-ranks');
    assert.ok((await rows()).includes(1));
    await page.click('#rank-summary');
    await page.click('#ranks button >> nth=1');
    assert.ok(!(await rows()).includes(1));
    assert.equal(await page.locator('#ranks button >> nth=1').getAttribute('aria-pressed'), 'false');
    assert.match(await page.locator('#rank-summary').innerText(), /3 of 4/);
    assert.deepEqual(complaints, []);
    await page.close();
  });
}

test('the keyboard goes from event to event and says where it is', async () => {
  const {page} = await browser.open(urls.solved);
  await page.locator('#panels canvas').first().focus();
  await page.keyboard.press('ArrowRight');
  assert.match(await page.locator('#event').innerText(), /^clone/, 'what takes no time is an event, too');
  await page.keyboard.press('ArrowRight');
  assert.match(await page.locator('#event').innerText(), /forward, layer 0/);
  await page.keyboard.press('ArrowRight');
  assert.match(await page.locator('#event').innerText(), /forward, layer 1/);
  await page.keyboard.press('ArrowDown');
  assert.match(await page.locator('#event').innerText(), /all_reduce/);
  await page.keyboard.press('+');
  const {from, to} = await page.evaluate(() => timeline.view);
  const begin = await page.evaluate(() => timeline.panels[0].kase.columns.begin[timeline.panels[0].marked.i]);
  assert.ok(from <= begin && begin <= to, 'zooming keeps the event in view');
  await page.keyboard.press('0');
  await page.keyboard.press('Escape');
  assert.match(await page.locator('#event').innerText(), /Point at a block/);
  await page.close();
});

test('a drag zooms into what it spans, ctrl and wheel around the pointer', async () => {
  const {page} = await browser.open(urls.solved);
  await page.locator('#panels').scrollIntoViewIfNeeded();
  const box = await page.locator('#panels canvas').first().boundingBox();
  await page.mouse.move(box.x + 300, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + 600, box.y + 60, {steps: 4});
  await page.mouse.up();
  const {from, to, end} = await page.evaluate(() => ({...timeline.view, end: timeline.end}));
  assert.ok(from > 0 && to < end && to - from < end / 2);
  await page.mouse.move(box.x + 400, box.y + 60);
  const at = await page.evaluate(() => timeline.scaleOf(timeline.panels[0]).time(400));
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -200);
  await page.keyboard.up('Control');
  await page.waitForFunction((span) => timeline.view.to - timeline.view.from < span, (to - from) * 0.9);
  const now = await page.evaluate(() => timeline.scaleOf(timeline.panels[0]).time(400));
  assert.ok(Math.abs(now - at) < (to - from) / 100, 'what is under the pointer stays there');
  await page.close();
});

test('every case can be chosen; the goal stands beside it', async () => {
  const {page, complaints} = await browser.open(urls.failed);
  const buttons = page.locator('#cases button');
  assert.ok(await buttons.count() >= 5);
  for (let i = 0; i < await buttons.count(); ++i) {
    await buttons.nth(i).click();
    await page.waitForFunction((n) => document.querySelectorAll('#cases button')[n].ariaPressed === 'true', i);
    assert.equal(await page.locator('#panels .panel').count(), 2);
    assert.match(await page.locator('#panels').innerText(), /Goal/);
  }
  assert.deepEqual(complaints, []);
  await page.close();
});

test('checks show their formulas and numbers, failed ones why', async () => {
  const {page} = await browser.open(urls.failed);
  const text = await page.locator('#checks').innerText();
  assert.match(text, /2 \(N-1\)\/N x gradients = 2 x 3\/4 x/);
  assert.match(text, /waited for before the next backward/);
  assert.match(text, /solution|waited_at_once\.cpp:\d+/);
  assert.match(await page.locator('#result').innerText(), /Not passed/);
  await page.close();
});

test('the reason stands on top and leads to its block', async () => {
  const {page} = await browser.open(urls.failed);
  const first = page.locator('main > section:visible').first();
  assert.equal(await first.getAttribute('id'), 'reasons');
  assert.match(await first.innerText(), /hidden behind the backward pass[\s\S]*Likely cause: Each all-reduce is waited for/);
  assert.match(await first.innerText(), /reduced\.wait\(\);/, 'the line of the learner');
  await first.getByRole('button', {name: 'Show the block'}).click();
  assert.match(await page.locator('#event').innerText(), /waited_at_once\.cpp:\d+/);
  await page.close();
});

test('the first difference from the goal is told, and what is late is known', async () => {
  const {page} = await browser.open(urls.failed);
  assert.match(await page.locator('#difference').innerText(), /First difference from the goal: rank 0.*than in the goal/s);
  await page.locator('#difference button').click();
  assert.match(await page.locator('#event').innerText(), /compared/);
  assert.ok(await page.evaluate(() => run.cases.get(shown.name).comparison.red.some((red) => red & RED.late)));
  assert.ok(await page.evaluate(() => run.cases.get(shown.name).comparison.red.some((red) => red & RED.exposed)));
  await page.click('#beside button:has-text("Nothing")');
  await page.waitForFunction(() => timeline.panels.length === 1);
  assert.ok(await page.locator('#difference').isHidden());
  await page.close();
  const solved = await browser.open(urls.solved);
  assert.match(await solved.page.locator('#difference').innerText(), /the same as the goal/);
  assert.ok(await solved.page.locator('#reasons').isHidden());
  await solved.page.close();
});

test('the critical path of a pipeline goes through all stages and explains all of the time', async () => {
  const {page} = await browser.open(urls.pipeline);
  const {ranks, time, end} = await page.evaluate(() => {
    const kase = run.cases.get(shown.name);
    const path = criticalPath(kase);
    return {ranks: new Set(path.map(({lane}) => lane.rank)).size, end: kase.end,
      time: path.reduce((sum, {i}) => sum + kase.columns.duration[i], 0)};
  });
  assert.equal(ranks, 4);
  assert.equal(time, end);
  const unmatched = await page.evaluate(() => messagesOf(run.cases.get(shown.name)).filter(({to}) => !to).length);
  assert.equal(unmatched, 0);
  await page.close();
});

test('in a deadlock everybody says what they wait for, and the sums of bytes agree', async () => {
  const {page} = await browser.open(urls.deadlock);
  const told = await page.locator('#stuck li').allInnerTexts();
  assert.equal(told.length, 4);
  assert.match(told[3], /rank 3 waits in send to rank 2, at blocking\.cpp:\d+/);
  const {sent, traffic, memory} = await page.evaluate(() => {
    const kase = run.cases.get(shown.name);
    const [first, count] = kase.memory[0];
    return {sent: kase.totals.sent, traffic: kase.traffic.reduce((sum, part) => sum + part.total, 0),
      memory: kase.live[first + count - 1]};
  });
  assert.equal(sent, traffic);
  assert.ok(memory > 0, 'memory stays as it was when everybody stopped');
  await page.close();
});

test('ranks of a grid have coordinates, and a goal is compared group by group', async () => {
  const {page} = await browser.open(urls.grid);
  assert.match(await page.locator('#memory-rank option').nth(5).textContent(), /^5 \(dp1 \w+0 tp1\)$/);
  const rows = await page.locator('#traffic-table tbody tr').evaluateAll((all) => all.map((row) =>
    [...row.children].map((cell) => cell.textContent)));
  assert.ok(rows.length > 4);
  for (const row of rows) assert.equal(row.at(-1), row.at(-2), `${row[0]} in ${row[1]}`);
  await page.close();
});

test('what is the same on several ranks is one row of a check', async () => {
  const {page} = await browser.open(urls.grid);
  const measured = await page.locator('#checks td:first-child, #checks th[scope=row]').allTextContents();
  assert.ok(measured.includes('sent by rank 0 in group down and up (ranks 0 to 7 alike)'), measured.join('\n'));
  assert.ok(measured.includes('peak memory of ranks 0 and 4, each'), measured.join('\n'));
  assert.equal(new Set(measured).size, measured.length, 'no row stands twice');
  await page.close();
});

test('what is printed is whole', async () => {
  const {page} = await browser.open(urls.grid);
  await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  await page.emulateMedia({media: 'print'});
  const {drawn, needed, cut} = await page.evaluate(() => ({drawn: timeline.panels[0].height, needed: timeline.panels[0].layout.height,
    cut: [...document.querySelectorAll('.scroll')].filter((box) => box.scrollHeight > box.clientHeight + 1).length}));
  assert.equal(drawn, needed);
  assert.equal(cut, 0);
  await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
  await page.close();
});

const AXE = readFileSync(new URL('./node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

for (const name of ['failed', 'solved', 'deadlock', 'grid', 'ring']) {
  test(`${name} breaks no rule of axe-core`, async () => {
    for (const scheme of ['light', 'dark']) {
      const {page} = await browser.open(urls[name], {scheme});
      await page.evaluate(AXE);
      const broken = await page.evaluate(async () => (await axe.run()).violations.map((rule) =>
        `${rule.id}: ${rule.nodes.map((node) => node.html.slice(0, 120)).join(' | ')}`));
      assert.deepEqual(broken, []);
      await page.close();
    }
  });
}

test('two runs are compared', async () => {
  const {page} = await browser.open(urls.compared);
  assert.match(await page.locator('#panels').innerText(), /The run before/);
  const slower = await page.evaluate(() => timeline.panels[1].kase.end > timeline.panels[0].kase.end);
  assert.ok(slower, 'the run before waits for every all-reduce');
  assert.match(await page.locator('#cards').innerText(), /The run before: .* less/);
  await page.click('#beside button:has-text("Goal")');
  await page.waitForFunction(() => timeline.panels[1]?.element.textContent.startsWith('Goal'));
  await page.click('#beside button:has-text("Nothing")');
  await page.waitForFunction(() => timeline.panels.length === 1);
  await page.close();
});

test('memory has its budget, its peak and its source line', async () => {
  const {page} = await browser.open(urls.single);
  assert.match(await page.locator('#memory-text').innerText(), /reached at solution\.cpp:\d+/);
  assert.match(await page.locator('#memory-text').innerText(), /budget/);
  assert.match(await page.locator('#memory-legend').innerText(), /activation/);
  // The chart is made when it comes into sight.
  await page.locator('#memory').scrollIntoViewIfNeeded();
  await page.waitForSelector('#memory-chart canvas');
  await page.close();
});

test('a ring sends to the next rank only', async () => {
  const {page} = await browser.open(urls.ring);
  const filled = await page.evaluate(() => [...document.querySelectorAll('#matrix tbody tr')].map((row) =>
    [...row.querySelectorAll('td')].map((cell) => cell.textContent !== '')));
  assert.deepEqual(filled, [0, 1, 2, 3].map((from) => [0, 1, 2, 3].map((to) => to === (from + 1) % 4)));
  await page.close();
});

test('a run that did not build, or ended early, says why', async () => {
  const unbuilt = await browser.open(urls.unbuilt);
  assert.match(await unbuilt.page.locator('#notice').innerText(), /did not build[\s\S]*unbuilt\.cpp:2/);
  await unbuilt.page.close();
  const broken = await browser.open(urls.broken);
  assert.match(await broken.page.locator('#notice').innerText(), /rank 0/);
  assert.equal(await broken.page.locator('#cards .than').count(), 0, 'it is no better for having ended early');
  await broken.page.close();
});

test('mark-up in what a submission wrote stays text', async () => {
  const evil = '</script><script>window.evil = 1</script><img src=x onerror="window.evil = 2">';
  const run = JSON.parse(readFileSync(learner.path('failed.json'), 'utf8'));
  for (const kase of run.cases) {
    Object.assign(kase, {explanation: evil, stdout: evil, reproduce: evil});
    for (const check of kase.checks) Object.assign(check, {found: evil, expected: evil, diagnosis: evil, details: [evil]});
    for (const {trace, counters} of kase.ranks) {
      trace.names = trace.names.map(() => evil);
      trace.files = trace.files.map(() => evil);
      for (const group of trace.groups) group.name = evil;
      counters.peak_file = evil;
    }
  }
  writeFileSync(learner.path('evil.json'), JSON.stringify(run));
  const {page, complaints} = await browser.open(learner.view('evil', '--run', learner.path('evil.json')));
  assert.equal(await page.evaluate(() => window.evil), undefined);
  assert.equal(await page.locator('img').count(), 0);
  assert.match(await page.locator('#stdout').innerText(), /<script>window\.evil/);
  await page.click('#table-box summary');
  await page.waitForSelector('#event-table td');
  assert.match(await page.locator('#event-table').innerText(), /<script>window\.evil/);
  assert.deepEqual(complaints, []);
  await page.close();
});

test('tables, regions and controls have names for those who do not see them', async () => {
  const {page} = await browser.open(urls.compared);
  const nameless = await page.evaluate(() => [...document.querySelectorAll('button, select, input, canvas[tabindex], [role=region]')]
    .filter((element) => !(element.ariaLabel || element.textContent.trim() || element.labels?.length || element.title))
    .map((element) => element.outerHTML.slice(0, 80)));
  assert.deepEqual(nameless, []);
  const headings = await page.evaluate(() => [...document.querySelectorAll('h1, h2')].map((h) => h.tagName));
  assert.equal(headings.filter((tag) => tag === 'H1').length, 1);
  await page.close();
});
