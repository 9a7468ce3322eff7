import type { SignedPayment } from '@tollgate/protocol';

/** What the token, or Permit2, takes once per payer. */
export function nonceOf(payment: SignedPayment): string {
  return payment.kind === 'permit2' ? payment.permit2Authorization.nonce : payment.authorization.nonce;
}

/** From when on nothing can be moved by it. */
export function endsAtMs(payment: SignedPayment): number {
  const { kind } = payment;
  return Number(kind === 'permit2' ? payment.permit2Authorization.deadline : payment.authorization.validBefore) * 1000;
}
