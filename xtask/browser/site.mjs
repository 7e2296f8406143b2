// Opens each page of the documentation's site in Chromium, as files, and checks what readers get:
// `node site.mjs PACKAGES PROGRAM SITE`. PACKAGES is the folder in which xtask/fetch-browsers.sh has
// put puppeteer-core and axe-core.
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { argv, exit, getuid } from 'node:process';
import { pathToFileURL } from 'node:url';

const [packages, program, site, pictures] = argv.slice(2);
const require = createRequire(join(resolve(packages), 'packages.js'));
const puppeteer = require('puppeteer-core');
const axe = require('axe-core');

const WIDTHS = [360, 800, 1440];
const SCHEMES = ['light', 'dark'];
// Themes differ in colors alone: of the dark one, each eighth page is checked.
const OF_DARK = 8;
const PATIENCE_MS = 600_000;
const AXE = { resultTypes: ['violations'] };
// Words that readers have, and the page that answers.
const SEARCHES = [
  ['Switched to clocksource hpet', 'symptoms/tsc-unstable.html'],
  ['clock_gettime costs 600 ns', 'symptoms/slow-clock-gettime.html'],
  ['negative duration', 'symptoms/negative-durations.html'],
];

const wrong = [];
const report = (page, what) => wrong.push(`${page}: ${what}`);

const listed = await readdir(site, { recursive: true });
// The first is what a server shows of missing pages, the second a part of all.
const files = listed.filter((file) => file.endsWith('.html') && !['404.html', 'toc.html'].includes(file)).sort();
const root = pathToFileURL(resolve(site)).href;
const folder = await mkdtemp(join(tmpdir(), 'clockscope-site-'));

const evaluateAxe = async (page, name) => {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate((options) => globalThis.axe.run(document, options), AXE);
  for (const { id, help, nodes } of violations) report(name, `axe: ${id}: ${help}: ${nodes[0].html.slice(0, 200)}`);
};

const checkWidths = async (page, name, scheme, file) => {
  for (const width of WIDTHS) {
    await page.setViewport({ width, height: 900 });
    const [whole, visible] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
    if (whole > visible) report(name, `${whole} wide where ${visible} are visible`);
    if (pictures) await page.screenshot({ path: join(pictures, `${file.replaceAll('/', '-')}-${scheme}-${width}.png`) });
  }
};

const checkSearch = async (page) => {
  for (const [words, expected] of SEARCHES) {
    await page.goto(`${root}/start/install.html?search=${encodeURIComponent(words)}`, { timeout: PATIENCE_MS });
    await page.waitForSelector('#mdbook-searchresults li a, #searchresults li a', { timeout: 30_000 }).catch(() => {});
    const found = await page.$$eval('#mdbook-searchresults li a, #searchresults li a', (links) => links.slice(0, 5).map((link) => link.href));
    if (!found.some((link) => link.includes(expected))) report('search', `"${words}" finds ${found.map((link) => relative(root, link))}, not ${expected}`);
  }
};

for (const scheme of SCHEMES) {
  const browser = await puppeteer.launch({
    browser: 'chrome',
    executablePath: program,
    headless: true,
    timeout: PATIENCE_MS,
    protocolTimeout: PATIENCE_MS,
    userDataDir: join(folder, scheme),
    args: ['--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', '--allow-file-access-from-files', ...(getuid() === 0 ? ['--no-sandbox'] : [])],
  });
  const page = await browser.newPage();
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  let name = '';
  page.on('pageerror', (error) => report(name, `error: ${error.message}`));
  page.on('request', (request) => { if (!request.url().startsWith(root) && !request.url().startsWith('data:')) report(name, `request: ${request.url()}`); });
  for (const file of files.filter((_, index) => scheme === 'light' || pictures || index % OF_DARK === 0)) {
    name = `${file} (${scheme})`;
    await page.goto(`${root}/${file}`, { waitUntil: 'load', timeout: PATIENCE_MS });
    await checkWidths(page, name, scheme, file);
    await evaluateAxe(page, name);
  }
  name = 'search';
  if (scheme === 'light') await checkSearch(page);
  await browser.close();
}
await rm(folder, { recursive: true, force: true, maxRetries: 5 });
for (const what of wrong) console.log(what);
if (wrong.length === 0) console.log(`   ${files.length} pages, each ${OF_DARK}th also dark, at ${WIDTHS.join(', ')} pixels`);
exit(wrong.length === 0 && files.length > 50 ? 0 : 1);
