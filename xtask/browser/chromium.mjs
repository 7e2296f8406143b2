// Runs a test program in a page of Chromium and in a worker of that page: `node chromium.mjs
// PROGRAM.wasm`. The page is served from the loopback.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { argv, exit, getuid } from 'node:process';

const PATIENCE_MS = 120_000;
const HERE = new URL('.', import.meta.url);

const script = async (name) => ['text/javascript', await readFile(new URL(name, HERE))];
const files = {
  '/': ['text/html', '<!doctype html><title>clockscope</title><script type="module" src="/page.mjs"></script>'],
  '/page.mjs': await script('page.mjs'),
  '/worker.mjs': await script('worker.mjs'),
  '/host.mjs': await script('host.mjs'),
  '/program.wasm': ['application/wasm', await readFile(argv[2])],
};

const reports = new Map();
const answer = async (request, response) => {
  if (request.method === 'POST') {
    reports.set(request.url.slice(1), (await request.toArray()).join(''));
    response.end();
    if (reports.size === 2) server.emit('reported');
    return;
  }
  const [type, content] = files[request.url] ?? [];
  response.writeHead(type ? 200 : 404, type && { 'content-type': type }).end(content);
};
const server = createServer(answer).listen(0, '127.0.0.1');
await once(server, 'listening');

const folder = await mkdtemp(join(tmpdir(), 'clockscope-chromium-'));
const flags = ['--headless', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', `--user-data-dir=${folder}`];
if (getuid() === 0) flags.push('--no-sandbox');
const browser = spawn('chromium', [...flags, `http://127.0.0.1:${server.address().port}/`], { stdio: 'ignore' });
const ended = once(browser, 'exit').catch(() => undefined);
const reported = once(server, 'reported').then(() => 'reported');
const timeout = new Promise((resolve) => setTimeout(resolve, PATIENCE_MS, 'timeout').unref());
await Promise.race([reported, ended, timeout]);
browser.kill();
await ended;
await rm(folder, { recursive: true, force: true, maxRetries: 5 });

let code = 0;
for (const context of ['page', 'worker']) {
  const why = reports.has(context) ? reports.get(context) : 'it reported nothing';
  console.log(why ? `in a ${context} of Chromium: ${why}` : `every test passed in a ${context} of Chromium`);
  if (why) code = 1;
}
exit(code);
