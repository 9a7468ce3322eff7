import { type Address } from 'viem';

import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { useChain } from '../../../client/test/set-up.js';
import { previewTransfer } from './preview-transfer.js';

const TOKEN: Address = '0x00000000000000000000000000000000000000aa';

describe('previewTransfer', () => {
  const chain = useChain();

  it.each([
    ['nothing at all', '0x00'],
    ['a single byte', '0x60016000f3'],
    ['four words', '0x60806000f3'],
  ])('returns null for a token that answers %s', async (_, code) => {
    await callRpc(chain.rpcUrl, 'anvil_setCode', [TOKEN, code]);
    const token = { address: TOKEN, symbol: 'ODD', decimals: 18, isNative: false, isListed: false };
    const context = { client: chain.client, account: chain.payTo };
    const amount = { token, amountBaseUnits: 5n };
    expect(await previewTransfer(context, amount, chain.accounts[0]!.address)).toBeNull();
  });
});
