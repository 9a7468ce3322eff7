import type { SignedPayment } from '@tollgate/protocol';

/** The nonce, which the token or Permit2 accepts once per payer. */
export function nonceOf(payment: SignedPayment): string {
  return payment.kind === 'permit2' ? payment.permit2Authorization.nonce : payment.authorization.nonce;
}

/** From this time on it cannot move tokens. */
export function endsAtMs(payment: SignedPayment): number {
  const { kind } = payment;
  return Number(kind === 'permit2' ? payment.permit2Authorization.deadline : payment.authorization.validBefore) * 1000;
}
