// Renders recorded documents and hostile ones as pages, each alone and all of them on one.
import { execFileSync } from 'node:child_process';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

const FIXTURES = 'crates/clockscope-report/tests/fixtures';
// Charts, tables with known and unknown cells, and names that are markup.
const SOME = ['check', 'healthy', 'hostile-healthy'];
// A text that would be markup, a script, or the end of what it is in.
const HOSTILE = '</title></style></script><script>alert(1)</script><img src=x onerror=alert(1)>" onload=\'x\'';
const SPOILED = ['name', 'model', 'reason', 'description'];

// Reads a record, and makes its names and reasons hostile.
const spoiled = async (file) => JSON.stringify(JSON.parse(await readFile(file, 'utf8'), (key, value) => (
  typeof value === 'string' && SPOILED.includes(key) ? `${value} ${HOSTILE} ${'x'.repeat(2000)}` : value)));

// Returns the pages of some or all documents, in `folder`, as `program` (the command) renders them.
export const render = async (program, folder, extent) => {
  let records = (await readdir(FIXTURES)).sort().map((name) => join(FIXTURES, name));
  for (const name of ['healthy', 'steps', 'compare']) {
    const hostile = join(folder, `hostile-${name}.json`);
    const text = await spoiled(join(FIXTURES, `${name}.json`));
    if (!text.includes('onerror=alert')) throw new Error(`${name}.json has no name to spoil`);
    await writeFile(hostile, text);
    records.push(hostile);
  }
  if (extent === 'some') records = records.filter((file) => SOME.includes(basename(file, '.json')));
  if (records.length < SOME.length) throw new Error(`expected records named ${SOME}; there are ${records}`);
  const page = (name, files) => {
    const file = join(folder, `${name}.html`);
    execFileSync(program, ['report', '--format', 'html', '--output', file, ...files], { stdio: 'inherit' });
    return file;
  };
  return [...records.map((file) => page(basename(file, '.json'), [file])), page('all', records)];
};
