/** Writes the tables of `docs/interop.md` from the cells that `npm run test:interop` proves; `--check` only compares. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { WORDINGS } from '../../packages/client/test/paid-tools.js';
import {
  ALTERED_ACCEPTANCES,
  ALTERED_PAYMENTS,
  ALTERED_PERMITS,
  ALTERED_TERMS,
  CLIENTS,
  comesThrough,
  COMING_BACK,
  FAULTS,
  MPP_CLIENTS,
  MPP_ROUTES,
  paysByScheme,
  paysServer,
  PROTOCOL_CLIENTS,
  SERVERS,
  TRIED_SALES,
  USES,
  type Cell,
  type Fault,
  type Refusal,
} from '../../test/interop/matrix.js';
import { fillIn, ROOT, writeGenerated } from './generated-files.js';

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

/** Rows that differ in their first cell alone become one. */
function joinRows(rows: string[][]): string[][] {
  const joined = new Map<string, string[]>();
  for (const [name = '', ...cells] of rows) {
    const [names] = joined.get(cells.join()) ?? [];
    joined.set(cells.join(), [names === undefined ? name : `${names}; ${name}`, ...cells]);
  }
  return [...joined.values()];
}

const turn = (rows: string[][]): string[][] => (rows[0] ?? []).map((_, column) => rows.map((row) => row[column] ?? ''));

/** Rows and columns that say the same are one. */
function table(head: string[], rows: string[][]): string {
  const [names = [], ...cells] = turn(joinRows(turn([head, ...joinRows(rows)])));
  return [names, names.map(() => '---'), ...cells].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

/** Each middleware that is tried, once. */
const triedServers = [...new Set(TRIED_SALES.map(({ server }) => server))];

function createFaults(): string {
  return table(
    ['what happens', 'the gateway', ...triedServers.map(({ packageName }) => nameOf(packageName))],
    (Object.keys(FAULTS) as Fault[]).map((fault) => [
      FAULTS[fault],
      'yes',
      ...triedServers.map((server) => show(comesThrough(server, fault))),
    ]),
  );
}

function createUses(): string {
  return table(
    ['a payment that is', 'the gateway', 'the same middlewares'],
    Object.entries(USES).map(([use, text]) => [text, 'yes', use === 'asHash' ? '' : 'yes']),
  );
}

/** The alterations of each group, in one sentence: `docs/errors.md` says what each code means. */
function createRefusals(): string {
  const rows = (where: string, refusals: Readonly<Record<string, Refusal>>) => [
    where,
    Object.keys(refusals).join('; '),
    [...new Set(Object.values(refusals).map(({ failure }) => `\`${failure}\``))].join(', '),
  ];
  return table(
    ['in', 'was altered', 'refused as'],
    [
      rows('the challenge', ALTERED_TERMS),
      rows('the payment', ALTERED_PAYMENTS),
      rows('an `upto` permit', ALTERED_PERMITS),
      rows('`accepted` of x402 version 2', ALTERED_ACCEPTANCES),
    ],
  );
}

function createTrouble(): string {
  const clients = PROTOCOL_CLIENTS.map(({ packageName }) => nameOf(packageName)).join(', ');
  return [
    '### Faults and attacks',
    `Tested at the gateway with ${clients}, and at the middlewares with the first two. Permit2 is tested with ` +
      `${nameOf('@x402/fetch')}. A request that is answered 409 or 503, or not at all, is repeated. ` +
      '`yes`: the payer is charged once and gets its answer.',
    createFaults(),
    'To get a lost answer again, a client of x402 version 1 must have sent an `Idempotency-Key`, to `@tollgate/middleware` too; the other ' +
      'clients send the reference back, which has the same effect. In every `no` of this table the payer is still charged only once.',
    'What a valid payment buys:',
    createUses(),
    'A third party cannot submit an `upto` permit: only the facilitator that the payer named in it may send it.',
    'A challenge or payment that was altered between client and gateway is refused. Nothing is charged, and the upstream is not asked. ' +
      'Each alteration is tested with its own code; by MPP it is often `unknown_reference` or `not_bound`:',
    createRefusals(),
  ].join('\n\n');
}

function createSchemes(): string {
  const columns = ['`exact` by Permit2', '`upto`'];
  return [
    '### By permits and extensions',
    'The other schemes of x402 version 2, at the same middlewares; `upto` also at a metered route of the gateway:',
    table(
      ['client', ...columns],
      CLIENTS.map((client) => [nameOf(client.packageName), show(paysByScheme(client)), show(paysByScheme(client))]),
    ),
    `At the gateway, with ${nameOf('@x402/extensions')}:`,
    table(
      [
        'client',
        '`payment-identifier`: a second signature is not charged again',
        '`sign-in-with-x`: comes back without paying',
      ],
      COMING_BACK.map(({ packageName, cell }) => [nameOf(packageName), 'yes', show(cell)]),
    ),
  ].join('\n\n');
}

function createMpp(): string {
  const version = dependencies['mppx'] ?? '';
  return [
    '### The published MPP server',
    `\`mppx\` ${version} with the gateway as its facilitator. As it ships it asks for an EVM charge by x402 version 2 too, which our clients prefer; ` +
      'without the transport of its method it asks by MPP alone. It settles before its handler runs, so the payer is charged although the handler fails.',
    table(
      ['server', 'asks by', ...MPP_CLIENTS.map(({ packageName }) => nameOf(packageName)), '`@tollgate/client/mcp`'],
      [
        ...MPP_ROUTES.map(({ packageName, asks }) => [`\`${packageName}\``, asks, ...MPP_CLIENTS.map(() => 'yes'), '']),
        ['`mppx`, MCP', 'MPP', ...MPP_CLIENTS.map(() => ''), 'yes'],
      ],
    ),
    'Our clients also pay the gateway by MPP alone: by a signature, or by a transfer of a wallet that cannot sign.',
  ].join('\n\n');
}

function createTools(): string {
  return [
    '### Tools of MCP servers',
    '`@tollgate/client/mcp` pays MCP servers with the gateway as their facilitator: once, and nothing when the tool fails. Servers ask for a payment in ' +
      'different forms, by x402 unless it is MPP. Each of these is tested:',
    `${WORDINGS.join('; ')}.`,
  ].join('\n\n');
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
    '### Clients that pay the gateway',
    clients,
    '### Server middlewares with the gateway as facilitator, and the clients that pay them',
    servers,
    'If a handler fails, the payer is not charged; that is tested for each `yes`.',
    createSchemes(),
    createMpp(),
    createTools(),
    createTrouble(),
    '### What a package cannot do',
    notes.map((note, index) => `${index + 1}. It ${note}.`).join('\n'),
  ].join('\n\n');
}

const page = join(ROOT, 'docs/interop.md');
writeGenerated({ [page]: fillIn(page, 'interop', createTables()) }, 'docs:interop');
