import type { SignedPermit } from '@tollgate/protocol';
import { domainSeparator, erc20Abi, keccak256, parseAbi, toHex, type Hex } from 'viem';

import { createTrader, type Trader } from '../../../test/harness/agents/trader.js';
import { approvePermit2, signPermit, type PermitTerms } from '../../../test/harness/chain/sign-permit.js';
import { EXACT_PROXY, PERMIT2, UPTO_PROXY } from '../protocols/place-contracts.js';
import { startChain, type Devnet } from './chain.js';

const structs = [
  'struct TokenPermissions { address token; uint256 amount; }',
  'struct Permit { TokenPermissions permitted; uint256 nonce; uint256 deadline; }',
] as const;
const shared = [
  'function PERMIT2() view returns (address)',
  'function WITNESS_TYPEHASH() view returns (bytes32)',
  'function WITNESS_TYPE_STRING() view returns (string)',
  'error InvalidAmount()',
  'error PaymentTooEarly()',
  // Those of Permit2, which come through.
  'error InvalidSigner()',
  'error InvalidNonce()',
  'error SignatureExpired(uint256 signatureDeadline)',
] as const;
const exactAbi = parseAbi([
  ...structs,
  ...shared,
  'struct Witness { address to; uint256 validAfter; }',
  'function settle(Permit permit, address owner, Witness witness, bytes signature)',
]);
const uptoAbi = parseAbi([
  ...structs,
  ...shared,
  'struct Witness { address to; address facilitator; uint256 validAfter; }',
  'error AmountExceedsPermitted()',
  'error UnauthorizedFacilitator()',
  'function settle(Permit permit, uint256 amount, address owner, Witness witness, bytes signature)',
]);
const bitmapAbi = parseAbi(['function nonceBitmap(address owner, uint256 word) view returns (uint256)']);

const WITNESSES = {
  exact: 'Witness(address to,uint256 validAfter)',
  upto: 'Witness(address to,address facilitator,uint256 validAfter)',
};
const hashText = (text: string): Hex => keccak256(toHex(text));

