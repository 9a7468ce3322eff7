import { AUTHORIZATION_TYPES } from '@tollgate/protocol';
import {
  createPublicClient,
  createWalletClient,
  defineChain,
  erc20Abi,
  hexToSignature,
  http,
  keccak256,
  parseAbi,
  toHex,
  type Hex,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

import { deployBatchPayer, deployToken } from '../../../test/harness/chain/deploy.js';
import { awaitReceipt } from '../../../test/harness/payments/await-receipt.js';
import { callRpcBatch } from '../processes/json-rpc.js';
import { startChain, type Devnet } from './chain.js';
import { mineTransfers } from './mine-transfers.js';
import { transferTokens } from './transfer-tokens.js';

const usdcAbi = [
  ...erc20Abi,
  ...parseAbi([
    'function DOMAIN_SEPARATOR() view returns (bytes32)',
    'function eip712Domain() view returns (bytes1, string name, string version, uint256 chainId, address verifyingContract, bytes32, uint256[])',
    'function nonces(address owner) view returns (uint256)',
    'function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
    'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
    'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
    'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
    'function receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
    'function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
    'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  ]),
] as const;

const later = 10_000_000_000n;

describe('the devnet', () => {
  let chain: Devnet;

  beforeAll(async () => {
    chain = await startChain();
  });

  afterAll(async () => {
    await chain.stop();
  });

  const reader = () => createPublicClient({ transport: http(chain.rpcUrl), pollingInterval: 20 });
  const devnet = defineChain({
    id: 1328,
    name: 'devnet',
    nativeCurrency: { name: 'Coin', symbol: 'COIN', decimals: 18 },
    rpcUrls: { default: { http: [] } },
  });
  const writer = () =>
    createWalletClient({ account: chain.accounts[0]!.address, chain: devnet, transport: http(chain.rpcUrl) });
  const payer = () => privateKeyToAccount(chain.accounts[1]!.privateKey);
  const domain = () => ({ name: 'USDC', version: '2', chainId: chain.chainId, verifyingContract: chain.asset });
  const usdc = () => ({ address: chain.asset, abi: usdcAbi }) as const;
  const balanceOf = (owner: Hex) => reader().readContract({ ...usdc(), functionName: 'balanceOf', args: [owner] });
  const succeeded = async (hash: Hex) => (await awaitReceipt(reader(), hash)).status === 'success';

  const signAuthorization = async (name: string, nonce: Hex) => {
    const message = {
      from: payer().address,
      to: chain.payTo,
      value: 1000n,
      validAfter: 0n,
      validBefore: later,
      nonce,
    };
    const signature = await payer().signTypedData({
      domain: domain(),
      types: { [name]: AUTHORIZATION_TYPES.TransferWithAuthorization },
      primaryType: name,
      message,
    });
    const { from, to, value, validAfter, validBefore } = message;
    return { fields: [from, to, value, validAfter, validBefore, nonce] as const, signature };
  };

  it('has the chain id, and USDC with 6 decimals at its address, which no constructor ran at', async () => {
    const client = reader();
    expect(await client.getChainId()).toBe(1328);
    expect(await client.readContract({ ...usdc(), functionName: 'name' })).toBe('USDC');
    expect(await client.readContract({ ...usdc(), functionName: 'symbol' })).toBe('USDC');
    expect(await client.readContract({ ...usdc(), functionName: 'decimals' })).toBe(6);
    const [, name, version, chainId, verifyingContract] = await client.readContract({
      ...usdc(),
      functionName: 'eip712Domain',
    });
    expect({ name, version, chainId: Number(chainId), verifyingContract }).toEqual(domain());
  });

  it('gives every account native coin and USDC', async () => {
    for (const { address, privateKey } of [...chain.accounts, ...chain.agentWallets]) {
      expect(privateKeyToAccount(privateKey).address).toBe(address);
      expect(await balanceOf(address)).toBe(1_000_000_000_000n);
      expect(await reader().getBalance({ address })).toBeGreaterThan(10n ** 20n);
    }
    const addresses = [...chain.accounts, ...chain.agentWallets].map(({ address }) => address);
    expect(new Set([...addresses, ...chain.bulkSenders, chain.payTo]).size).toBe(9 + 4 + 10 + 1);
  });

  it('takes an EIP-2612 permit signed under version 2', async () => {
    const [owner, spender] = [payer().address, chain.accounts[2]!.address];
    const signature = await payer().signTypedData({
      domain: domain(),
      types: {
        Permit: [
          { name: 'owner', type: 'address' },
          { name: 'spender', type: 'address' },
          { name: 'value', type: 'uint256' },
          { name: 'nonce', type: 'uint256' },
          { name: 'deadline', type: 'uint256' },
        ],
      },
      primaryType: 'Permit',
      message: { owner, spender, value: 77n, nonce: 0n, deadline: later },
    });
    const { r, s, v } = hexToSignature(signature);
    const args = [owner, spender, 77n, later, Number(v), r, s] as const;
    expect(await succeeded(await writer().writeContract({ ...usdc(), functionName: 'permit', args }))).toBe(true);
    expect(await reader().readContract({ ...usdc(), functionName: 'allowance', args: [owner, spender] })).toBe(77n);
    // The nonce is spent.
    await expect(reader().simulateContract({ ...usdc(), functionName: 'permit', args })).rejects.toThrow('reverted');
  });

  it('transfers by EIP-3009 authorization, in both spellings of the signature, each nonce once', async () => {
    const before = await balanceOf(chain.payTo);
    const first = await signAuthorization('TransferWithAuthorization', keccak256('0x01'));
    const { r, s, v } = hexToSignature(first.signature);
    const splitArgs = [...first.fields, Number(v), r, s] as const;
    const split = await writer().writeContract({
      ...usdc(),
      functionName: 'transferWithAuthorization',
      args: splitArgs,
    });
    expect(await succeeded(split)).toBe(true);

    const second = await signAuthorization('TransferWithAuthorization', keccak256('0x02'));
    const wholeArgs = [...second.fields, second.signature] as const;
    const whole = await writer().writeContract({
      ...usdc(),
      functionName: 'transferWithAuthorization',
      args: wholeArgs,
    });
    expect(await succeeded(whole)).toBe(true);
    expect(await balanceOf(chain.payTo)).toBe(before + 2000n);

    const state = { functionName: 'authorizationState', args: [payer().address, keccak256('0x02')] } as const;
    expect(await reader().readContract({ ...usdc(), ...state })).toBe(true);
    const again = { functionName: 'transferWithAuthorization', args: wholeArgs } as const;
    await expect(reader().simulateContract({ ...usdc(), ...again })).rejects.toThrow('reverted');
    const { logs } = await reader().getTransactionReceipt({ hash: whole });
    expect(logs.map(({ topics }) => topics[0])).toEqual([
      keccak256(toHex('AuthorizationUsed(address,bytes32)')),
      keccak256(toHex('Transfer(address,address,uint256)')),
    ]);
  });

  it('lets only the receiver submit receiveWithAuthorization', async () => {
    const { fields, signature } = await signAuthorization('ReceiveWithAuthorization', keccak256('0x03'));
    const call = { ...usdc(), functionName: 'receiveWithAuthorization', args: [...fields, signature] } as const;
    await expect(reader().simulateContract({ ...call, account: payer().address })).rejects.toThrow('reverted');
    expect(await succeeded(await writer().writeContract({ ...call, account: chain.payTo }))).toBe(true);
  });

  it('cancels an authorization', async () => {
    const nonce = keccak256('0x04');
    const signature = await payer().signTypedData({
      domain: domain(),
      types: {
        CancelAuthorization: [
          { name: 'authorizer', type: 'address' },
          { name: 'nonce', type: 'bytes32' },
        ],
      },
      primaryType: 'CancelAuthorization',
      message: { authorizer: payer().address, nonce },
    });
    const { r, s, v } = hexToSignature(signature);
    const args = [payer().address, nonce, Number(v), r, s] as const;
    const hash = await writer().writeContract({ ...usdc(), functionName: 'cancelAuthorization', args });
    expect(await succeeded(hash)).toBe(true);
    const late = await signAuthorization('TransferWithAuthorization', nonce);
    const call = { functionName: 'transferWithAuthorization', args: [...late.fields, late.signature] } as const;
    await expect(reader().simulateContract({ ...usdc(), ...call })).rejects.toThrow('reverted');
  });

  it('appends the hash lock to a transfer, which the token ignores', async () => {
    const before = await balanceOf(chain.payTo);
    const hash = await transferTokens(chain, { amountBaseUnits: 1000n, lockReference: 'chain-1-abc' });
    expect(await balanceOf(chain.payTo)).toBe(before + 1000n);
    const { input } = await reader().getTransaction({ hash });
    expect(input.slice(2 + 2 * 68)).toBe(`3430324c${keccak256(toHex('chain-1-abc')).slice(2)}`);
  });

  // Prevents: of two transfers of one account that are made at once, one is refused for its nonce.
  it('mines each of many transfers of one account that are made at once', async () => {
    for (let round = 0; round < 10; round++) {
      const transfers = Array.from({ length: 5 }, () => transferTokens(chain, { amountBaseUnits: 1n }));
      expect(new Set(await Promise.all(transfers)).size).toBe(transfers.length);
    }
  });

  it('mines a transfer that fails', async () => {
    const hash = await transferTokens(chain, { amountBaseUnits: 10n ** 30n });
    expect((await reader().getTransactionReceipt({ hash })).status).toBe('reverted');
  });

  it('deploys another token of the same name, and a wallet that pays several times in one transaction', async () => {
    const token = await deployToken(chain);
    expect(token).not.toBe(chain.asset);
    const hash = await transferTokens(chain, { amountBaseUnits: 1000n, token });
    expect((await reader().getTransactionReceipt({ hash })).logs.map(({ address }) => address)).toEqual([
      token.toLowerCase(),
    ]);

    const wallet = await deployBatchPayer(chain);
    const before = await balanceOf(chain.payTo);
    const batch = await wallet.pay(
      [1n, 2n, 3n].map((amountBaseUnits) => ({ amountBaseUnits, lockReference: 'chain-1-a' })),
    );
    expect((await reader().getTransactionReceipt({ hash: batch })).logs).toHaveLength(3);
    expect(await balanceOf(chain.payTo)).toBe(before + 6n);
  });

  it('mines many transfers at once, with a hash lock each', async () => {
    const count = 2500;
    const before = await balanceOf(chain.payTo);
    const lockReferences = Array.from({ length: count }, (_, index) => `chain-1-${index.toString(36)}`);
    const hashes = await mineTransfers(chain, { count, amountBaseUnits: 1000n, lockReferences });
    expect(new Set(hashes).size).toBe(count);
    expect(await balanceOf(chain.payTo)).toBe(before + 1000n * BigInt(count));
    const sample = [0, 999, 1000, 2499];
    const transactions = (await callRpcBatch(
      chain.rpcUrl,
      sample.map((index) => ({ method: 'eth_getTransactionByHash', params: [hashes[index]] })),
    )) as { input: Hex }[];
    transactions.forEach(({ input }, index) => {
      expect(input.endsWith(keccak256(toHex(lockReferences[sample[index]!]!)).slice(2))).toBe(true);
    });
    // Automine is on again.
    await transferTokens(chain, { amountBaseUnits: 1n });
  });
});

it('makes blocks by time with `blockTimeSeconds`', async () => {
  const chain = await startChain({ blockTimeSeconds: 1 });
  try {
    const hash = await transferTokens(chain, { amountBaseUnits: 1000n });
    expect(hash).toMatch(/^0x[0-9a-f]{64}$/);
  } finally {
    await chain.stop();
  }
});
