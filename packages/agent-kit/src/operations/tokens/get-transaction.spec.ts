import {
  encodeFunctionData,
  erc20Abi,
  numberToHex,
  parseEther,
  parseGwei,
  parseUnits,
  toHex,
  zeroAddress,
  type Hex,
} from 'viem';

import { refusal } from '../../../../../test/harness/network/rpc-proxy.js';
import { awaitReceipt } from '../../../../../test/harness/payments/await-receipt.js';
import { callRpc } from '../../../../../tools/devnet/processes/json-rpc.js';
import { expectFailure, useChain, useMade, useProxy } from '../../../../client/test/set-up.js';
import { createFundedKit } from '../../../test/create-funded-kit.js';
import { INSTRUCTION, placeRevertingContract } from '../../../test/hostile-operations.js';

const RECEIVER = '0x00000000000000000000000000000000000A11cE';
const GAS = { gas: numberToHex(1_000_000), maxFeePerGas: numberToHex(parseGwei('10')) };

describe('getAccount and getTransaction', () => {
  const chain = useChain({ protocols: true });
  const proxy = useProxy(chain);
  const kit = useMade(
    () => createFundedKit(chain, { rpcUrl: proxy.rpcUrl, explorerUrl: 'https://explorer.example/' }),
    beforeAll,
  );

  beforeAll(async () => {
    await placeRevertingContract(chain);
  });
  afterEach(() => callRpc(chain.rpcUrl, 'evm_setAutomine', [true]));
  /** From the devnet's first account, without an estimate, which would refuse a transaction that reverts. */
  const send = async (call: { to?: Hex; data?: Hex; value?: bigint }): Promise<Hex> => {
    const { value = 0n, ...rest } = call;
    const from = chain.accounts[0]!.address;
    const transaction = { from, ...rest, ...GAS, value: numberToHex(value) };
    return (await callRpc(chain.rpcUrl, 'eth_sendTransaction', [transaction])) as Hex;
  };
  const mine = async (call: Parameters<typeof send>[0]): Promise<Hex> =>
    (await awaitReceipt(chain.client, await send(call))).transactionHash;
  const look = (hash: string) => kit.getTransaction(hash);

  it('show the account, its chain, and its link', async () => {
    expect(await kit.getAccount()).toEqual({
      address: kit.address,
      chainId: chain.chainId,
      chain: 'Tollgate devnet',
      nativeToken: 'SEI',
      explorerUrl: `https://explorer.example/address/${kit.address}`,
    });
  });

  it('show a transfer of the native token, and its cost', async () => {
    const { result } = await kit.transfer('1.5', RECEIVER);
    const { gasUsed, effectiveGasPrice, blockNumber } = await chain.client.getTransactionReceipt({ hash: result! });
    const seen = await look(result!);
    expect(seen).toMatchObject({
      status: 'success',
      transactionHash: result,
      explorerUrl: `https://explorer.example/tx/${result}`,
      from: kit.address,
      to: RECEIVER,
      value: '1.5',
      receipt: { status: 'success', blockNumber: `${blockNumber}`, gasUsed: `${gasUsed}` },
      moved: [
        { token: { ticker: 'SEI', address: '0x0', isListed: true }, amount: '1.5', from: kit.address, to: RECEIVER },
      ],
      isCut: false,
    });
    expect(parseEther(seen.receipt!.fee)).toBe(gasUsed * effectiveGasPrice);
  });

  it('show what a swap moved, exactly and with listed symbols, the account’s own transfers first', async () => {
    const before = parseEther(await kit.getERC20Balance('WSEI'));
    const { result } = await kit.swap('1', 'USDC', 'WSEI');
    const gained = parseEther(await kit.getERC20Balance('WSEI')) - before;
    const { status, moved } = await look(result!);
    expect(status).toBe('success');
    const own = moved.filter(({ from, to }) => [from, to].includes(kit.address));
    expect(moved.slice(0, own.length)).toEqual(own);
    expect(own.find(({ token }) => token.ticker === 'USDC')).toMatchObject({ amount: '1', from: kit.address });
    expect(parseEther(own.find(({ token }) => token.ticker === 'WSEI')!.amount!)).toBe(gained);
  });

  it('show NFTs by id, and mark symbols as unverified', async () => {
    const { nft, tokens } = chain.contracts;
    const mint = await kit.mintERC721(nft, '41');
    expect(await look(mint.result!)).toMatchObject({
      moved: [{ token: { ticker: 'TNFT', address: nft, isListed: false }, tokenId: '41', from: zeroAddress }],
    });
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [RECEIVER, parseUnits('2', 18)] });
    const { moved } = await look(await mine({ to: tokens.EVIL, data }));
    expect(moved).toMatchObject([{ token: { address: tokens.EVIL, isListed: false }, to: RECEIVER }]);
    expect(moved[0]!.token.ticker).toMatch(/^[\p{L}\p{N}.+$₮-]{1,11}$/u);
  });

  it('never report a reverted transaction as a success', async () => {
    const seen = await look(await mine({ to: '0x00000000000000000000000000000000000badc0', value: parseEther('1') }));
    expect(seen).toMatchObject({
      status: 'failed',
      code: 'REVERTED',
      error: expect.stringContaining('revert'),
      suggestion: expect.any(String),
      value: '1',
      receipt: { status: 'failed' },
      moved: [],
    });
    expect(seen.error!.replace(/"[^"]*"/g, '')).not.toContain(INSTRUCTION.slice(0, 10));
  });

  it('report a failed contract creation as failed, and a successful one as success', async () => {
    // PUSH1 0, PUSH1 0, REVERT; and STOP, which creates a contract without code.
    expect(await look(await mine({ data: '0x60006000fd' }))).toMatchObject({ status: 'failed', to: null });
    expect(await look(await mine({ data: '0x00' }))).toMatchObject({ status: 'success', to: null });
  });

  it('report a loan as failed that was refused and mined as a success', async () => {
    const { USDC } = chain.contracts.lending.markets;
    const abi = [{ type: 'function', name: 'borrow', inputs: [{ type: 'uint256' }], outputs: [] }] as const;
    const hash = await mine({ to: USDC, data: encodeFunctionData({ abi, args: [parseUnits('5', 6)] } as never) });
    expect(await look(hash)).toMatchObject({
      status: 'failed',
      code: 'INSUFFICIENT_COLLATERAL',
      receipt: { status: 'success' },
    });
  });

  it('report a transaction that is not mined as pending, without a receipt', async () => {
    await callRpc(chain.rpcUrl, 'evm_setAutomine', [false]);
    const hash = await send({ to: RECEIVER, value: parseEther('2') });
    expect(await look(hash)).toMatchObject({ status: 'pending', value: '2', receipt: null, moved: [] });
    await callRpc(chain.rpcUrl, 'evm_mine');
    expect(await look(hash)).toMatchObject({ status: 'success', moved: [{ amount: '2' }] });
  });

  it('refuse a hash that no node knows, and advise against sending it again', async () => {
    await expect(look(toHex(7, { size: 32 }))).rejects.toMatchObject({
      code: 'UNKNOWN_TRANSACTION',
      message: expect.stringContaining(toHex(7, { size: 32 })),
      suggestion: expect.stringContaining('do not send it again'),
    });
  });

  it.each(['', '0x', '0x12', RECEIVER, toHex(7, { size: 33 }), `0x${'g'.repeat(64)}`, '7'.repeat(64)])(
    'refuse the invalid hash %j',
    async (hash) => {
      await expectFailure(look(hash), 'INVALID_INPUT');
    },
  );

  it('report that the network does not answer, and not that the transaction is unknown', async () => {
    const { result } = await kit.transfer('0.1', RECEIVER);
    proxy.intercept('eth_getTransactionByHash', () => 'broken');
    await expectFailure(look(result!), 'NETWORK_ERROR');
    proxy.intercept('eth_getTransactionByHash', () => ({ body: '{"jsonrpc":"2.0","id":1,"result":null}' }));
    await expectFailure(look(result!), 'NETWORK_ERROR');
    proxy.intercept('eth_getTransactionByHash', () => refusal(-32000, 'overloaded'));
    await expectFailure(look(result!), 'NETWORK_ERROR');
  });

  it('read a bounded number of tokens, however many a transaction moved', async () => {
    const { result } = await kit.transfer('1', RECEIVER, 'USDC');
    proxy.intercept('eth_getTransactionReceipt', async (_, forward) => {
      const answer = JSON.parse(await forward()) as { result: { logs: { address: string }[] } };
      const [log] = answer.result.logs;
      // Each transfer is of another contract, without code.
      answer.result.logs = Array.from({ length: 2_000 }, (_none, index) => ({
        ...log!,
        address: numberToHex(0xabc000 + index, { size: 20 }),
      }));
      return { body: JSON.stringify(answer) };
    });
    proxy.calls.length = 0;
    const { moved, isCut } = await look(result!);
    expect({ moved: moved.length, isCut }).toEqual({ moved: 30, isCut: true });
    expect(moved[0]).toMatchObject({ token: { ticker: null }, amountBaseUnits: '1000000' });
    expect(proxy.calls.length).toBeLessThan(100);
  });
});
