import { startRpcProxy } from '../../../../test/harness/network/rpc-proxy.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { expectFailure, useChain } from '../../../client/test/set-up.js';
import { createFundedKit } from '../../test/create-funded-kit.js';
import { readNextBlockTime } from './read-next-block-time.js';

const DAY_SECONDS = 24 * 60 * 60;

describe('the time of the next block', () => {
  const chain = useChain({ protocols: true });

  /** The clock continues, but no block is made. */
  const stayQuiet = (seconds: number) => callRpc(chain.rpcUrl, 'evm_increaseTime', [seconds]);

  it('is the chain’s own, not that of its newest block', async () => {
    await stayQuiet(DAY_SECONDS);
    const { timestamp } = await chain.client.getBlock();
    const time = await readNextBlockTime(chain.client);
    expect(time).toBeGreaterThanOrEqual(timestamp + BigInt(DAY_SECONDS));
    await callRpc(chain.rpcUrl, 'evm_mine');
    expect((await chain.client.getBlock()).timestamp).toBeGreaterThanOrEqual(time);
  });

  it('is later than the newest block on a chain that is ahead of the clock', async () => {
    await callRpc(chain.rpcUrl, 'evm_mine');
    const { timestamp } = await chain.client.getBlock();
    expect(await readNextBlockTime(chain.client)).toBeGreaterThan(timestamp);
  });

  it('allows a swap on a chain that was idle for a day', async () => {
    const kit = await createFundedKit(chain);
    await stayQuiet(DAY_SECONDS);
    expect(await kit.swap('1', 'USDC', 'WSEI')).toMatchObject({ status: 'success' });
  });

  it('allows a claim of tickets that matured during an idle time, and no earlier one', async () => {
    const kit = await createFundedKit(chain);
    await kit.stake('1');
    await kit.unstake('0.5');
    await expectFailure(kit.claimUnstaked(), 'PROTOCOL_FAILED');
    await stayQuiet(11);
    expect(await kit.claimUnstaked()).toMatchObject({ status: 'success' });
  });

  it('allows a stake while another is mined between the two reads of the chain', async () => {
    const proxy = await startRpcProxy(chain.rpcUrl);
    const other = await createFundedKit(chain);
    proxy.intercept('eth_simulateV1', async (_, forward) => {
      await stayQuiet(60);
      await other.stake('1');
      return { body: await forward() };
    });
    const kit = await createFundedKit({ ...chain, rpcUrl: proxy.rpcUrl });
    expect(await kit.stake('1')).toMatchObject({ status: 'success' });
    await proxy.stop();
  });
});
