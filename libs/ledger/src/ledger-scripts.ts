import { LuaScript } from '@tollgate/redis';

import { CLAIM_LUA } from './scripts/claim.lua.js';
import { COMMIT_LUA } from './scripts/commit.lua.js';
import { COUNT_REPRODUCTION_LUA } from './scripts/count-reproduction.lua.js';
import { FIX_AMOUNT_LUA } from './scripts/fix-amount.lua.js';
import { RECORD_REFUSAL_LUA } from './scripts/record-refusal.lua.js';
import { RELEASE_LUA, RELEASE_OWNER_LUA } from './scripts/release.lua.js';
import { RENEW_LUA } from './scripts/renew.lua.js';

/** The scripts of all transitions. */
export const LEDGER_SCRIPTS = {
  claim: new LuaScript(CLAIM_LUA),
  renew: new LuaScript(RENEW_LUA),
  fixAmount: new LuaScript(FIX_AMOUNT_LUA),
  commit: new LuaScript(COMMIT_LUA),
  release: new LuaScript(RELEASE_LUA),
  releaseOwner: new LuaScript(RELEASE_OWNER_LUA),
  countReproduction: new LuaScript(COUNT_REPRODUCTION_LUA),
  recordRefusal: new LuaScript(RECORD_REFUSAL_LUA),
};
