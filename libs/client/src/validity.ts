/** A clock that is ahead of the chain's would make a signature that is not valid yet. */
const CLOCK_SLACK_SECONDS = 600;
/** Longest that a signature is good for, whatever the server asks: so long the money may still be taken. */
const LONGEST_SECONDS = 3600;

/** From when until when what is signed now is good, in Unix seconds as decimal text. */
export function createValidity(maxTimeoutSeconds: number): { validAfter: string; validBefore: string } {
  const nowSeconds = Math.floor(Date.now() / 1000);
  return {
    validAfter: String(nowSeconds - CLOCK_SLACK_SECONDS),
    validBefore: String(nowSeconds + Math.min(maxTimeoutSeconds, LONGEST_SECONDS)),
  };
}
