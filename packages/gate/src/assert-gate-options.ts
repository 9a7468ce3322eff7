import { isAddress, isHttpUrl, isRecord, PaymentError } from '@tollgate/protocol';

import type { GateOptions } from './gate.js';

/**
 * Checks the options at run time, since an unset environment variable arrives as undefined whatever the types say.
 * Reports every problem before anything is sold.
 * @throws PaymentError `invalid_options`
 */
export function assertGateOptions(options: GateOptions): void {
  const { payTo, chainId, store, ...given } = readRecord(options);
  const [facilitator, asset] = [readRecord(given['facilitator']), readRecord(given['asset'])];
  const problems = [
    (typeof facilitator['url'] === 'string' && isHttpUrl(facilitator['url'])) ||
      'facilitator.url is not an http or https URL',
    isApiKey(facilitator['apiKey']) || 'facilitator.apiKey is not a text that fits into a header',
    isAddress(payTo) || 'payTo is not an address',
    isAddress(asset['address']) || 'asset.address is not an address',
    typeof asset['name'] === 'string' || 'asset.name is not a text',
    typeof asset['version'] === 'string' || 'asset.version is not a text',
    isWhole(asset['decimals'], 0, 255) || 'asset.decimals is not a whole number from 0 to 255',
    isWhole(chainId, 1, Number.MAX_SAFE_INTEGER) || 'chainId is not a whole number above 0',
    store === undefined || isStore(readRecord(store)) || 'store lacks the methods read and replace',
  ].filter((problem) => typeof problem === 'string');
  if (problems.length === 0) return;
  throw new PaymentError('invalid_options', `The gate options are invalid: ${problems.join('; ')}.`, {
    hint: 'Check that the environment variables behind them are set.',
    details: { problems },
  });
}

function readRecord(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

/** Whether the key fits into a header; otherwise fetch would quote the key in its error. */
function isApiKey(value: unknown): boolean {
  return value === undefined || (typeof value === 'string' && /^[\x20-\x7e]*$/.test(value));
}

function isWhole(value: unknown, least: number, most: number): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most;
}

function isStore({ read, replace }: Record<string, unknown>): boolean {
  return typeof read === 'function' && typeof replace === 'function';
}
