import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { DEVNET_CONTRACTS } from '../../packages/agent-kit/src/registry/devnet-contracts.js';
import type { DevState } from '../../tools/devnet/dev-state.js';
import type { Stack } from '../../tools/devnet/stack/stack.js';
import { PROMPT } from '../harness/chat/start-chat.js';
import { CTRL_C, startInTerminal, type TerminalSession } from '../harness/chat/start-in-terminal.js';
import { readDescendants, waitUntilGone } from '../harness/stack/processes.js';
import { useStack } from '../harness/stack/use-stack.js';

const STARTS_WITHIN_MS = 120_000;
const QUESTION = 'Send this? [y/N] ';

let folder: string;
let chat: TerminalSession;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-'));
});
afterEach(async () => {
  await chat.kill();
  rmSync(folder, { recursive: true, force: true });
});

function runChat(
  command: readonly string[] = ['npm', 'run', '--silent', 'chat'],
  { env = {}, cwd = process.cwd() }: { env?: NodeJS.ProcessEnv; cwd?: string } = {},
): TerminalSession {
  const { PATH, HOME, TOLLGATE_OWN_SERVERS } = process.env;
  chat = startInTerminal(command, {
    env: { PATH, HOME, TOLLGATE_OWN_SERVERS, NO_COLOR: '1', TOLLGATE_STATE_DIR: folder, ...env },
    cwd,
  });
  return chat;
}

/** Copies this repository's files into another folder: dependencies installed, and no service built. */
function copyRepository(target: string): void {
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' }).split('\n');
  for (const file of files) if (file !== '' && existsSync(file)) cpSync(file, join(target, file));
  symlinkSync(resolve('node_modules'), join(target, 'node_modules'));
  // With the compiled contracts, because compiling takes a minute on a busy machine.
  // Without the drafts beside them: another process renames those while this one copies.
  const cached = readdirSync('.tollgate/cache').filter((file) => file.endsWith('.json'));
  for (const file of cached) cpSync(join('.tollgate/cache', file), join(target, '.tollgate/cache', file));
}

/** Enters the line, agrees to each plan that is shown, and returns the results and the whole output. */
async function say(line: string): Promise<{ shown: string; asked: number; results: Record<string, unknown>[] }> {
  chat.enter(line);
  let shown = '';
  for (let asked = 0; ; asked++) {
    shown += await chat.waitFor(new RegExp(`${QUESTION.replace(/[[\]?]/g, '\\$&')}|${PROMPT.source}`));
    if (!shown.endsWith(QUESTION)) {
      const results = [...shown.matchAll(/^\{.*\}(?=\r?$)/gm)].map(
        ([json]) => JSON.parse(json) as Record<string, unknown>,
      );
      return { shown, asked, results };
    }
    chat.enter('y');
  }
}

