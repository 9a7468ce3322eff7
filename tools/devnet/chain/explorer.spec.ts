import { numberToHex } from 'viem';

import { startChain, type Devnet } from './chain.js';
import { startExplorer, type Explorer } from './explorer.js';
import { transferTokens } from './transfer-tokens.js';

describe('the explorer of the devnet', () => {
  let chain: Devnet;
  let explorer: Explorer;

  beforeAll(async () => {
    chain = await startChain();
    explorer = await startExplorer(chain);
  });
  afterAll(async () => {
    await explorer.stop();
    await chain.stop();
  });

  const open = async (path: string) => {
    const response = await fetch(`${explorer.url}${path}`);
    return { status: response.status, page: await response.text() };
  };

  it('shows a transaction, and the account that it paid', async () => {
    const to = numberToHex(0xb7, { size: 20 });
    const hash = await transferTokens(chain, { amountBaseUnits: 1_500_000n, to });
    const transaction = await open(`/tx/${hash}`);
    expect(transaction).toMatchObject({ status: 200, page: expect.stringContaining('1.5 USDC') });
    const account = await open(`/address/${to}`);
    expect(account).toMatchObject({ status: 200, page: expect.stringMatching(/USDC<td>1\.5\n/) });
  });

  it.each(['/', '/tx/0x12', '/address/0x12', `/tx/${numberToHex(7, { size: 32 })}`])('has no page %s', async (path) => {
    expect(await open(path)).toMatchObject({ status: 404 });
  });
});
