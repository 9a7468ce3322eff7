import { LuaScript } from '@tollgate/redis';

import claim from './scripts/claim.lua';
import close from './scripts/close.lua';
import commit from './scripts/commit.lua';
import countReproduction from './scripts/count-reproduction.lua';
import fixAmount from './scripts/fix-amount.lua';
import guard from './scripts/guard.lua';
import recordRefusal from './scripts/record-refusal.lua';
import refunded from './scripts/refunded.lua';
import releaseOwner from './scripts/release-owner.lua';
import release from './scripts/release.lua';
import renew from './scripts/renew.lua';
import book from './scripts/shared/book.lua';
import record from './scripts/shared/record.lua';

/** The scripts of all transitions. */
export const LEDGER_SCRIPTS = {
  claim: new LuaScript(record + claim),
  renew: new LuaScript(record + renew),
  fixAmount: new LuaScript(record + fixAmount),
  commit: new LuaScript(record + book + commit),
  release: new LuaScript(record + book + release),
  releaseOwner: new LuaScript(record + book + releaseOwner),
  countReproduction: new LuaScript(record + countReproduction),
  recordRefusal: new LuaScript(record + book + recordRefusal),
  close: new LuaScript(record + book + close),
  refunded: new LuaScript(record + book + refunded),
};

/** Run once, by each start and each restore. */
export const CONTINUITY_SCRIPTS = { guard: new LuaScript(record + guard) };
