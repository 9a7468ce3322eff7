import type { Hex, SignedPermit } from '@tollgate/protocol';

import { approvePermit2, signPermit } from '../../../../../test/harness/chain/sign-permit.js';
import { startChain, type Devnet } from '../../../../../tools/devnet/chain/chain.js';
import { sendTransaction } from '../../../../../tools/devnet/chain/transfer-tokens.js';
import { connectDevnet } from '../../../test/connect-devnet.js';
import type { ConnectedChain } from '../../reader/connect-chain.js';
import { findPermitUse } from './method.js';
import { planPermitTransfer } from './permit-contracts.js';

const AMOUNT = 1000n;

describe('the use of a permit whose nonce is taken', () => {
  let devnet: Devnet;
  let chain: ConnectedChain;

  beforeAll(async () => {
    devnet = await startChain();
    chain = connectDevnet(devnet.rpcUrl);
  });

  afterAll(async () => {
    await chain.close();
    await devnet.stop();
  });

  const sign = () => signPermit(devnet, devnet.accounts[0]!, { amountBaseUnits: AMOUNT });
  const settle = async (): Promise<{ payment: SignedPermit; txHash: Hex; headBlockNumber: number }> => {
    const payment = await sign();
    const txHash = await sendTransaction(devnet, planPermitTransfer(payment, AMOUNT));
    return { payment, txHash, headBlockNumber: await chain.reader.readHead(Date.now() + 60_000) };
  };
  const find = (payment: SignedPermit, headBlockNumber: number) => {
    const [asset, payTo] = [devnet.asset, devnet.payTo].map((address) => address.toLowerCase() as Hex) as [Hex, Hex];
    const lookUp = { promised: { asset, payTo, payment }, sinceMs: 0, deadlineMs: Date.now() + 60_000 };
    return findPermitUse(chain.reader, lookUp, headBlockNumber);
  };

  // Prevents: a payer that has paid before is refused as one that used the nonce for another permit.
  it('is found in a block that is newer than the head that was read with the nonce', async () => {
    await approvePermit2(devnet, { owner: devnet.accounts[0]!.address });
    const earlier = await settle();
    // Older ranges of the search are remembered from here on.
    expect(await find(await sign(), earlier.headBlockNumber)).toEqual({ outcome: 'used' });
    const { payment, txHash, headBlockNumber } = await settle();
    expect(headBlockNumber).toBeGreaterThan(earlier.headBlockNumber);
    expect(await find(payment, earlier.headBlockNumber)).toMatchObject({
      outcome: 'settled',
      txHash,
      blockNumber: headBlockNumber,
      amountBaseUnits: AMOUNT,
    });
  });
});
