import { encodeFunctionData, parseAbi, parseEther } from 'viem';

import { draft, draftPlugin } from '../../../../test/harness/agents/draft-plugin.js';
import { readContracts } from '../../../../tools/devnet/contracts/contracts.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { useChain } from '../../../client/test/set-up.js';
import { kitOf } from '../../test/create-funded-kit.js';

const RECEIVER = '0x00000000000000000000000000000000000a11ce';
const TAKER = '0x00000000000000000000000000000000000a7a4e';

describe.each([
  ['a block per transaction', {}],
  ['a block each second', { blockTimeSeconds: 1 }],
])('many operations of one account at once, with %s', (_, options) => {
  const chain = useChain({ protocols: true, ...options });
  const count = 'blockTimeSeconds' in options ? 4 : 20;

  it.each([
    ['one kit', 0, 1],
    ['two kits with the same key', 1, 2],
  ])('completes all of %s', async (_name, account, kits) => {
    const own = Array.from({ length: kits }, () => kitOf(chain, account));
    const { address } = own[0]!;
    const before = await chain.nonceOf(address, 'latest');
    await callRpc(chain.rpcUrl, 'anvil_setBalance', [RECEIVER, '0x0']);
    const results = await Promise.all(
      Array.from({ length: count }, (__, index) => own[index % kits]!.run('transfer', { amount: '0.5', to: RECEIVER })),
    );
    expect(results.map(({ status }) => status)).toEqual(Array(count).fill('success'));
    expect(new Set(results.map(({ result }) => result)).size).toBe(count);
    expect(await chain.balanceOf(RECEIVER)).toBe(parseEther('0.5') * BigInt(count));
    expect(await chain.nonceOf(address, 'latest')).toBe(before + count);
    expect(await chain.nonceOf(address, 'pending')).toBe(before + count);
  });

  it('leaves no nonce gap when one in the middle is refused', async () => {
    const { TokenTaker } = await readContracts();
    const code = await callRpc(chain.rpcUrl, 'eth_call', [{ data: TokenTaker.bytecode }, 'latest']);
    await callRpc(chain.rpcUrl, 'anvil_setCode', [TAKER, code]);
    const abi = parseAbi(['function refuse(string reason)']);
    const data = encodeFunctionData({ abi, functionName: 'refuse', args: ['no'] });
    const kit = kitOf(chain, 2, { plugins: [draftPlugin(() => draft([{ to: TAKER, data }]))] });
    const before = await chain.nonceOf(kit.address, 'latest');
    const send = () => kit.run('transfer', { amount: '0.1', to: RECEIVER });
    const settled = await Promise.allSettled([send(), kit.run('tryOut', {}), send()]);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await chain.nonceOf(kit.address, 'latest')).toBe(before + 2);
    expect(await chain.nonceOf(kit.address, 'pending')).toBe(before + 2);
  });
});
