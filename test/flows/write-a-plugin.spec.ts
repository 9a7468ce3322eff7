import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

import { AgentKit } from '@tollgate/agent-kit';

import { uniswapV2Swap } from '../../examples/agent-kit-plugin/uniswap-v2.js';
import { startChain, type DevnetWithProtocols } from '../../tools/devnet/chain/chain.js';

const FOLDER = 'examples/agent-kit-plugin';

describe('the example "Write a plugin"', () => {
  let chain: DevnetWithProtocols;
  const folder = mkdtempSync(join(tmpdir(), 'write-a-plugin-'));
  beforeAll(async () => {
    chain = await startChain({ protocols: true });
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await chain.stop();
  });

  const kit = () => {
    const { uniswapV2, tokens } = chain.contracts;
    const plugin = uniswapV2Swap({ ...uniswapV2, wrappedNative: tokens.WSEI, chainIds: [chain.chainId] });
    const { privateKey } = chain.accounts[1]!;
    return new AgentKit(privateKey, 'offline', { rpcUrl: chain.rpcUrl, plugins: [plugin] });
  };

  it('is what the page shows', () => {
    const page = readFileSync('docs/write-a-plugin.md', 'utf8');
    expect(page).toContain(`\`\`\`ts\n${readFileSync(join(FOLDER, 'gas-price.ts'), 'utf8')}\`\`\``);
  });

  it('plans and swaps as on the page', async () => {
    const command = [resolve('node_modules/tsx/dist/cli.mjs'), resolve(FOLDER, 'swap.ts')];
    const env = {
      PATH: process.env['PATH'],
      TSX_TSCONFIG_PATH: resolve('tsconfig.json'),
      WALLET_PRIVATE_KEY: chain.accounts[0]!.privateKey,
      RPC_URL: chain.rpcUrl,
    };
    const { stdout } = await promisify(execFile)(process.execPath, command, { env, cwd: folder });
    expect(stdout).toMatch(/^gas price: \{ gwei: '[\d.]+' \}\nSwap 1 USDC for at least 1\.97\d+ SEI\n/);
    expect(stdout).toMatch(/\n {2}pool fee {2}0\.3 %\n/);
    expect(stdout).toMatch(/\nsuccess 0x[0-9a-f]{64}\n$/);
  });

  it.each([
    ['2', 'USDC', 'WSEI'],
    ['0.001', 'WBTC', 'USDC'],
    ['3', '0x0', 'USDC'],
  ])('swaps %s %s for %s', async (amount, fromToken, toToken) => {
    const plan = await kit().plan('swap', { amount, fromToken, toToken });
    expect(plan.steps.at(-1)!.to).toBe(chain.contracts.uniswapV2.router);
    expect(await kit().swap(amount, fromToken, toToken)).toMatchObject({ status: 'success', amount });
  });

  it('refuses with codes: no pool, and a price that has moved', async () => {
    await expect(kit().swap('1', 'WBTC', 'stSEI')).rejects.toMatchObject({ code: 'INSUFFICIENT_LIQUIDITY' });
    const owner = kit();
    const plan = await owner.plan('swap', { amount: '100', fromToken: 'USDC', toToken: 'WSEI' });
    expect(await kit().swap('200000', 'USDC', 'WSEI')).toMatchObject({ status: 'success' });
    await expect(owner.execute(plan)).rejects.toMatchObject({ code: 'SLIPPAGE' });
  });
});
