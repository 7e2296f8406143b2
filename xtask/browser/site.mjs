// Opens all pages of the documentation's site in Chromium, or each eighth, as files, and checks what
// readers get: `node site.mjs PACKAGES PROGRAM SITE all|some [PICTURES]`. PACKAGES is the folder in
// which xtask/fetch-browsers.sh has put puppeteer-core and axe-core.
import { readdir } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { argv } from 'node:process';
import { pathToFileURL } from 'node:url';

import { PATIENCE_MS, SCHEMES, prepare } from './checks.mjs';

const [packages, program, site, extent, pictures] = argv.slice(2);
const { report, launch, evaluateAxe, checkWidth, finish } = await prepare(packages, 'site');

const WIDTHS = [360, 800, 1440];
// Themes differ in colors alone, and widths in the layout that all pages share: of the dark one, and
// of the narrowest, each eighth page is checked by axe.
const PAGES_PER_SAMPLE = 8;
// Words that readers have, and the page that answers.
const SEARCHES = [
  ['Switched to clocksource hpet', 'symptoms/slow-clock-gettime.html'],
  ['clock_gettime costs 600 ns', 'symptoms/slow-clock-gettime.html'],
  ['negative duration', 'symptoms/negative-durations.html'],
];

const entries = await readdir(site, { recursive: true, withFileTypes: true });
const listed = entries.filter((entry) => entry.isFile()).map((entry) => relative(site, join(entry.parentPath, entry.name)));
// The first is what a server shows of missing pages, the second a part of all.
const files = listed.filter((file) => file.endsWith('.html') && !['404.html', 'toc.html'].includes(file)).sort();
const isSample = (file) => files.indexOf(file) % PAGES_PER_SAMPLE === 0;
const root = pathToFileURL(resolve(site)).href;

// Opens the page anew at each width: a page decides on loading whether its sidebar is open.
const checkWidths = async (page, name, scheme, file) => {
  for (const width of WIDTHS) {
    await page.setViewport({ width, height: 900 });
    await page.goto(`${root}/${file}`, { waitUntil: 'load', timeout: PATIENCE_MS });
    await checkWidth(page, name);
    // The narrowest has another layout.
    if (width === WIDTHS[0] && isSample(file)) await evaluateAxe(page, name);
    if (pictures) await page.screenshot({ path: join(pictures, `${file.replaceAll('/', '-')}-${scheme}-${width}.png`) });
  }
};

const anchors = new Map();
const links = new Map();
const collectLinks = async (page, file) => {
  const [ids, addresses] = await page.evaluate(() => [
    [...document.querySelectorAll('[id]')].map((element) => element.id),
    [...document.querySelectorAll('a[href]')].map((link) => link.href),
  ]);
  anchors.set(file, new Set(ids));
  links.set(file, new Set(addresses.filter((address) => address.startsWith(`${root}/`))));
};

// Reports links to missing pages and anchors of the site.
const checkLinks = () => {
  for (const [file, addresses] of links) {
    for (const address of addresses) {
      const [target, anchor] = decodeURI(address.slice(root.length + 1)).split('#');
      if (!listed.includes(target)) report(file, `a link to ${target}, which is missing`);
      else if (anchor && anchors.has(target) && !anchors.get(target).has(anchor)) report(file, `a link to ${target}#${anchor}, which is missing`);
    }
  }
};

const checkSearch = async (page, name) => {
  for (const [words, expected] of SEARCHES) {
    await page.goto(`${root}/start/install.html?search=${encodeURIComponent(words)}`, { timeout: PATIENCE_MS });
    await page.waitForSelector('#mdbook-searchresults li a, #searchresults li a', { timeout: 30_000 }).catch(() => {});
    const found = await page.$$eval('#mdbook-searchresults li a, #searchresults li a', (links) => links.slice(0, 5).map((link) => link.href));
    if (!found.some((link) => link.includes(expected))) report(name, `"${words}" finds ${found.map((link) => relative(root, link))}, not ${expected}`);
  }
  await evaluateAxe(page, name);
};

for (const scheme of SCHEMES) {
  const browser = await launch('chromium', program, scheme, ['--allow-file-access-from-files']);
  const page = await browser.newPage();
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  let name = '';
  page.on('pageerror', (error) => report(name, `error: ${error.message}`));
  page.on('request', (request) => { if (!request.url().startsWith(root) && !request.url().startsWith('data:')) report(name, `request: ${request.url()}`); });
  for (const file of files.filter((file) => (scheme === 'light' && extent === 'all') || pictures || isSample(file))) {
    name = `${file} (${scheme})`;
    await checkWidths(page, name, scheme, file);
    await evaluateAxe(page, name);
    if (scheme === 'light') await collectLinks(page, file);
  }
  name = `search (${scheme})`;
  await checkSearch(page, name);
  await browser.close();
}
checkLinks();
const inLight = extent === 'all' ? 'all' : `each ${PAGES_PER_SAMPLE}th`;
await finish(files.length > 50, `of ${files.length} pages, ${inLight} light and each ${PAGES_PER_SAMPLE}th dark, at ${WIDTHS.join(', ')} pixels`);
