import { randomBytes } from 'node:crypto';

import type { Hex } from '@tollgate/protocol';
import fc from 'fast-check';
import { keccak256, recoverAddress } from 'viem';
import { privateKeyToAddress, sign } from 'viem/accounts';

import { checkCrypto } from './check-crypto.js';
import type { Curve } from './curve.js';
import { loadNative, loadWasm, useCurve } from './load-curve.js';
import { createPreimageSigner } from './preimage-signer.js';
import { recoverAccount } from './recover-account.js';

/** The platforms for which the package secp256k1 has a binary; elsewhere the services use WASM. */
const PREBUILT = ['linux-x64', 'darwin-arm64', 'win32-x64'];
const hasPrebuilt = PREBUILT.includes(`${process.platform}-${process.arch}`);
const curves: Record<string, () => Curve> = { ...(hasPrebuilt ? { native: loadNative } : {}), wasm: loadWasm };
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

const bytes = (length: number): fc.Arbitrary<Hex> =>
  fc
    .uint8Array({ minLength: length, maxLength: length })
    .map((array): Hex => `0x${Buffer.from(array).toString('hex')}`);
const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`;
const privateKey = fc.bigInt({ min: 1n, max: ORDER - 1n }).map(word);

async function recoverByNoble(hash: Hex, signature: Hex): Promise<string | null> {
  return recoverAddress({ hash, signature }).then(
    (address) => address.toLowerCase(),
    () => null,
  );
}

it('is native where the package has a binary, unless the setting says otherwise', () => {
  const { TOLLGATE_SECP256K1 = 'auto' } = process.env;
  const expected = TOLLGATE_SECP256K1 === 'auto' ? (hasPrebuilt ? 'native' : 'wasm') : TOLLGATE_SECP256K1;
  expect(useCurve().name).toBe(expected);
});

describe.each(Object.entries(curves))('secp256k1, %s', (name, load) => {
  let curve: Curve;

  beforeAll(() => {
    curve = load();
  });

  it('signs as noble does, and the address is the same', async () => {
    await fc.assert(
      fc.asyncProperty(privateKey, fc.uint8Array({ maxLength: 300 }), async (key, preimage) => {
        const signer = createPreimageSigner(key, curve);
        expect(signer?.address).toBe(privateKeyToAddress(key).toLowerCase());
        const expected = await sign({ hash: keccak256(preimage), privateKey: key });
        expect(await signer?.sign(preimage)).toEqual({
          r: BigInt(expected.r),
          s: BigInt(expected.s),
          yParity: expected.yParity,
        });
      }),
      { numRuns: 50 },
    );
  });

  it('recovers the signer of a signature and of its twin', async () => {
    await fc.assert(
      fc.asyncProperty(privateKey, bytes(32), fc.constantFrom(0, 27), async (key, hash, base) => {
        const { r, s, yParity = 0 } = await sign({ hash, privateKey: key });
        const address = privateKeyToAddress(key).toLowerCase();
        const write = (upper: bigint, v: number): Hex =>
          `${r}${word(upper).slice(2)}${v.toString(16).padStart(2, '0')}` as Hex;
        expect(recoverAccount(hash, write(BigInt(s), base + yParity), curve)).toBe(address);
        expect(recoverAccount(hash, write(ORDER - BigInt(s), base + 1 - yParity), curve)).toBe(address);
      }),
      { numRuns: 25 },
    );
  });

  it('recovers what noble recovers from any 65 bytes', async () => {
    const edge = fc.constantFrom(0n, 1n, ORDER - 1n, ORDER, 2n ** 256n - 1n).map(word);
    const number = fc.oneof({ weight: 4, arbitrary: bytes(32) }, { weight: 1, arbitrary: edge });
    const v = fc.oneof(fc.constantFrom(0, 1, 27, 28), fc.nat(255)).map((one) => one.toString(16).padStart(2, '0'));
    await fc.assert(
      fc.asyncProperty(number, number, number, v, async (hash, r, s, last) => {
        const signature = `${r}${s.slice(2)}${last}` as Hex;
        expect(recoverAccount(hash, signature, curve)).toBe(await recoverByNoble(hash, signature));
      }),
      { numRuns: 100 },
    );
  });

  it('takes no signature of another length, and none that is not hexadecimal', () => {
    const hash: Hex = `0x${randomBytes(32).toString('hex')}`;
    for (const length of [0, 64, 66, 130]) {
      expect(recoverAccount(hash, `0x${randomBytes(length).toString('hex')}`, curve)).toBeNull();
    }
    expect(recoverAccount(hash, `0x${'zz'.repeat(64)}1b`, curve)).toBeNull();
  });

  it.each(['0', ORDER.toString(16), 'f'.repeat(64)])('has no signer for the private key %s', (key) => {
    expect(createPreimageSigner(`0x${key.padStart(64, '0')}`, curve)).toBeNull();
  });

  it('passes the check at the start', async () => {
    expect(await checkCrypto(curve)).toBe(name);
  });

  it('fails the check at the start if it signs or recovers wrongly', async () => {
    const other = curve.publicKeyOf(randomBytes(32));
    const twin: Curve = {
      ...curve,
      sign: (hash, key) => {
        const { rs, yParity } = curve.sign(hash, key);
        const s = ORDER - BigInt(`0x${Buffer.from(rs.subarray(32)).toString('hex')}`);
        return {
          rs: Buffer.concat([rs.subarray(0, 32), Buffer.from(word(s).slice(2), 'hex')]),
          yParity: 1 - yParity,
        };
      },
    };
    await expect(checkCrypto(twin)).rejects.toThrow('gives a wrong result');
    await expect(checkCrypto({ ...curve, recover: () => other })).rejects.toThrow('does not recover its key');
  });

  it('lets no faulty signature out', async () => {
    const faulty: Curve = {
      ...curve,
      sign: (hash, key) => {
        const { rs, yParity } = curve.sign(hash, key);
        rs[40]! ^= 1;
        return { rs, yParity };
      },
    };
    const signer = createPreimageSigner(word(5n), faulty);
    await expect(signer?.sign(Buffer.from('anything'))).rejects.toThrow('does not recover its key');
  });
});
