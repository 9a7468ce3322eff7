import {
  appendHashLock,
  challengeNonce,
  lowerHex,
  signedMethodOf,
  type Hex,
  type PaymentToSign,
} from '@tollgate/protocol';
import { encodeFunctionData, erc20Abi } from 'viem';

import { endSecondsOf, isCharge } from '../offer/charge-requirement.js';
import { methodOfOffer, type SignableRequirement, type TransferRequirement } from '../offer/signable-requirement.js';

/**
 * What a payer signs to pay an offer: valid from now on, for as long as the offer asks, an hour at most.
 * @param nonce 32 bytes; each is accepted once per payer. A charge of MPP has its own.
 * @throws PaymentError `cannot_pay` for an offer that lacks the domain of its token
 */
export function createPaymentToSign(requirement: SignableRequirement, from: Hex, nonce: Hex): PaymentToSign {
  const { payTo, asset, maxAmountRequired, maxTimeoutSeconds } = requirement;
  // It ends with the challenge, and its nonce names it: two of them can move the money once.
  const own = isCharge(requirement) && {
    endSeconds: endSecondsOf(requirement.challenge),
    nonce: challengeNonce(requirement.challenge),
  };
  const terms = { from, payTo, asset, amount: maxAmountRequired, maxTimeoutSeconds, nonce, ...own };
  return signedMethodOf(methodOfOffer(requirement)).create(terms, requirement);
}

/** `transfer(payTo, amount)` on the asset, with the hash lock of the reference appended. */
export function createPaymentCall({ asset, payTo, maxAmountRequired, extra }: TransferRequirement): {
  to: Hex;
  data: Hex;
} {
  // In lower case, because the server's spelling may have an invalid mixed-case checksum.
  const args = [lowerHex(payTo), BigInt(maxAmountRequired)] as const;
  const transfer = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args });
  return { to: asset, data: appendHashLock(transfer, extra.reference) };
}
