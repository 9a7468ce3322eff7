import type { Hex } from '@tollgate/protocol';

import type { Curve } from './curve.js';
import { loadKeccak } from './keccak.js';
import { useCurve } from './load-curve.js';
import { createPreimageSigner } from './preimage-signer.js';
import { recoverAccount } from './recover-account.js';

const PRIVATE_KEY: Hex = `0x${'1'.padStart(64, '0')}`;
/** A signature by the private key over the keccak256 of "tollgate", made by another library. */
const VECTOR = {
  preimage: 'tollgate',
  hash: '0xb2962c520c6dd5cfa309b7f86891701b81ba8c1fc33ecbde49369a79f927dfb8',
  signature:
    '0x06f692cd51386de594e323e8f26557c129095f93e2ae92a32e559284e93147675e703bc0cd1e1aa556a65e7909e17e0aac4a826d7c177f782255fbc29c0f6c051c',
  address: '0x7e5f4552091a69125d5dfcb7b8c2659029395bdf',
} as const;

/**
 * Signs and recovers a known signature, and returns the name of the implementation: a process that signs must not start
 * with one that is wrong.
 */
export async function checkCrypto(curve: Curve = useCurve()): Promise<Curve['name']> {
  await loadKeccak();
  const signature = await createPreimageSigner(PRIVATE_KEY, curve)?.sign(Buffer.from(VECTOR.preimage));
  const { r, s, yParity } = signature ?? { r: 0n, s: 0n, yParity: 0 };
  const made = `0x${[r, s].map((part) => part.toString(16).padStart(64, '0')).join('')}${(27 + yParity).toString(16)}`;
  const recovered = recoverAccount(VECTOR.hash, VECTOR.signature, curve);
  if (made !== VECTOR.signature || recovered !== VECTOR.address)
    throw new Error(`secp256k1: ${curve.name} gives a wrong result for a known signature. Set TOLLGATE_SECP256K1.`);
  return curve.name;
}
