// Runs the test program in the page, then in a worker, and reports both.
import { failure } from './host.mjs';

const report = (name, why) => fetch(`/${name}`, { method: 'POST', body: why ?? '' });

const inWorker = () =>
  new Promise((resolve) => {
    const worker = new Worker('/worker.mjs', { type: 'module' });
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => resolve(`the worker did not start: ${message}`);
  });

const program = await (await fetch('/program.wasm')).arrayBuffer();
await report('page', await failure(program));
await report('worker', await inWorker());
