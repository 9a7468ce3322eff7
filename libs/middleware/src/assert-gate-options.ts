import { isAddress, isHttpUrl, isRecord, PaymentError } from '@tollgate/protocol';

import type { GateOptions } from './gate.js';

/**
 * Whatever the types say, a variable that is not set comes here as undefined: each problem is told before anything is sold.
 * @throws PaymentError `invalid_options`
 */
export function assertGateOptions(options: GateOptions): void {
  const { payTo, chainId, store, ...given } = readRecord(options);
  const [facilitator, asset] = [readRecord(given['facilitator']), readRecord(given['asset'])];
  const problems = [
    (typeof facilitator['url'] === 'string' && isHttpUrl(facilitator['url'])) ||
      'facilitator.url is no URL of http or https',
    isApiKey(facilitator['apiKey']) || 'facilitator.apiKey is no text that fits into a header',
    isAddress(payTo) || 'payTo is no address',
    isAddress(asset['address']) || 'asset.address is no address',
    typeof asset['name'] === 'string' || 'asset.name is no text',
    typeof asset['version'] === 'string' || 'asset.version is no text',
    isWhole(asset['decimals'], 0, 255) || 'asset.decimals is no whole number from 0 to 255',
    isWhole(chainId, 1, Number.MAX_SAFE_INTEGER) || 'chainId is no whole number above 0',
    store === undefined || isStore(readRecord(store)) || 'store has no methods read and replace',
  ].filter((problem) => typeof problem === 'string');
  if (problems.length === 0) return;
  throw new PaymentError('invalid_options', `The gate's options are not complete: ${problems.join('; ')}.`, {
    hint: 'A variable of the environment that is not set may be the cause.',
    details: { problems },
  });
}

function readRecord(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

/** What fits into no header, fetch would quote in its error. */
function isApiKey(value: unknown): boolean {
  return value === undefined || (typeof value === 'string' && /^[\x20-\x7e]*$/.test(value));
}

function isWhole(value: unknown, least: number, most: number): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most;
}

function isStore({ read, replace }: Record<string, unknown>): boolean {
  return typeof read === 'function' && typeof replace === 'function';
}
