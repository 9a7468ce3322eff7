import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';

const RULES = resolve('.dependency-cruiser.cjs');
const DEPCRUISE = resolve('node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
const FOLDERS = ['apps', 'libs', 'packages', 'tools', 'test'];

/** A file of each folder that imports what its rule forbids, and no other rule. A rule of several targets has several. */
const BREAKS: Record<string, { from: string; to: string[] }> = {
  'no-cycles': { from: 'libs/ledger/src/probe-cycle.ts', to: ['libs/ledger/src/probe-round.ts'] },
  'protocol-is-pure': {
    from: 'packages/protocol/src/probe.ts',
    to: ['libs/ledger/src/probe-target.ts', 'packages/client/src/probe-target.ts', 'viem', 'viem/accounts', 'node:fs'],
  },
  'client-stands-on-protocol': { from: 'packages/client/src/probe.ts', to: ['libs/common/src/probe-target.ts'] },
  'middleware-stands-on-protocol': {
    from: 'packages/middleware/src/probe.ts',
    to: [
      'libs/ledger/src/probe-target.ts',
      'packages/client/src/probe-target.ts',
      'packages/agent-kit/src/probe-target.ts',
    ],
  },
  'purchase-knows-ports-alone': {
    from: 'packages/purchase/src/probe.ts',
    to: ['libs/ledger/src/probe-target.ts', 'packages/middleware/src/probe-target.ts', 'ioredis', 'node:http'],
  },
  'services-know-the-purchase-alone': {
    from: 'apps/gateway/src/paywall/probe.ts',
    to: ['packages/middleware/src/probe-target.ts'],
  },
  'agent-kit-stands-on-client-and-protocol': {
    from: 'packages/agent-kit/src/probe.ts',
    to: ['libs/journal/src/probe-target.ts', '@nestjs/common'],
  },
  'only-signing-files-see-private-keys': { from: 'packages/agent-kit/src/plan/probe.ts', to: ['viem/accounts'] },
  'only-the-wallets-of-the-worker-see-private-keys': {
    from: 'apps/agent-worker/src/planning/probe.ts',
    to: ['viem/accounts', 'ox'],
  },
  'crypto-stands-alone': {
    from: 'libs/crypto/src/probe.ts',
    to: ['libs/common/src/probe-target.ts', 'packages/client/src/probe-target.ts', '@nestjs/common'],
  },
  'book-events-are-data': {
    from: 'libs/book-events/src/probe.ts',
    to: ['libs/ledger/src/probe-target.ts', 'packages/client/src/probe-target.ts', 'ioredis', '@nestjs/common'],
  },
  'book-has-no-framework': {
    from: 'libs/book/src/probe.ts',
    to: ['libs/ledger/src/probe-target.ts', 'packages/client/src/probe-target.ts', 'ioredis', '@nestjs/common'],
  },
  'only-the-bookkeeper-opens-the-database': {
    from: 'apps/bookkeeper/src/probe.ts',
    to: ['pg', '@electric-sql/pglite'],
  },
  'settings-know-no-process': {
    from: 'libs/config/src/probe.ts',
    to: ['libs/common/src/probe-target.ts', 'packages/client/src/probe-target.ts', '@nestjs/common'],
  },
  'http-knows-no-subject': {
    from: 'libs/http/src/probe.ts',
    to: ['libs/config/src/probe-target.ts', 'packages/client/src/probe-target.ts', 'bullmq'],
  },
  'transport-knows-no-subject': {
    from: 'libs/transport/src/probe.ts',
    to: ['libs/chain/src/probe-target.ts', 'packages/client/src/probe-target.ts', 'bullmq'],
  },
  'common-is-what-each-process-has': {
    from: 'libs/common/src/probe-parts.ts',
    to: ['libs/transport/src/probe-target.ts', 'packages/client/src/probe-target.ts', 'bullmq'],
  },
  'webhooks-know-no-subject': {
    from: 'libs/webhooks/src/probe.ts',
    to: ['libs/agent-jobs/src/probe-target.ts', 'packages/client/src/probe-target.ts', 'bullmq'],
  },
  'schemas-are-data': {
    from: 'libs/schemas/src/probe.ts',
    to: ['libs/common/src/probe-target.ts', 'packages/client/src/probe-target.ts', 'ioredis', '@nestjs/common'],
  },
  'operator-api-is-schemas': {
    from: 'libs/operator-api/src/probe.ts',
    to: ['libs/common/src/probe-target.ts', 'packages/client/src/probe-target.ts', 'ioredis', '@nestjs/common'],
  },
  'redis-kit-stands-alone': {
    from: 'libs/redis/src/probe.ts',
    to: [
      'libs/common/src/probe-target.ts',
      'libs/ledger/src/probe-target.ts',
      'packages/client/src/probe-target.ts',
      '@nestjs/common',
    ],
  },
  'chain-has-no-framework': {
    from: 'libs/chain/src/probe.ts',
    to: [
      'libs/common/src/probe-target.ts',
      'libs/ledger/src/probe-target.ts',
      'packages/client/src/probe-target.ts',
      '@nestjs/common',
      'ioredis',
    ],
  },
  'ledger-has-no-framework': {
    from: 'libs/ledger/src/probe.ts',
    to: [
      'libs/chain/src/probe-target.ts',
      'libs/common/src/probe-target.ts',
      'libs/journal/src/probe-target.ts',
      'libs/agent-jobs/src/probe-target.ts',
      'packages/client/src/probe-target.ts',
      '@nestjs/common',
    ],
  },
  'journal-has-no-framework': {
    from: 'libs/journal/src/probe.ts',
    to: [
      'libs/common/src/probe-target.ts',
      'libs/ledger/src/probe-target.ts',
      'libs/agent-jobs/src/probe-target.ts',
      'packages/agent-kit/src/probe-target.ts',
      '@nestjs/common',
    ],
  },
  'verification-has-no-framework': {
    from: 'libs/verification/src/probe.ts',
    to: [
      'libs/settlement/src/probe-target.ts',
      'libs/agent-jobs/src/probe-target.ts',
      'packages/client/src/probe-target.ts',
      '@nestjs/common',
      'ioredis',
      'prom-client',
    ],
  },
  'settlement-has-no-framework': {
    from: 'libs/settlement/src/probe.ts',
    to: ['libs/agent-jobs/src/probe-target.ts', 'packages/client/src/probe-target.ts', '@nestjs/common', 'prom-client'],
  },
  'refunds-know-ports-alone': {
    from: 'libs/refunds/src/probe.ts',
    to: ['libs/common/src/probe-target.ts', 'packages/client/src/probe-target.ts', 'ioredis', '@nestjs/common'],
  },
  'payments-take-only-messages-from-the-transport': {
    from: 'libs/verification/src/probe-messages.ts',
    to: ['libs/common/src/probe-target.ts'],
  },
  'agent-jobs-knows-no-operation': {
    from: 'libs/agent-jobs/src/probe.ts',
    to: ['libs/chain/src/probe-target.ts', 'libs/ledger/src/probe-target.ts', 'packages/agent-kit/src/probe-target.ts'],
  },
  'inputs-of-operations-stand-alone': {
    from: 'packages/agent-kit/src/operations/define/write-operations.ts',
    to: ['packages/agent-kit/src/probe-target.ts'],
  },
  'libs-do-not-import-apps': { from: 'libs/common/src/probe.ts', to: ['apps/gateway/src/probe-target.ts'] },
  'only-commands-import-commands': { from: 'apps/gateway/src/probe.ts', to: ['tools/cli/shared/probe-target.ts'] },
  'commands-do-not-import-apps': { from: 'tools/cli/payments/probe.ts', to: ['apps/gateway/src/probe-target.ts'] },
  'a-command-is-loaded-when-it-runs': {
    from: 'tools/cli/payments/command.ts',
    to: ['libs/ledger/src/probe-target.ts', 'packages/protocol/src/probe-target.ts', 'viem'],
  },
  'apps-do-not-import-apps': { from: 'apps/gateway/src/probe-app.ts', to: ['apps/verifier/src/probe-target.ts'] },
  'production-does-not-import-tests-or-devnet': {
    from: 'apps/verifier/src/probe.ts',
    to: ['tools/devnet/probe-target.ts', 'test/harness/probe-target.ts', 'bench/probe-target.ts'],
  },
};

interface Violation {
  rule: { name: string };
  from: string;
  to: string;
}

const ruleNames = (createRequire(__filename)(RULES) as { forbidden: readonly { name: string }[] }).forbidden.map(
  ({ name }) => name,
);
const isFile = (target: string): boolean => target.endsWith('.ts');

let folder: string;
let violations: Violation[];

function write(path: string, content: string): void {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

function writeProbe(from: string, to: readonly string[]): void {
  for (const target of to.filter(isFile)) write(target, 'export const probe = 1;\n');
  const specifiers = to.map((target) => {
    if (!isFile(target)) return target;
    const path = relative(dirname(from), target).replace(/\.ts$/, '.js');
    return path.startsWith('.') ? path : `./${path}`;
  });
  write(from, specifiers.map((specifier) => `import '${specifier}';\n`).join(''));
}

function cruise(): Violation[] {
  const found = FOLDERS.filter((name) => existsSync(join(folder, name)));
  const args = [DEPCRUISE, '--config', RULES, '--output-type', 'json', ...found];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 26 });
  if (!stdout.startsWith('{')) throw new Error(`depcruise: ${stdout}${stderr}`);
  return (JSON.parse(stdout) as { summary: { violations: Violation[] } }).summary.violations;
}

