import type { Hex } from '@tollgate/protocol';

import type { SignedMethod } from './payment-method.js';

/** The failures that are the same for all signed payments of a fixed price. */
export const SIGNED_CODES: SignedMethod['codes'] = {
  'one unit less than the price': 'amount_mismatch',
  'one unit more than the price': 'amount_mismatch',
  'more than the payer has': 'balance_too_low',
  'another token': 'asset_mismatch',
  'another chain': 'signature_invalid',
  'another recipient': 'recipient_mismatch',
  'a start in the future': 'authorization_not_yet_valid',
  'a start beyond all time': 'authorization_not_yet_valid',
  'an expiry two days ago': 'authorization_expired',
  'an expiry in the past': 'authorization_expired',
  'an expiry too soon to settle it': 'authorization_expired',
  "a signature of another account's key": 'signature_invalid',
};

export const lower = (address: Hex): Hex => address.toLowerCase() as Hex;
