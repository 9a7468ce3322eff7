const LOOPBACK = ['127.0.0.1', '::1', 'localhost'];

/** True unless it is turned off, or the policy accepts only transactions. */
export function takesSignedPayments({ SIGNED_PAYMENTS: asked, PAYMENT_POLICY: policy }: NodeJS.ProcessEnv): boolean {
  return asked === undefined ? policy !== 'receipt' : asked === 'true';
}

/** Under the policy `receipt` verifiers refuse to start with any. */
export function countRelayers({ PAYMENT_POLICY: policy }: NodeJS.ProcessEnv): number {
  return policy === 'receipt' ? 0 : 1;
}

/** Whether the pages have a wallet, so that a browser without one can pay: not where others reach the gateway. */
export function hasTestWallet({ HOST, PAGES }: NodeJS.ProcessEnv): boolean {
  return PAGES !== 'false' && (HOST === undefined || LOOPBACK.includes(HOST));
}