/** What `npm run check:boundaries` says of a tree in which each rule is broken by a file of its own. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'boundaries-'));
  write('tsconfig.json', JSON.stringify({ compilerOptions: { module: 'nodenext', moduleResolution: 'nodenext' } }));
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  for (const { from, to } of Object.values(BREAKS)) writeProbe(from, to);
  write('libs/ledger/src/probe-round.ts', `import './probe-cycle.js';\n`);
  violations = cruise();
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the rules of .dependency-cruiser.cjs', () => {
  it('have a row here, each', () => {
    expect(Object.keys(BREAKS).sort()).toEqual([...ruleNames].sort());
  });

  it.each(Object.entries(BREAKS))('report the file that breaks %s, and nothing else of it', (rule, { from, to }) => {
    const reported = violations.filter((violation) => violation.from === from);
    expect(reported.map(({ rule: { name } }) => name)).toEqual(to.map(() => rule));
    const targets = reported.map((violation) => violation.to).sort();
    for (const target of to.filter(isFile)) expect(targets).toContain(target);
  });

  it('name folders that exist: a rule falls silent when its folder moves', () => {
    const files = Object.values(BREAKS).flatMap(({ from, to }) => [from, ...to.filter(isFile)]);
    expect(files.map((file) => dirname(file)).filter((path) => !existsSync(path))).toEqual([]);
  });
});