describe('payments by Permit2 on the devnet', () => {
  let chain: Devnet;
  let sender: Trader;

  beforeAll(async () => {
    chain = await startChain();
    sender = createTrader(chain, 0);
    await approvePermit2(chain, { owner: chain.accounts[1]!.address });
  });

  afterAll(() => chain.stop());

  const payer = () => chain.accounts[1]!;
  const sign = (terms: PermitTerms) => signPermit(chain, payer(), terms);
  const metered = (amountBaseUnits: bigint) => sign({ amountBaseUnits, facilitator: sender.address });
  const received = () =>
    sender.readContract({ address: chain.asset, abi: erc20Abi, functionName: 'balanceOf', args: [chain.payTo] });
  const earns = async (settle: () => Promise<unknown>): Promise<bigint> => {
    const before = await received();
    await settle();
    return (await received()) - before;
  };

  const argumentsOf = ({ permit2Authorization: signed, signature }: SignedPermit) => {
    const { token, amount } = signed.permitted;
    const permit = {
      permitted: { token, amount: BigInt(amount) },
      nonce: BigInt(signed.nonce),
      deadline: BigInt(signed.deadline),
    };
    return {
      permit,
      owner: signed.from,
      to: signed.witness.to,
      validAfter: BigInt(signed.witness.validAfter),
      signature,
    };
  };
  const settle = async (signed: SignedPermit, amount: bigint | null = null, { account = sender.account } = {}) => {
    const { permit, owner, to, validAfter, signature } = argumentsOf(signed);
    if (amount === null) {
      const args = [permit, owner, { to, validAfter }, signature] as const;
      const call = { address: EXACT_PROXY, abi: exactAbi, functionName: 'settle', args } as const;
      await sender.simulateContract({ ...call, account });
      return sender.mined(sender.writeContract({ ...call, account }));
    }
    const facilitator = signed.scheme === 'upto' ? signed.permit2Authorization.witness.facilitator : sender.address;
    const args = [permit, amount, owner, { to, facilitator, validAfter }, signature] as const;
    const call = { address: UPTO_PROXY, abi: uptoAbi, functionName: 'settle', args } as const;
    await sender.simulateContract({ ...call, account });
    return sender.mined(sender.writeContract({ ...call, account }));
  };

  it('are signed under the domain of Permit2 on this chain', async () => {
    const abi = parseAbi(['function DOMAIN_SEPARATOR() view returns (bytes32)']);
    const domain = { name: 'Permit2', chainId: chain.chainId, verifyingContract: PERMIT2 };
    const call = { address: PERMIT2, abi, functionName: 'DOMAIN_SEPARATOR' } as const;
    expect(await sender.readContract(call)).toBe(domainSeparator({ domain }));
  });

  it.each([
    ['exact', EXACT_PROXY],
    ['upto', UPTO_PROXY],
  ] as const)('are bound by the witness that payers of scheme %s sign', async (scheme, address) => {
    const call = { address, abi: exactAbi } as const;
    expect(await sender.readContract({ ...call, functionName: 'PERMIT2' })).toBe(PERMIT2);
    expect(await sender.readContract({ ...call, functionName: 'WITNESS_TYPEHASH' })).toBe(hashText(WITNESSES[scheme]));
    expect(await sender.readContract({ ...call, functionName: 'WITNESS_TYPE_STRING' })).toBe(
      `Witness witness)TokenPermissions(address token,uint256 amount)${WITNESSES[scheme]}`,
    );
  });

  it('move the signed amount, once', async () => {
    const nonce = (77n << 8n) | 13n;
    const signed = await sign({ amountBaseUnits: 1234n, nonce });
    expect(await earns(() => settle(signed))).toBe(1234n);
    const args = [payer().address, 77n] as const;
    const call = { address: PERMIT2, abi: bitmapAbi, functionName: 'nonceBitmap', args } as const;
    expect(await sender.readContract(call)).toBe(1n << 13n);
    await expect(settle(signed)).rejects.toThrow('InvalidNonce()');
  });

  it('move the used amount, up to the signed maximum, once', async () => {
    const signed = await metered(1000n);
    expect(await earns(() => settle(signed, 1n))).toBe(1n);
    await expect(settle(signed, 1n)).rejects.toThrow('InvalidNonce()');
    const all = await metered(1000n);
    expect(await earns(() => settle(all, 1000n))).toBe(1000n);
  });

  it('move no more than the signed amount, and refuse an amount of zero', async () => {
    const signed = await metered(1000n);
    await expect(settle(signed, 1001n)).rejects.toThrow('AmountExceedsPermitted()');
    await expect(settle(signed, 0n)).rejects.toThrow('InvalidAmount()');
  });

  it('can be sent only by the facilitator that was signed', async () => {
    const signed = await metered(1000n);
    const { account } = createTrader(chain, 2);
    await expect(settle(signed, 1n, { account })).rejects.toThrow('UnauthorizedFacilitator()');
  });

  it('pay no other recipient, and not under the other scheme', async () => {
    const elsewhere = chain.accounts[3]!.address;
    const signed = await sign({ amountBaseUnits: 10n });
    const { permit2Authorization } = signed;
    const witness = { ...permit2Authorization.witness, to: elsewhere };
    const turned = { ...signed, permit2Authorization: { ...permit2Authorization, witness } } as SignedPermit;
    await expect(settle(turned)).rejects.toThrow('InvalidSigner()');
    await expect(settle(signed, 10n)).rejects.toThrow('InvalidSigner()');
  });

  it('are valid only in the signed period', async () => {
    const early = await sign({ amountBaseUnits: 10n, validAfter: 20_000_000_000n });
    await expect(settle(early)).rejects.toThrow('PaymentTooEarly()');
    const late = await sign({ amountBaseUnits: 10n, deadline: 1_000_000_000n });
    await expect(settle(late)).rejects.toThrow('SignatureExpired(uint256 signatureDeadline)');
  });
});
