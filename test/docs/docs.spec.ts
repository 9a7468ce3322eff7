import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { PROBLEM_CODES } from '@tollgate/http';
import {
  challengeErrorFor,
  CLIENT_FAILURES,
  KNOWN_CHAINS,
  PAYMENT_FAILURES,
  SETTLEMENT_PENDING,
  SIGN_IN_FAILURES,
} from '@tollgate/protocol';
import { getAddress } from 'viem';

const pages = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], { encoding: 'utf8' })
  .split('\n')
  .filter((page) => page !== '' && existsSync(page));
const read = (file: string) => readFileSync(file, 'utf8');
/** The page's visible text: without code blocks and comments. */
const proseOf = (page: string) => read(page).replaceAll(/```[\s\S]*?```|<!--[\s\S]*?-->/g, '');

/** The rows of the table below a heading, as the texts of their cells. */
function readTable(page: string, heading: string): string[][] {
  const [, section = ''] = read(page).split(`\n## ${heading}\n`);
  const [table = ''] = section.split('\n## ');
  return [...table.matchAll(/^\| `.*$/gm)].map(([row]) =>
    row
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const firstCells = (rows: string[][]) => rows.map(([cell = '']) => cell.replaceAll('`', ''));

/** The anchors that GitHub makes of headings. */
const anchorsOf = (page: string) =>
  [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );

function isBroken(target: string, anchor: string | undefined): boolean {
  return !existsSync(target) || (anchor !== undefined && !anchorsOf(target).includes(anchor));
}

describe.each(pages)('%s', (page) => {
  it('has no broken link', () => {
    const links = [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
    const broken = links.filter((link) => {
      if (/^[a-z]+:/.test(link)) return false;
      const [path = '', anchor] = link.split('#');
      return isBroken(path === '' ? page : join(dirname(page), path), anchor);
    });
    expect(broken).toEqual([]);
  });

  it('names scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const named = [...read(page).matchAll(/\bnpm run ([\w:-]+)/g)].map(([, script = '']) => script);
    expect(named.filter((script) => scripts[script] === undefined)).toEqual([]);
  });

  it('names files and folders that exist', () => {
    const named = [
      ...proseOf(page).matchAll(/`((?:apps|libs|packages|tools|test|bench|docs|deploy|examples|scripts)\/[^`*<\s]*)`/g),
    ];
    expect(named.map(([, path = '']) => path).filter((path) => !existsSync(path))).toEqual([]);
  });
});

describe('code and configuration', () => {
  it('name pages and headings that exist', () => {
    const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', ':!*.md', ':!package-lock.json']);
    const named = files
      .toString()
      .split('\n')
      .filter((file) => file !== '' && existsSync(file) && statSync(file).isFile())
      .flatMap((file) =>
        [...read(file).matchAll(/\bdocs\/[\w/-]+\.md(?:#[\w-]+)?/g)].map(([link]) => ({ file, link })),
      );
    expect(named.length).toBeGreaterThan(10);
    const broken = named.filter(({ link }) => {
      const [path = '', anchor] = link.split('#');
      return isBroken(path, anchor);
    });
    expect(broken).toEqual([]);
  });

  it('the index of the pages has each page', () => {
    const linked = [...read('docs/README.md').matchAll(/\]\(([\w-]+\.md)/g)].map(([, page]) => page);
    const expected = readdirSync('docs').filter((name) => name.endsWith('.md') && name !== 'README.md');
    expect([...new Set(linked)].sort()).toEqual(expected.sort());
  });
});

describe('docs/errors.md', () => {
  const page = 'docs/errors.md';

  it('has every X-Payment-Failure, with the text of its challenge', () => {
    const rows = readTable(page, 'A payment was refused: 402 with `X-Payment-Failure`');
    const expected = PAYMENT_FAILURES.map((failure) => [`\`${failure}\``, challengeErrorFor(failure)]);
    expect(rows.map(([code, error]) => [code, error || 'Payment verification failed'])).toEqual(expected);
  });

  it('has every X-Sign-In-Failure', () => {
    const rows = readTable(page, 'A sign-in was refused: 402 with `X-Sign-In-Failure`');
    expect(firstCells(rows)).toEqual([...SIGN_IN_FAILURES]);
  });

  it('has every problem', () => {
    expect(firstCells(readTable(page, 'Another error: `application/problem+json`'))).toEqual([...PROBLEM_CODES]);
  });

  it("the middleware's own page has every code of the middleware", () => {
    const sources = readdirSync('packages/middleware/src', { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
      .map((file) => read(`packages/middleware/src/${file}`));
    const codes = sources.flatMap((source) =>
      [
        ...source.matchAll(/create(?:Retry|Final)?Answer\((?:\d+, )?(?:\{ error: )?(?:'(\w+)'|SETTLEMENT_PENDING)/g),
      ].map(([, code = SETTLEMENT_PENDING]) => code),
    );
    const rows = readTable('packages/middleware/README.md', 'Error codes');
    expect(firstCells(rows).sort()).toEqual([...new Set(codes)].sort());
  });

  it("the client's own page has every code of the client, and what to do about it", () => {
    const rows = readTable('packages/client/README.md', 'What to do about an error');
    expect(firstCells(rows)).toEqual([...CLIENT_FAILURES]);
    const own = firstCells(readTable('packages/client/README.md', 'Errors')).flatMap((cell) => cell.split(', '));
    expect(own.sort()).toEqual([...CLIENT_FAILURES, 'transaction_failed', 'permit2_allowance_missing'].sort());
  });
});

describe('docs/chains-and-tokens.md', () => {
  it('has every known chain that has USDC, with the address and the EIP-712 name', () => {
    const rows = readTable('docs/chains-and-tokens.md', 'Chains that are known by name');
    const shown = rows.map((row) => row.map((cell) => cell.replaceAll('`', '')).join(' '));
    const expected = KNOWN_CHAINS.flatMap(({ name, id, tokens }) =>
      tokens.map(({ asset, domainName }) => `${name} ${id} ${getAddress(asset)} ${domainName}`),
    );
    expect(shown).toEqual(expected);
  });
});

describe('docs/operations', () => {
  it('has every metric', () => {
    const sources = execFileSync('git', ['ls-files', 'apps/*.ts'], { encoding: 'utf8' })
      .split('\n')
      .filter((file) => /^apps\/[\w-]+\/src\/.*(?<!\.spec)\.ts$/.test(file) && existsSync(file))
      .map(read);
    const metrics = sources.flatMap((source) =>
      [...source.matchAll(/(observeCounts\(\s*registry,\s*)?'(tollgate_[a-z_]+)'/g)].map(([, counts, name = '']) =>
        counts === undefined ? name : `${name}_total`,
      ),
    );
    expect(metrics.length).toBeGreaterThan(10);
    expect(
      firstCells(readTable('docs/operations/metrics.md', 'Metrics'))
        .filter((name) => name.startsWith('tollgate_'))
        .sort(),
    ).toEqual([...new Set(metrics)].sort());
  });

  it('has instructions for every alert, and for no other', () => {
    const alerts = [...read('deploy/alerts.yml').matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
    const sections = [...read('docs/operations/failures.md').matchAll(/^### When .* fires?\n([\s\S]*?)(?=^##)/gm)];
    const named = sections.flatMap(([, section = '']) =>
      [...section.matchAll(/^\| (`.*?`) +\|/gm)].flatMap(([, cell = '']) => cell.replaceAll('`', '').split(', ')),
    );
    expect(named.sort()).toEqual(alerts.sort());
  });
});

describe('docs/architecture.md', () => {
  const page = 'docs/architecture.md';
  const libraries = ['packages', 'libs'].flatMap((folder) => readdirSync(folder).map((name) => `${folder}/${name}`));

  it('leads to a page of each library', () => {
    expect(libraries.filter((library) => !existsSync(`${library}/README.md`))).toEqual([]);
  });

  it('shows which library imports which', () => {
    const lines = [...read(page).matchAll(/^(?:packages|libs)\/.* ← .*$/gm)].map(([line]) => line.split(' ← '));
    const shown = lines.flatMap((line) => line.slice(1).map((library, index) => [library, line[index]!] as const));
    const imported = libraries.flatMap((library) => importsOf(library).map((other) => [library, other] as const));
    expect(new Set(lines.flat())).toEqual(new Set(libraries));
    // Each arrow is an import, and each import an arrow or several.
    expect(imported).toEqual(expect.arrayContaining(shown));
    const below = (library: string): string[] =>
      shown.flatMap(([from, to]) => (from === library ? [to, ...below(to)] : []));
    expect(imported.filter(([from, to]) => !below(from).includes(to))).toEqual([]);
  });

  function folderOf(name = ''): string {
    const folder = name === 'middleware/purchase' ? 'purchase' : name;
    return libraries.find((library) => library.endsWith(`/${folder}`)) ?? name;
  }

  function importsOf(library: string): string[] {
    const sources = execFileSync('git', ['ls-files', `${library}/src/*.ts`], { encoding: 'utf8' })
      .split('\n')
      .filter((file) => /(?<!\.spec)\.ts$/.test(file) && existsSync(file))
      .map(read);
    const names = sources.flatMap((source) =>
      [...source.matchAll(/from '@tollgate\/([\w-]+(?:\/purchase)?)/g)].map(([, name]) => name),
    );
    return [...new Set(names.map(folderOf))].filter((other) => other !== library);
  }
});

describe('docker-compose.yml', () => {
  it('gives a service the time that its settings take, and five seconds', () => {
    const defaultOf = (name: string) => Number(new RegExp(`^# ${name}=(\\d+)$`, 'm').exec(read('.env.example'))?.[1]);
    const [, seconds] = /stop_grace_period: (\d+)s/.exec(read('docker-compose.yml')) ?? [];
    expect(Number(seconds) * 1000).toBe(defaultOf('DRAIN_MS') + defaultOf('SHUTDOWN_TIMEOUT_MS') + 5000);
  });
});
