// Creates the services' secrets once; restarts keep them. Each secret is a file in a volume that only the services that
// need it mount.
//   create-secrets.mjs FILE…         random text, to sign with: for CHALLENGE_SECRET_FILE and AGENT_SECRET_FILE
//   create-secrets.mjs --wallet DIR  with DEVNET_WALLET=true, the key of the devnet's funded agent wallet, and a wallets file
//   create-secrets.mjs --book DIR --postgres DIR  the key that signs the book's closings and the URL of its database; and
//                                    the passwords of the database's superuser and of the bookkeeper's role
//   create-secrets.mjs --relayer DIR with DEVNET_WALLET=true, the key of the devnet's funded relayer
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';

import { keepSecret } from './keep-secret.mjs';

const DEVNET_MNEMONIC = 'test test test test test test test test test test test junk';
const DEVNET_WALLET_INDEX = 20;
/** Not an agent wallet's account: two senders from one account would take each other's nonces. */
const DEVNET_RELAYER_INDEX = 24;

const args = process.argv.slice(2);
if (args.length === 0) {
  console.error('usage: create-secrets.mjs FILE… [--wallet DIR] [--relayer DIR] [--book DIR --postgres DIR]');
  process.exit(2);
}
const walletFolder = takeFolder('--wallet');
const relayerFolder = takeFolder('--relayer');
const bookFolder = takeFolder('--book');
const postgresFolder = takeFolder('--postgres');
const isDevnet = process.env.DEVNET_WALLET === 'true';

for (const file of args) create(file, () => randomBytes(48).toString('base64url'));
if (bookFolder && postgresFolder) {
  create(join(bookFolder, 'signing-key'), () => randomBytes(32).toString('hex'));
  // Images of PostgreSQL run as different users; only they mount this folder.
  const [, password] = ['password', 'bookkeeper-password'].map((name) =>
    create(join(postgresFolder, name), () => randomBytes(32).toString('hex'), 0o444),
  );
  create(join(bookFolder, 'database-url'), () => `postgres://bookkeeper:${password}@postgres:5432/tollgate`);
}
if (relayerFolder && isDevnet) create(join(relayerFolder, 'devnet-key'), await deriveKey(DEVNET_RELAYER_INDEX));
if (walletFolder && isDevnet) {
  create(join(walletFolder, 'devnet.key'), await deriveKey(DEVNET_WALLET_INDEX));
  const wallets = { devnet: { privateKeyFile: 'devnet.key' } };
  create(join(walletFolder, 'wallets.yaml'), () => `${JSON.stringify({ wallets }, null, 2)}\n`);
}

function takeFolder(flag) {
  const at = args.indexOf(flag);
  return at === -1 ? undefined : args.splice(at, 2)[1];
}

async function deriveKey(addressIndex) {
  const { mnemonicToAccount } = await import('viem/accounts');
  const account = mnemonicToAccount(DEVNET_MNEMONIC, { addressIndex });
  return () => Buffer.from(account.getHdKey().privateKey).toString('hex');
}

function create(file, write, mode) {
  const { text, isNew } = keepSecret(file, write, mode);
  console.log(`${file}: ${isNew ? 'created' : 'kept'}`);
  return text;
}
