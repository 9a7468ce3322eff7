import { createHash } from 'node:crypto';

import { CLAIM_LUA } from './scripts/claim.lua.js';
import { COMMIT_LUA } from './scripts/commit.lua.js';
import { COUNT_REPRODUCTION_LUA } from './scripts/count-reproduction.lua.js';
import { FIX_AMOUNT_LUA } from './scripts/fix-amount.lua.js';
import { RECORD_REFUSAL_LUA } from './scripts/record-refusal.lua.js';
import { RELEASE_LUA, RELEASE_OWNER_LUA } from './scripts/release.lua.js';
import { RENEW_LUA } from './scripts/renew.lua.js';

const sources = {
  claim: CLAIM_LUA,
  renew: RENEW_LUA,
  fixAmount: FIX_AMOUNT_LUA,
  commit: COMMIT_LUA,
  release: RELEASE_LUA,
  releaseOwner: RELEASE_OWNER_LUA,
  countReproduction: COUNT_REPRODUCTION_LUA,
  recordRefusal: RECORD_REFUSAL_LUA,
} as const;

export type ScriptName = keyof typeof sources;

/** The scripts of all transitions, with the hashes by which Redis caches them. */
export const LEDGER_SCRIPTS = Object.fromEntries(
  Object.entries(sources).map(([name, lua]) => [name, { lua, sha: createHash('sha1').update(lua).digest('hex') }]),
) as Record<ScriptName, { lua: string; sha: string }>;
