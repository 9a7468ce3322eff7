import { planPermitTransfer } from '@tollgate/chain';
import { type Hex, signedAmountOf, type SignedPermit } from '@tollgate/protocol';
import { encodeFunctionData, parseAbi } from 'viem';

import { approvePermit2, signPermit } from '../../../../test/harness/chain/sign-permit.js';
import type { Devnet } from '../../../../tools/devnet/chain/chain.js';
import { sendTransaction } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { PERMIT2 } from '../../../../tools/devnet/protocols/place-contracts.js';
import { PRICE } from '../use-payment-verifier.js';
import { accountOf, type SignedMethod } from './payment-method.js';
import { SIGNED_CODES } from './signed-codes.js';

const INVALIDATE = parseAbi(['function invalidateUnorderedNonces(uint256 word, uint256 mask)']);

/** A signed permit of Permit2: `exact` moves the price, `upto` the part of the maximum that was used. */
export function permit2(devnet: () => Devnet, scheme: SignedPermit['scheme']): SignedMethod<SignedPermit> {
  const isMetered = scheme === 'upto';
  const facilitator = () => {
    const [relayer] = devnet().relayers;
    if (relayer === undefined) throw new Error('the devnet has no relayers');
    return relayer.address;
  };
  const rpc = (method: string, params: unknown[]) => callRpc(devnet().rpcUrl, method, params);
  const call: SignedMethod<SignedPermit>['call'] = (payment, amount = BigInt(signedAmountOf(payment))) => ({
    ...(isMetered && { from: facilitator() }),
    ...planPermitTransfer(payment, amount),
  });
  return {
    name: `Permit2 under scheme ${scheme}`,
    codes: {
      ...SIGNED_CODES,
      // The maximum is signed, and what was used is moved.
      ...(isMetered && {
        'one unit less than the price': 'amount_too_low',
        'one unit more than the price': 'claimed',
      }),
    },
    prepare: async (wallet) => {
      await approvePermit2(devnet(), { owner: accountOf(devnet(), 0).address });
      await wallet?.approve(PERMIT2);
      await rpc('anvil_impersonateAccount', [facilitator()]);
    },
    pay: ({ signer = accountOf(devnet(), 0), amount = PRICE, chainId, validBefore, nonceOf, ...terms } = {}) =>
      signPermit({ ...devnet(), ...(chainId && { chainId }) }, signer, {
        ...terms,
        amountBaseUnits: amount,
        deadline: validBefore ?? BigInt(Math.floor(Date.now() / 1000) + 300),
        ...(nonceOf && { nonce: BigInt(nonceOf.permit2Authorization.nonce) }),
        ...(isMetered && { facilitator: facilitator() }),
      }),
    settle: (payment, amount) =>
      sendTransaction(devnet(), { from: accountOf(devnet(), 5).address, ...call(payment, amount) }),
    claimed: ({ permit2Authorization: { from } }) => ({ payer: from, txHash: null }),
    idOf: ({ permit2Authorization: { from: owner, nonce } }) => {
      const { chainId } = devnet();
      return { kind: 'permit2', chainId, owner, nonce };
    },
    nameOf: ({ permit2Authorization: { nonce } }) => nonce,
    longestRefusal: 5_000,
    refusalRequests: 2,
    call,
    ...(isMetered && { onlyBy: 'the payer names the facilitator, which alone can send it' }),
    moves: isMetered ? 7n : PRICE,
    prepareWallet: async (wallet) => {
      await rpc('anvil_setBalance', [wallet, '0xde0b6b3a7640000']);
      await rpc('anvil_impersonateAccount', [wallet]);
      await approvePermit2(devnet(), { owner: wallet });
    },
    cancel: ({ permit2Authorization: { from, nonce } }) => invalidateNonce(devnet(), from, BigInt(nonce)),
    cancelled: 'payment_used',
    tooPoor: 'settlement_failed',
    twins: [
      ['another expiry', () => ({ validBefore: 10_000_000_000n })],
      ['another start', () => ({ validAfter: 1n })],
    ],
    byHash: 'belongs_to_permit',
    foundBy: ['eth_getTransactionReceipt'],
    isBatched: false,
    unfound: { detail: 'not found among the newest payments' },
  };
}

/** Invalidates a nonce of Permit2. */
function invalidateNonce(devnet: Devnet, from: Hex, nonce: bigint): Promise<Hex> {
  const args = [nonce >> 8n, 1n << (nonce & 0xffn)] as const;
  const data = encodeFunctionData({ abi: INVALIDATE, functionName: 'invalidateUnorderedNonces', args });
  return sendTransaction(devnet, { from, to: PERMIT2, data });
}
