import type { SignedAuthorization } from '@tollgate/protocol';

import type { Devnet } from '../../../../tools/devnet/chain/chain.js';
import { signAuthorization } from '../../../../tools/devnet/chain/sign-authorization.js';
import { bytesCallOf, cancelAuthorization, submitAuthorization } from '../sign-authorization.js';
import { PRICE } from '../use-payment-verifier.js';
import { accountOf, type SignedMethod } from './payment-method.js';
import { lower, SIGNED_CODES } from './signed-codes.js';

/** A signed EIP-3009 authorization: any account may send it to the token. */
export function eip3009(devnet: () => Devnet): SignedMethod<SignedAuthorization> {
  return {
    name: 'EIP-3009',
    // Token and chain are in the signed domain, and in nothing else of the payment.
    codes: { ...SIGNED_CODES, 'another token': 'signature_invalid' },
    pay: ({ signer = accountOf(devnet(), 0), amount = PRICE, token, chainId, nonceOf, ...terms } = {}) =>
      signAuthorization({ ...devnet(), ...(token && { asset: token }), ...(chainId && { chainId }) }, signer, {
        value: String(amount),
        ...(terms.from && { from: lower(terms.from) }),
        ...(terms.to && { to: lower(terms.to) }),
        ...(terms.validAfter !== undefined && { validAfter: String(terms.validAfter) }),
        ...(terms.validBefore !== undefined && { validBefore: String(terms.validBefore) }),
        ...(nonceOf && { nonce: nonceOf.authorization.nonce }),
      }),
    settle: (payment) => submitAuthorization(devnet(), payment),
    claimed: ({ authorization: { from } }) => ({
      payer: from,
      txHash: null,
      simulation: { atMs: expect.any(Number) as unknown, balanceBaseUnits: expect.stringMatching(/^\d+$/) as unknown },
    }),
    idOf: ({ authorization: { from, nonce } }) => {
      const { chainId, asset } = devnet();
      return { kind: 'authorization', chainId, asset: lower(asset), from, nonce };
    },
    nameOf: ({ authorization }) => authorization.nonce,
    longestRefusal: 3_000,
    // Once as an account's, once as a contract's, and the nonce before the refusal.
    refusalRequests: 3,
    call: (payment) => ({ to: devnet().asset, data: bytesCallOf(payment) }),
    moves: PRICE,
    cancel: ({ authorization }) => {
      const { chainId, asset, accounts } = devnet();
      const domain = { name: 'USDC', version: '2', chainId, verifyingContract: asset };
      const payer = accounts.find(({ address }) => lower(address) === authorization.from);
      const { privateKey } = payer ?? accountOf(devnet(), 0);
      return cancelAuthorization(devnet(), authorization, { domain, privateKey });
    },
    cancelled: 'authorization_cancelled',
    tooPoor: 'balance_too_low',
    twins: [],
    byHash: 'the same payment',
    foundBy: ['eth_getTransactionReceipt', 'eth_getLogs'],
    isBatched: true,
    unfound: { detail: 'a relayer may have sent it', amountBaseUnits: String(PRICE) },
  };
}
