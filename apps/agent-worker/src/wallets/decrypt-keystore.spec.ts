import * as Keystore from 'ox/Keystore';

import { decryptKeystore, KeystoreError } from './decrypt-keystore.js';

// The test vectors of the Web3 Secret Storage definition; both contain the same key.
const PASSWORD = 'testpassword';
const ADDRESS = '0x008aeeda4d805471df9b2a5b0f38a0c3bcba786b';
const PBKDF2 = {
  version: 3,
  id: '3198bc9c-6672-5ab3-d995-4942343ae5b6',
  crypto: {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: '6087dab2f9fdbbfaddc31a909735c1e6' },
    ciphertext: '5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46',
    kdf: 'pbkdf2',
    kdfparams: {
      c: 262144,
      dklen: 32,
      prf: 'hmac-sha256',
      salt: 'ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd',
    },
    mac: '517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2',
  },
};
const SCRYPT = {
  ...PBKDF2,
  crypto: {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: '83dbcc02d8ccb40e466191a123791e0e' },
    ciphertext: 'd172bf743a674da9cdad04534d56926ef8358534d458fffccd4e6ad2fbde479c',
    kdf: 'scrypt',
    kdfparams: {
      dklen: 32,
      n: 262144,
      p: 8,
      r: 1,
      salt: 'ab0c7876052600dd703518d6fc3fe8984592145b591fc8fb5c6d43190334ba19',
    },
    mac: '2103ac29920d71da29f15d75b4a16dbe95cfd7ff8faea1056c33131d846e3097',
  },
};

/** The same key, derived from the password in two rounds: each of the vectors takes half a second. */
function encryptQuickly(): object {
  const [key, options] = Keystore.pbkdf2({ password: PASSWORD, iterations: 2 });
  return Keystore.encrypt('0x7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d', key, options);
}

function refusalOf(keystore: unknown, password = PASSWORD): string {
  try {
    decryptKeystore(typeof keystore === 'string' ? keystore : JSON.stringify(keystore), password);
  } catch (error) {
    expect(error).toBeInstanceOf(KeystoreError);
    return (error as Error).message;
  }
  throw new Error('the keystore was opened');
}

describe('a keystore', () => {
  it.each([
    ['pbkdf2', PBKDF2],
    ['scrypt', SCRYPT],
  ])('is opened by its password, derived by %s', (_, keystore) => {
    expect(decryptKeystore(JSON.stringify(keystore), PASSWORD).address).toBe(ADDRESS);
  });

  it('may contain the address of its key, with or without 0x', () => {
    const keystore = encryptQuickly();
    for (const address of [ADDRESS, ADDRESS.slice(2).toUpperCase()]) {
      expect(decryptKeystore(JSON.stringify({ ...keystore, address }), PASSWORD).address).toBe(ADDRESS);
    }
    expect(refusalOf({ ...keystore, address: 'ab'.repeat(20) })).toBe("the keystore's address is not that of its key");
  });

  it('is not opened by another password, and the error does not repeat it', () => {
    expect(refusalOf(encryptQuickly(), 'canary')).toBe('the password does not open the keystore');
  });

  it('is refused when it is not a keystore, with the invalid fields', () => {
    expect(refusalOf('{"version": 3,')).toBe('the keystore is not JSON');
    expect(refusalOf(null)).toMatch(/^it is not a keystore of version 3 \(version, crypto\.cipher, /);
    expect(refusalOf({ ...PBKDF2, version: 1 })).toBe('it is not a keystore of version 3 (version)');
    const kdfparams = { ...SCRYPT.crypto.kdfparams, n: 2 ** 40 };
    expect(refusalOf({ ...SCRYPT, crypto: { ...SCRYPT.crypto, kdfparams } })).toBe(
      'it is not a keystore of version 3 (crypto.kdfparams.n)',
    );
  });
});
