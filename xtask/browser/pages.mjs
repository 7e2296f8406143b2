// Opens pages of `--format html` in a browser, as files, and checks what people and their tools
// get: `node pages.mjs PACKAGES chromium|firefox BROWSER some|all CLOCKSCOPE`, from the repository's
// root. PACKAGES is the folder in which xtask/fetch-browsers.sh has put puppeteer-core and axe-core.
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { argv } from 'node:process';
import { pathToFileURL } from 'node:url';

import { PATIENCE_MS, SCHEMES, prepare } from './checks.mjs';
import { render } from './render.mjs';

const [packages, browserName, program, extent, clockscope] = argv.slice(2);
const { folder, report, launch, evaluateAxe, checkWidth, finish } = await prepare(packages, 'pages');
const files = await render(clockscope, folder, extent);

const WIDTHS = [360, 768, 1280, 1920];

// WebDriver BiDi cannot disable scripts: Firefox gets a copy that has none.
const canDisableScript = browserName !== 'firefox';
const withoutScript = async (file) => {
  const page = await readFile(file, 'utf8');
  const copy = join(folder, basename(file));
  const start = page.lastIndexOf('<script>');
  await writeFile(copy, page.slice(0, start) + page.slice(page.indexOf('</script>', start) + '</script>'.length));
  return copy;
};

// Firefox has a font for the markers of lists in its own style sheet. Those of a page are refused by
// its policy, which a message on the console says.
const isOwnFont = (request) => browserName === 'firefox' && request.url().startsWith('data:font/woff2;');

// Opens a file, and watches for whatever a page should not do.
const open = async (browser, file, scheme, hasScript) => {
  const page = await browser.newPage();
  const name = `${basename(file)} (${scheme}${hasScript ? '' : ', without script'})`;
  const url = pathToFileURL(hasScript || canDisableScript ? file : await withoutScript(file)).href;
  page.on('console', (message) => report(name, `console: ${message.text()}`));
  page.on('pageerror', (error) => report(name, `error: ${error.message}`));
  page.on('dialog', (dialog) => { report(name, 'a dialog'); dialog.dismiss(); });
  page.on('request', (request) => { if (request.url() !== url && !isOwnFont(request)) report(name, `request: ${request.url()}`); });
  if (canDisableScript) await page.setJavaScriptEnabled(hasScript);
  if (browserName !== 'firefox') await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  await page.goto(url, { waitUntil: 'load', timeout: PATIENCE_MS });
  return { page, name };
};

// What is on the page, apart from what the script adds.
const inventory = (page) => page.evaluate(() => {
  const count = (what) => document.querySelectorAll(what).length;
  const text = [...document.querySelectorAll('td, dd, li, figcaption, main p:not(.tools)')].map((element) => element.textContent).sort();
  return JSON.stringify([count('table'), count('svg'), count('tr'), text]);
});

const checkWidths = async (page, name) => {
  for (const width of WIDTHS) {
    await page.setViewport({ width, height: 900 });
    await checkWidth(page, name);
  }
};

// The keyboard reaches the switch of the theme and the heads of tables.
const checkScript = async (page, name) => {
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  const theme = await page.evaluate(() => document.documentElement.dataset.theme);
  if (theme !== 'light' && !(await page.evaluate(() => document.activeElement.tagName === 'A'))) report(name, `the first tab stop sets the theme ${theme}`);
  await page.evaluate(() => { delete document.documentElement.dataset.theme; });
  // What is folded has no place for the focus.
  await page.evaluate(() => document.querySelectorAll('details').forEach((fold) => { fold.open = true; }));
  const head = await page.$('thead th button');
  if (!head) return;
  for (const wanted of ['ascending', 'descending']) {
    await head.focus();
    await page.keyboard.press('Enter');
    const [sort, texts] = await head.evaluate((button) => {
      const cell = button.closest('th');
      const rows = [...button.closest('table').tBodies].filter((body) => body.className !== 'group')[0].rows;
      return [cell.getAttribute('aria-sort'), [...rows].map((row) => row.cells[cell.cellIndex].textContent)];
    });
    if (sort !== wanted) report(name, `sorted ${sort} instead of ${wanted}`);
    const first = texts[0].localeCompare(texts[texts.length - 1]);
    if (texts.every((text) => /^[a-z]/.test(text)) && (wanted === 'ascending' ? first > 0 : first < 0)) report(name, `not ${wanted}: ${texts}`);
  }
};

