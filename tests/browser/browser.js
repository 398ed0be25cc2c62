// Chromium without a screen, and pages that notice whatever they should not do.

import {mkdirSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

import {chromium} from 'playwright-core';

import {pictures} from './runs.js';

const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync'];

export class Browser {
  /** `more` are options of Playwright's context. */
  static async start(more = {}) {
    const browser = new Browser();
    browser.profile = mkdtempSync(join(tmpdir(), 'shardlings-profile-'));
    mkdirSync(pictures, {recursive: true});
    browser.context = await chromium.launchPersistentContext(browser.profile,
      {executablePath: '/usr/bin/chromium', args: FLAGS, chromiumSandbox: false, viewport: {width: 1280, height: 800}, ...more});
    return browser;
  }

  /** Opens a page and waits until everything is drawn. `complaints` collects requests and messages of the console. */
  async open(url, {width = 1280, height = 800, scheme = 'light'} = {}) {
    const page = await this.context.newPage();
    await page.setViewportSize({width, height});
    await page.emulateMedia({colorScheme: scheme, reducedMotion: 'reduce'});
    const complaints = [];
    page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
    page.on('request', (request) => {
      if (request.url() !== url && !request.url().startsWith('data:')) complaints.push(`request: ${request.url()}`);
    });
    await page.goto(url);
    await page.waitForSelector('body[data-ready]', {state: 'attached'});
    await settle(page);
    return {page, complaints};
  }

  /** Opens a page that is never finished, as it follows what happens; it may ask its own server. */
  async openLive(url) {
    const page = await this.context.newPage();
    await page.emulateMedia({colorScheme: 'light', reducedMotion: 'reduce'});
    const complaints = [];
    page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
    page.on('request', (request) => {
      if (!request.url().startsWith(url) && !request.url().startsWith('data:')) complaints.push(`request: ${request.url()}`);
    });
    await page.goto(url);
    return {page, complaints};
  }

  async stop() {
    await this.context.close();
    rmSync(this.profile, {recursive: true, force: true});
  }
}

/** Waits for two frames, so that what was asked for is drawn. */
export async function settle(page) {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

export async function picture(page, name, fullPage = true) {
  await page.screenshot({path: join(pictures, `${name}.png`), fullPage});
}

/** Where an event is on the screen: {x, y}. `wanted` is run in the page with the case and the event's index. */
export async function placeOfEvent(page, wanted, panel = 0) {
  return page.evaluate(([text, number]) => {
    const accepts = new Function('kase', 'i', `return ${text}`);
    const shown = timeline.panels[number];
    const {kase, layout} = shown;
    for (const row of layout.rows) {
      if (row.kind !== 'lane') continue;
      const [first, count] = row.lane.events;
      for (let i = first; i < first + count; ++i) {
        if (!accepts(kase, i)) continue;
        const box = shown.canvas.getBoundingClientRect();
        const scale = timeline.scaleOf(shown);
        const x = scale.x(kase.columns.begin[i] + kase.columns.duration[i] / 2);
        return {x: box.left + x, y: box.top + row.y - shown.lanes.scrollTop + (kase.columns.row[i] + 0.5) * row.height / row.lane.rows};
      }
    }
    return null;
  }, [wanted, panel]);
}
