// Runs a test program in Node.js: `node node.mjs [--without-performance] PROGRAM.wasm`.
import { readFile } from 'node:fs/promises';
import { argv, exit } from 'node:process';
import { failure } from './host.mjs';

const option = '--without-performance';
const scope = argv.includes(option) ? {} : globalThis;
const [program] = argv.slice(2).filter((argument) => argument !== option);
const why = await failure(await readFile(program), scope);
console.log(why ?? `every test passed in Node.js ${process.version}`);
exit(why === undefined ? 0 : 1);
