// Writes the ACL file of a Redis or Valkey from the rules beside this file, with a random password for each user.
//   create-users.mjs ACLFILE FOLDER URL
// FOLDER/<user>/password and FOLDER/<user>/url, for REDIS_URL_FILE, are the only places of a password; ACLFILE has its hash.
// URL is that of the servers without a user: redis://redis:6379. Run again, it keeps the passwords, and writes the rules and
// the URLs anew; servers take the rules at their start or by ACL LOAD. To change a password, remove the user's folder first.
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { keepSecret, writeSecret } from '../keep-secret.mjs';

/** Of each user, the files with its rules. */
const USERS = {
  gateway: ['gateway', 'every-process'],
  'gateway-jobs': ['gateway', 'gateway-jobs', 'every-process'],
  verifier: ['verifier', 'every-process'],
  'agent-worker': ['agent-worker', 'every-process'],
  bookkeeper: ['bookkeeper'],
  operator: ['operator', 'every-process', 'backup'],
  replica: ['replica'],
  sentinel: ['sentinel'],
};

const [aclFile, folder, url] = process.argv.slice(2);
if (!aclFile || !folder || !/^rediss?(\+\w+)?:\/\/[^@]+$/.test(url ?? '')) {
  console.error('usage: create-users.mjs ACLFILE FOLDER URL, such as redis://redis:6379');
  process.exit(2);
}
const lines = Object.entries(USERS).map(([user, files]) => {
  const hash = createHash('sha256').update(keepPassword(user)).digest('hex');
  return [`user ${user} on #${hash} resetkeys resetchannels -@all`, ...files.map(readRules)].join(' ');
});
// Valid for no password at all: without a user of its own a connection may do nothing.
writeFileSync(aclFile, `${['user default off', ...lines].join('\n')}\n`);
console.log(`${aclFile}: written`);

function keepPassword(user) {
  mkdirSync(join(folder, user), { recursive: true });
  const { text: password } = keepSecret(join(folder, user, 'password'), () => randomBytes(32).toString('base64url'));
  writeUrl(join(folder, user, 'url'), url.replace('://', `://${user}:${password}@`));
  return password;
}

function writeUrl(file, text) {
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return;
  writeSecret(file, text);
  console.log(`${file}: written`);
}

function readRules(name) {
  const text = readFileSync(new URL(`${name}.acl`, import.meta.url), 'utf8');
  return text.replaceAll(/^#.*$/gm, '').split(/\s+/).filter(Boolean).join(' ');
}
