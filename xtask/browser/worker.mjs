// Runs the test program in a worker.
import { failure } from './host.mjs';

const program = await (await fetch('/program.wasm')).arrayBuffer();
postMessage(await failure(program));
