// Browsers, the checks of every page and the list of findings: shared by pages.mjs and site.mjs.
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { exit, getuid } from 'node:process';

export const SCHEMES = ['light', 'dark'];
// A browser beside other programs takes long to start. What hangs still ends.
export const PATIENCE_MS = 600_000;
// Rules of good practice are among them.
const AXE = { resultTypes: ['violations'] };
const CHROMIUM = ['--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', ...(getuid() === 0 ? ['--no-sandbox'] : [])];

// Returns the checks. `packages` is the folder in which xtask/fetch-browsers.sh has put
// puppeteer-core and axe-core, `name` the name of the caller.
export const prepare = async (packages, name) => {
  const require = createRequire(join(resolve(packages), 'packages.js'));
  const puppeteer = require('puppeteer-core');
  const axe = require('axe-core');
  // Profiles of the browsers; the caller may add files.
  const folder = await mkdtemp(join(tmpdir(), `clockscope-${name}-`));
  const findings = [];
  const report = (page, finding) => findings.push(`${page}: ${finding}`);

  // Starts chromium or firefox.
  const launch = (browserName, program, scheme, options = []) => puppeteer.launch({
    browser: browserName === 'firefox' ? 'firefox' : 'chrome',
    executablePath: program,
    headless: true,
    timeout: PATIENCE_MS,
    protocolTimeout: PATIENCE_MS,
    userDataDir: join(folder, scheme),
    args: browserName === 'firefox' ? options : [...CHROMIUM, ...options],
    extraPrefsFirefox: { 'layout.css.prefers-color-scheme.content-override': scheme === 'dark' ? 0 : 1 },
  });

  // Reports what axe-core finds.
  const evaluateAxe = async (page, pageName) => {
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate((options) => globalThis.axe.run(document, options), AXE);
    for (const { id, help, nodes } of violations) report(pageName, `axe: ${id}: ${help}: ${nodes[0].html.slice(0, 200)}`);
  };

  // Reports a page that is wider than the window.
  const checkWidth = async (page, pageName) => {
    const [whole, visible] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
    if (whole > visible) report(pageName, `${whole} wide where ${visible} are visible`);
  };

  // Prints the findings, or the summary if there are none, and exits.
  const finish = async (hasRun, summary) => {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    for (const finding of findings) console.log(finding);
    if (findings.length === 0) console.log(hasRun ? `   ${summary}` : 'too little was checked');
    exit(findings.length === 0 && hasRun ? 0 : 1);
  };

  return { folder, report, launch, evaluateAxe, checkWidth, finish };
};