describe('npm run chat without any key', () => {
  it('carries out its commands, visibly, on a devnet of its own, and leaves no process behind', async () => {
    runChat();
    await chat.waitFor('Tollgate agent kit 0.0.3', STARTS_WITHIN_MS);
    await chat.waitFor(PROMPT);
    const processes = readDescendants(chat.pid);
    // At least npm, the chat, redis, anvil, verifier and gateway.
    expect(processes.length).toBeGreaterThanOrEqual(6);

    const balance = await say('what is my balance');
    expect(balance).toMatchObject({ asked: 0, results: [{ status: 'success', token: { ticker: 'SEI' } }] });
    expect(balance.shown).toMatch(/999999\.\d+ SEI/);

    const swap = await say('swap 1 USDC to WSEI');
    expect(swap.results).toMatchObject([{ status: 'success', fromToken: 'USDC', toToken: 'WSEI', amount: '1' }]);
    expect(swap.shown).toMatch(/arrives +at least 1\.97\d+ WSEI/);
    expect(await say('what is my balance of WSEI')).toMatchObject({
      results: [{ balance: expect.stringMatching(/^1001\.99/) }],
    });

    expect(await say('stake 2')).toMatchObject({ asked: 1, results: [{ status: 'success', amount: '2' }] });
    expect(await say('unstake 1 stSEI')).toMatchObject({ asked: 1, results: [{ status: 'success', amount: '1' }] });
    const wrong = await say('stake 2 USDC');
    expect(wrong).toMatchObject({ asked: 0, results: [{ status: 'failed', code: 'INVALID_INPUT' }] });
    expect(wrong.shown).toContain('The amount of stake is in SEI, not in USDC.');

    expect(await say('supply 10 USDC')).toMatchObject({ asked: 1, results: [{ status: 'success' }] });
    expect(await say('borrow 3 USDC')).toMatchObject({ asked: 1, results: [{ status: 'success' }] });

    expect(await say('deposit-margin 5 USDC')).toMatchObject({
      asked: 1,
      results: [{ status: 'success', amount: '5' }],
    });
    expect(await say('withdraw-margin 1 USDC')).toMatchObject({ asked: 1, results: [{ status: 'success' }] });
    expect((await say('products')).shown).toMatch(/^id +symbol [^]*^\S+ +BTC-PERP /m);

    const payment = await say('pay for the weather');
    expect(payment).toMatchObject({
      asked: 1,
      results: [{ status: 'success', amount: '0.001', answer: { httpStatus: 200 } }],
    });
    expect(payment.shown).toMatch(/^Answer: \{"location":"San Francisco","temperature":"/m);

    const evil = await say(`what is my balance of ${DEVNET_CONTRACTS.tokens.EVIL}`);
    expect(evil).toMatchObject({ asked: 0, results: [{ status: 'success' }] });
    expect(evil.shown).not.toContain('Send this?');

    chat.enter('Bye.');
    expect(await chat.exited).toBe(0);
    expect(await waitUntilGone(processes)).toEqual([]);
  }, 300_000);

  it('builds no services', async () => {
    const clone = join(folder, 'clone');
    copyRepository(clone);
    runChat(undefined, { cwd: clone });
    await chat.waitFor(PROMPT, 2 * STARTS_WITHIN_MS);
    expect((await say('pay for the weather')).results).toMatchObject([
      { status: 'success', answer: { httpStatus: 200 } },
    ]);
    chat.enter('bye');
    expect(await chat.exited).toBe(0);
    expect(chat.shown()).not.toContain('nest build');
    expect(existsSync(join(clone, 'dist'))).toBe(false);
  }, 400_000);

  it('leaves no process behind when it is stopped while it starts', async () => {
    runChat();
    await chat.waitFor('✓ chain', STARTS_WITHIN_MS);
    const processes = readDescendants(chat.pid);
    chat.type(CTRL_C);
    await chat.exited;
    expect(await waitUntilGone(processes)).toEqual([]);
  }, 180_000);
});

describe('with a devnet that runs', () => {
  const stack = useStack({ protocols: true });

  /** As `npm run dev` starts it. */
  function writeState(): Stack {
    const { chain, baseUrl } = stack();
    const { rpcUrl, chainId, accounts } = chain;
    const state: Partial<DevState> = { rpcUrl, baseUrl, chainId, accounts };
    writeFileSync(join(folder, 'dev.json'), JSON.stringify(state));
    return stack();
  }

  it('acts with the account of WALLET_PRIVATE_KEY, as the MCP server does', async () => {
    const { address, privateKey } = writeState().chain.accounts[3]!;
    const env = { WALLET_PRIVATE_KEY: privateKey };
    runChat(undefined, { env });
    expect(await chat.waitFor(PROMPT, STARTS_WITHIN_MS)).toContain(`account  ${address} `);
    chat.enter('bye');
    expect(await chat.exited).toBe(0);
    const mcp = spawn('npm', ['run', 'mcp', '--silent'], {
      env: { ...process.env, TOLLGATE_STATE_DIR: folder, ...env },
    });
    let printed = '';
    mcp.stderr.setEncoding('utf8').on('data', (text: string) => (printed += text));
    mcp.stdin.end();
    await once(mcp, 'close');
    expect(printed).toContain(`Serving MCP for ${address} on the devnet`);
  }, 180_000);

  it('uses it, and leaves it alone; the kit’s own npm run test is the same chat', async () => {
    const { chain, baseUrl } = writeState();
    runChat(['npm', 'run', '--silent', 'test', '-w', 'packages/agent-kit']);
    expect(await chat.waitFor(PROMPT, STARTS_WITHIN_MS)).toContain(`Using the devnet that runs here: ${chain.rpcUrl}`);
    expect(await say('pay for the weather')).toMatchObject({
      results: [{ status: 'success', url: `${baseUrl}/api/weather` }],
    });
    chat.enter('bye');
    expect(await chat.exited).toBe(0);
    expect((await fetch(`${baseUrl}/api/weather`)).status).toBe(402);
  }, 180_000);
});
