// npm run check: the scripts `check:<name>` of these names, as many at a time as there are cores; the longest come first.
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';

const waiting = process.argv.slice(2);
const failed = [];

await Promise.all(Array.from({ length: availableParallelism() }, runNext));
if (failed.length > 0) {
  process.stderr.write(`\nFailed: ${failed.map((name) => `npm run check:${name}`).join(', ')}\n`);
  process.exit(1);
}

async function runNext() {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) await runCheck(name);
}

/** Prints the output of one check at once, so that it is not mixed with another's. */
function runCheck(name) {
  const start = Date.now();
  process.stdout.write(`… check:${name}\n`);
  return new Promise((resolve) => {
    const child = spawn('npm', ['run', '--silent', `check:${name}`], { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.on('error', (error) => (output += error.message));
    child.on('close', (code) => {
      const took = `${((Date.now() - start) / 1000).toFixed(1)} s`;
      if (code !== 0) failed.push(name);
      process.stdout.write(`${code === 0 ? '✓' : '✗'} check:${name}  ${took}\n${code === 0 ? '' : output}`);
      resolve();
    });
  });
}
