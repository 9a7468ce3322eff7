// Writes a random challenge secret to the file given, unless one is there: restarts keep it, so that
// challenges given out before a restart are still known after it.
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, existsSync, writeFileSync } from 'node:fs';

const [file] = process.argv.slice(2);
if (!file) {
  console.error('usage: create-challenge-secret.mjs FILE');
  process.exit(2);
}
const GATEWAY_USER = 1000;
if (existsSync(file)) {
  console.log('challenge secret: kept');
} else {
  writeFileSync(file, randomBytes(48).toString('base64url'), { flag: 'wx', mode: 0o400 });
  chownSync(file, GATEWAY_USER, GATEWAY_USER);
  chmodSync(file, 0o400);
  console.log('challenge secret: created');
}
