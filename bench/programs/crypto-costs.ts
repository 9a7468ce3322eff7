/** `npx tsx bench/programs/crypto-costs.ts`: microseconds of CPU time for what the services sign, recover and hash. */
import { createAuthorizationTypedData, hashTokenDomain, hashTransferAuthorization, type Hex } from '@tollgate/protocol';
import { hashTypedData, keccak256 as hashInJavaScript, recoverAddress } from 'viem';
import { privateKeyToAccount, sign } from 'viem/accounts';

import { keccak256, loadKeccak } from '../../libs/crypto/src/keccak.js';
import { loadNative, loadWasm } from '../../libs/crypto/src/load-curve.js';
import { createPreimageSigner } from '../../libs/crypto/src/preimage-signer.js';
import { recoverAccount } from '../../libs/crypto/src/recover-account.js';
import { median } from '../run-rounds.js';

const ROUNDS = 9;
const KEY: Hex = `0x${'07'.repeat(32)}`;
const ADDRESS = privateKeyToAccount(KEY).address.toLowerCase() as Hex;
const HASH = hashInJavaScript('0x01');
const PREIMAGE = Buffer.alloc(120, 3);
const DOMAIN = { name: 'USDC', version: '2', chainId: 1328, asset: ADDRESS };
const SEPARATOR = hashTokenDomain(DOMAIN);
const AUTHORIZATION = {
  from: ADDRESS,
  to: ADDRESS,
  value: '1000',
  validAfter: '0',
  validBefore: '1900000000',
  nonce: HASH,
};
const TYPED = createAuthorizationTypedData(AUTHORIZATION, DOMAIN);

type Call = () => unknown;

async function main(): Promise<void> {
  await loadKeccak();
  const signature = await sign({ hash: HASH, privateKey: KEY, to: 'hex' });
  const calls: Record<string, Call> = {};
  for (const curve of [loadNative(), loadWasm()]) {
    const signer = createPreimageSigner(KEY, curve);
    calls[`sign 120 bytes and verify, ${curve.name}`] = () => signer?.sign(PREIMAGE);
    calls[`sign a hash, ${curve.name}`] = () => curve.sign(Buffer.from(HASH.slice(2), 'hex'), Buffer.alloc(32, 7));
    calls[`recover an account, ${curve.name}`] = () => recoverAccount(HASH, signature, curve);
  }
  calls['sign a hash, JavaScript'] = () => sign({ hash: HASH, privateKey: KEY });
  calls['recover an account, JavaScript'] = () => recoverAddress({ hash: HASH, signature });
  for (const length of [64, 1000, 20_000]) {
    const bytes = Buffer.alloc(length, 3);
    calls[`keccak256 of ${length} bytes, WASM`] = () => keccak256(bytes);
    calls[`keccak256 of ${length} bytes, JavaScript`] = () => hashInJavaScript(bytes, 'bytes');
  }
  calls['EIP-3009 digest, by hand'] = () => hashTransferAuthorization(AUTHORIZATION, SEPARATOR);
  calls['EIP-3009 digest, viem.hashTypedData'] = () => hashTypedData(TYPED as never);
  await report(calls);
}

/** Every call in each round; the median of the rounds. */
async function report(calls: Record<string, Call>): Promise<void> {
  const results = new Map<string, number[]>(Object.keys(calls).map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, call] of Object.entries(calls)) results.get(name)?.push(await measure(call));
  }
  for (const [name, micros] of results) {
    console.log(`${name.padEnd(45)} ${median(micros).toFixed(2).padStart(9)}`);
  }
}

async function measure(call: Call): Promise<number> {
  const before = process.cpuUsage();
  let count = 0;
  for (; (process.cpuUsage(before).user < 60_000 && count < 20_000) || count < 5; count++) await call();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}

await main();
