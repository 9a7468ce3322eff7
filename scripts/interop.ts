/** Writes the tables of `docs/interop.md` from the cells that `npm run test:interop` proves; `--check` only compares. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { CLIENTS, paysServer, SERVERS, type Cell } from '../test/interop/matrix.js';

const ROOT = join(import.meta.dirname, '..');
const PAGE = 'docs/interop.md';
const BEGIN = '<!-- interop:begin (npm run docs:interop) -->';
const END = '<!-- interop:end -->';

const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'test/interop/package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
};

/** Numbered as they are first met. */
const notes: string[] = [];

function show(cell: Cell): string {
  if (cell === 'works') return 'yes';
  if (!notes.includes(cell.cannot)) notes.push(cell.cannot);
  return `no [${notes.indexOf(cell.cannot) + 1}]`;
}

function nameOf(packageName: string): string {
  const version = dependencies[packageName];
  return `\`${packageName}\`${version === undefined ? '' : ` ${version}`}`;
}

function table(head: string[], rows: string[][]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function createTables(): string {
  const clients = table(
    ['client', 'protocol', 'pays in', 'the default challenge', '`CHALLENGE_FORM=v1-clients`'],
    CLIENTS.map(({ packageName, protocol, paysIn, gateway }) => [
      nameOf(packageName),
      protocol,
      `\`${paysIn}\``,
      show(gateway.documented),
      show(gateway['v1-clients']),
    ]),
  );
  const servers = table(
    ['middleware', 'takes', ...CLIENTS.map(({ packageName }) => nameOf(packageName))],
    SERVERS.map((server) => [
      nameOf(server.packageName),
      server.protocols.join(', '),
      ...CLIENTS.map((client) => show(paysServer(client, server))),
    ]),
  );
  return [
    '### Who pays the gateway',
    clients,
    '### Which middlewares can have us as their facilitator, and who pays them',
    servers,
    'A handler that fails is charged to nobody: tested for each `yes`.',
    '### What a package cannot do',
    notes.map((note, index) => `${index + 1}. It ${note}.`).join('\n'),
  ].join('\n\n');
}

const path = join(ROOT, PAGE);
const page = readFileSync(path, 'utf8');
const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
if (begin < 0 || end < begin) throw new Error(`${PAGE} lacks its markers ${BEGIN} and ${END}.`);
const inner = `\n\n<!-- prettier-ignore-start -->\n\n${createTables()}\n\n<!-- prettier-ignore-end -->\n\n`;
const wanted = page.slice(0, begin + BEGIN.length) + inner + page.slice(end);
if (wanted !== page) {
  if (process.argv.includes('--check')) {
    console.error(`${PAGE} does not tell what test/interop proves. Run: npm run docs:interop`);
    process.exit(1);
  }
  writeFileSync(path, wanted);
}
