// npm run stop: ends the `npm run dev` of this folder, wherever its terminal is.
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { answerHelp, refuseUsage } from '../answer-usage.mjs';
import { readRunningPid } from '../process-identity.mjs';

const HELP = `npm run stop: ends every \`npm run dev\` of this folder, and waits until it has ended.

  TOLLGATE_STATE_DIR  the folder where their dev.json is (default: .tollgate)

Example: npm run stop
`;

const args = process.argv.slice(2);
answerHelp(args, HELP);
if (args.length > 0) refuseUsage(`npm run stop takes no ${args.join(' ')}.`, HELP);

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const folder = resolve(process.env.TOLLGATE_STATE_DIR || join(root, '.tollgate'));
const others = existsSync(folder) ? readdirSync(folder).filter((name) => /^dev-\d+$/.test(name)) : [];
const pidFiles = [folder, ...others.map((name) => join(folder, name))].map((path) => join(path, 'dev.pid'));

let stopped = 0;
for (const file of pidFiles) {
  if (!existsSync(file)) continue;
  const pid = readRunningPid(file);
  if (pid === undefined) continue;
  process.kill(pid, 'SIGTERM');
  // It removes the file when all its processes have ended.
  for (let waited = 0; existsSync(file) && waited < 60_000; waited += 100) await sleep(100);
  process.stdout.write(existsSync(file) ? `process ${pid} does not stop\n` : `stopped process ${pid}\n`);
  if (!existsSync(file)) stopped++;
}
if (stopped === 0) process.stdout.write(`no npm run dev runs in ${folder}\n`);