// Cells without a value stay last, however their column is sorted.
const checkUnknown = async (page, name) => {
  const found = await page.evaluate(() => {
    const MOST = 40;
    const isUnknown = (cell) => ['', '?', '-'].includes(cell.textContent.trim());
    const isLast = (rows, column) => {
      const unknown = [...rows].map((row) => isUnknown(row.cells[column]));
      return !unknown.includes(true) || unknown.indexOf(true) > unknown.lastIndexOf(false);
    };
    const columns = [...document.querySelectorAll('thead th button')].map((button) => {
      const column = button.closest('th').cellIndex;
      const bodies = [...button.closest('table').tBodies].filter((body) => body.className !== 'group');
      return { button, column, bodies };
    });
    const mixed = columns.filter(({ column, bodies }) => bodies.some(({ rows }) => {
      const unknown = [...rows].filter((row) => isUnknown(row.cells[column])).length;
      return unknown > 0 && unknown < rows.length;
    }));
    const wrong = [];
    for (const { button, column, bodies } of mixed.slice(0, MOST)) {
      for (let click = 0; click < 2; click += 1) {
        button.click();
        const sort = button.closest('th').getAttribute('aria-sort');
        if (!bodies.every(({ rows }) => isLast(rows, column))) wrong.push(`${button.textContent} ${sort}`);
      }
    }
    return { wrong, count: mixed.length };
  });
  for (const what of found.wrong) report(name, `unknown cells are not last: ${what}`);
  mixedColumns += found.count;
};
let mixedColumns = 0;

// Paper is white, whatever theme was chosen.
const checkPrint = async (page, name) => {
  await page.emulateMediaType('print');
  for (const theme of ['light', 'dark']) {
    await page.evaluate((chosen) => { document.documentElement.dataset.theme = chosen; }, theme);
    const chosen = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    if (chosen !== 'rgb(255, 255, 255)') report(name, `printed on ${chosen} by the theme ${theme}`);
  }
  await page.evaluate(() => { delete document.documentElement.dataset.theme; });
  const color = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  if (color !== 'rgb(255, 255, 255)') report(name, `printed on ${color}`);
  const printed = await page.pdf({ format: 'A4', timeout: PATIENCE_MS });
  if (printed.length < 5000) report(name, `printed in ${printed.length} bytes`);
  await page.emulateMediaType('screen');
};

let checks = 0;
for (const scheme of SCHEMES) {
  const browser = await launch(browserName, program, scheme);
  for (const file of files) {
    const bare = await open(browser, file, scheme, false);
    const without = await inventory(bare.page);
    await checkWidths(bare.page, bare.name);
    await bare.page.close();
    const { page, name } = await open(browser, file, scheme, true);
    if ((await inventory(page)) !== without) report(name, 'the script changes what is on the page');
    await checkWidths(page, name);
    for (const width of scheme === 'light' ? [360, 1280] : [1280]) {
      await page.setViewport({ width, height: 900 });
      await evaluateAxe(page, `${name}, ${width} wide`);
    }
    await checkScript(page, name);
    await checkUnknown(page, name);
    if (browserName !== 'firefox') await checkPrint(page, name);
    await page.close();
    checks += 1;
  }
  await browser.close();
}
if (mixedColumns === 0) report('all pages', 'no column has known and unknown cells: the order of both was not checked');
await finish(checks > 0, `${files.length} pages, light and dark, with and without script, in ${browserName}`);
