import { readFileSync } from 'node:fs';

import { AGENT_KIT_ERRORS, AgentKit, type ToolResult } from '@tollgate/agent-kit';
import { createPublicClient, http } from 'viem';

import { CHAT_SETTINGS_HELP } from '../../packages/agent-kit/src/chat/chat-command.js';
import { MCP_SETTINGS_HELP } from '../../packages/agent-kit/src/cli/mcp-command.js';
import { CATALOG } from '../../packages/agent-kit/src/operations/catalog.js';
import { passTime } from '../../tools/devnet/protocols/pass-time.js';
import { useStack } from '../harness/stack/use-stack.js';

const page = readFileSync('docs/agent-kit.md', 'utf8');
const reference = readFileSync('packages/agent-kit/README.md', 'utf8');

interface Example {
  heading: string;
  code: string;
  /** The comment below the code: the value of the last expression. */
  expected: string;
}

/** The `js` blocks of the package's own page, in order, each below the heading of its operation. */
function readExamples(): Example[] {
  const examples: Example[] = [];
  let heading = '';
  for (const [part, title, block] of reference.matchAll(/^### `(\w+)`.*$|^```js\n([\s\S]*?)^```$/gm)) {
    if (title) heading = title;
    if (!block || !part) continue;
    const lines = block.trimEnd().split('\n');
    const start = lines.findIndex((line) => line.startsWith('//'));
    const code = lines.slice(0, start).join('\n');
    const expected = lines
      .slice(start)
      .map((line) => line.replace(/^\/\/ ?/, ''))
      .join('\n');
    examples.push({ heading, code, expected });
  }
  return examples;
}

/** `…` inside a text of the page stands for any text; objects may have more fields than the page shows. */
function toMatcher(shown: unknown): unknown {
  if (typeof shown === 'string' && shown.includes('…')) {
    const parts = shown.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    return expect.stringMatching(new RegExp(`^${parts.join('[\\s\\S]*')}$`)) as unknown;
  }
  if (Array.isArray(shown)) return shown.map(toMatcher);
  if (typeof shown !== 'object' || shown === null) return shown;
  const fields = Object.entries(shown).map(([name, value]) => [name, toMatcher(value)]);
  return expect.objectContaining(Object.fromEntries(fields)) as unknown;
}

const evaluate = async (code: string, scope: Record<string, unknown>): Promise<unknown> => {
  const asynchronous = Object.getPrototypeOf(async () => undefined).constructor as new (
    ...args: string[]
  ) => (...args: unknown[]) => Promise<unknown>;
  return new asynchronous(...Object.keys(scope), code)(...Object.values(scope));
};

const examples = readExamples();

describe('docs/agent-kit.md and packages/agent-kit/README.md', () => {
  const stack = useStack({ protocols: true });

  it('has every operation, in the order of the catalog', () => {
    const headings = [...new Set(examples.map(({ heading }) => heading))];
    expect(headings).toEqual(CATALOG.map(({ name }) => name));
  });

  it('has every error code with its key word and the suggested handling', () => {
    const [, section = ''] = reference.split('\n## Errors\n');
    const rows = [...section.matchAll(/^\| `(\w+)` +\| +(?:`([^`]+)` +)?\| (.*?) +\|$/gm)].map(
      ([, code, keyword = null, suggestion]) => [code, { keyword, suggestion }],
    );
    expect(Object.fromEntries(rows)).toEqual(AGENT_KIT_ERRORS);
  });

  it('has every setting that the help of the commands has', () => {
    const [, section = ''] = reference.split('\n## Settings\n');
    const documented = [...section.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name);
    const helped = [...`${CHAT_SETTINGS_HELP}${MCP_SETTINGS_HELP}`.matchAll(/^ {2}([A-Z]+_[A-Z_]+) /gm)].map(
      ([, name]) => name,
    );
    expect(new Set(documented)).toEqual(new Set(helped));
  });

  it('shows how to handle a result of the status signed', async () => {
    const { rpcUrl, accounts } = stack().chain;
    const [, section = ''] = page.split('\n## Executors\n');
    const [, code = ''] = /^```ts\n([\s\S]*?)^```$/m.exec(section) ?? [];
    const client = createPublicClient({ transport: http(rpcUrl) });
    const scope = { AgentKit, client, privateKey: accounts[2]!.privateKey, rpcUrl };
    const ended = await evaluate(`${code}return { status, receipt, count: signedTransactions.length };`, scope);
    expect(ended).toMatchObject({ status: 'signed', receipt: { status: 'success' }, count: 2 });
  });

  it.each(['docs/agent-kit.md', 'docs/tools-for-agents.md'])('%s names every status of a result', (file) => {
    const statuses: ToolResult['status'][] = ['success', 'failed', 'timeout', 'signed'];
    expect(statuses.filter((status) => !readFileSync(file, 'utf8').includes(`\`${status}\``))).toEqual([]);
  });

  it.each(examples)('shows what $heading does: $code', async ({ heading, code, expected }) => {
    const { chain, baseUrl } = stack();
    // The tokens unstaked by the example before can be claimed only after ten seconds.
    if (heading === 'claimUnstaked') await passTime(chain, 11);
    const kit = new AgentKit(chain.accounts[0]!.privateKey, 'offline', { rpcUrl: chain.rpcUrl });
    const scope = { kit, baseUrl, friend: chain.accounts[1]!.address, contracts: chain.contracts };
    const start = code.search(/^\(?await (?![\s\S]*^\(?await )/m);
    const result = await evaluate(`${code.slice(0, start)}return ${code.slice(start)}`, scope);
    expect(result).toEqual(toMatcher(await evaluate(`return (${expected})`, {})));
  });
});
