import { readKeySigner, type LaneSigner } from '@tollgate/journal';
import * as Keystore from 'ox/Keystore';
import { z } from 'zod';

const HEX = z.string().regex(/^([0-9a-f]{2})+$/i);
const BYTES_32 = z.string().regex(/^[0-9a-f]{64}$/i);

const DERIVED_BYTES = 32;

/**
 * Web3 Secret Storage, version 3. A keystore with larger parameters is a mistake, or would keep the process from ever
 * starting.
 */
const KEYSTORE = z.object({
  version: z.literal(3),
  address: z
    .string()
    .regex(/^(0x)?[0-9a-f]{40}$/i)
    .optional(),
  crypto: z.object({
    cipher: z.literal('aes-128-ctr'),
    ciphertext: BYTES_32,
    cipherparams: z.object({ iv: z.string().regex(/^[0-9a-f]{32}$/i) }),
    mac: BYTES_32,
    derivation: z.discriminatedUnion('kdf', [
      z.object({
        kdf: z.literal('scrypt'),
        kdfparams: z.object({
          dklen: z.literal(DERIVED_BYTES),
          n: z.int().min(2).max(1_048_576),
          p: z.int().min(1).max(16),
          r: z.int().min(1).max(16),
          salt: HEX,
        }),
      }),
      z.object({
        kdf: z.literal('pbkdf2'),
        kdfparams: z.object({
          c: z.int().min(1).max(10_000_000),
          dklen: z.literal(DERIVED_BYTES),
          prf: z.literal('hmac-sha256'),
          salt: HEX,
        }),
      }),
    ]),
  }),
});

/** Why a keystore could not be opened; the message contains neither the password nor any part of the key. */
export class KeystoreError extends Error {
  override readonly name = 'KeystoreError';
}

/**
 * The signer of an encrypted keystore file, as written by geth, Foundry and wallet applications.
 * @throws KeystoreError
 */
export function decryptKeystore(text: string, password: string): LaneSigner {
  const { crypto, address } = parseKeystore(text);
  const { derivation, ...rest } = crypto;
  const keystore = { version: 3, id: '', crypto: { ...rest, ...derivation } } as Keystore.Keystore;
  let privateKey: string;
  try {
    privateKey = Keystore.decrypt(keystore, Keystore.toKey(keystore, { password }));
  } catch {
    throw new KeystoreError('the password does not open the keystore');
  }
  const signer = readKeySigner(privateKey);
  if (!signer) throw new KeystoreError('the keystore holds no private key');
  if (address !== undefined && !signer.address.endsWith(address.toLowerCase())) {
    throw new KeystoreError("the keystore's address is not that of its key");
  }
  return signer;
}

function parseKeystore(text: string): z.infer<typeof KEYSTORE> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new KeystoreError('the keystore is not JSON');
  }
  const parsed = KEYSTORE.safeParse(nestDerivation(value));
  if (parsed.success) return parsed.data;
  const places = parsed.error.issues.map(({ path }) => path.filter((part) => part !== 'derivation').join('.'));
  throw new KeystoreError(`it is not a keystore of version 3 (${[...new Set(places)].join(', ')})`);
}

/**
 * The name of the key derivation decides its parameters, so both are merged into one object for parsing. Older files
 * write `Crypto`.
 */
function nestDerivation(value: unknown): unknown {
  const { version, address, crypto, Crypto } = Object(value) as Record<string, unknown>;
  const { kdf, kdfparams, ...rest } = Object(crypto ?? Crypto) as Record<string, unknown>;
  return { version, ...(address !== undefined && { address }), crypto: { ...rest, derivation: { kdf, kdfparams } } };
}
