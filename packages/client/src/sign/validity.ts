/** Allows for a clock ahead of the chain's, with which a signature would not be valid yet. */
const CLOCK_SLACK_SECONDS = 600;
/** The longest validity of a signature, whatever the server asks for: during it the money may still be taken. */
const LONGEST_SECONDS = 3600;

/** The validity of a signature made now, in Unix seconds as decimal text. */
export function createValidity(maxTimeoutSeconds: number): { validAfter: string; validBefore: string } {
  const nowSeconds = Math.floor(Date.now() / 1000);
  return {
    validAfter: String(nowSeconds - CLOCK_SLACK_SECONDS),
    validBefore: String(nowSeconds + Math.min(maxTimeoutSeconds, LONGEST_SECONDS)),
  };
}
