import { RECORD_LUA } from './record.lua.js';

/**
 * KEYS entry; ARGV slot, generation, owner, 1 when the release counts, 1 to forget the amount that this holder fixed.
 * Returns {now, `released` | `stale`}.
 *
 * Atomic: checking that the lease is still this holder's and releasing the payment. Otherwise, after a take-over, the
 * new holder's payment could become free for a third request.
 */
export const RELEASE_LUA = /* lua */ `${RECORD_LUA}
local now = now_ms()
local r = read_record(redis.call('HGET', KEYS[1], ARGV[1]))
if not r or r.generation ~= tonumber(ARGV[2]) then return {text(now), 'stale'} end
-- The same release sent twice (its reply was lost) is one release.
if r.state == 'R' then return {text(now), 'released'} end
if r.state ~= 'L' or r.owner ~= ARGV[3] then return {text(now), 'stale'} end
-- The owner is kept: a second copy of its question, handled late, must not take the payment again.
r.state, r.at, r.til = 'R', now, 0
r.releases = r.releases + tonumber(ARGV[4])
-- An amount fixed by an earlier holder may still be moved by another permit with this nonce.
local amount, fixer = ARGV[1] .. ':amount', ARGV[1] .. ':fixer'
if ARGV[5] == '1' and redis.call('HGET', KEYS[1], fixer) == ARGV[2] then redis.call('HDEL', KEYS[1], amount, fixer) end
write_state(KEYS[1], ARGV[1], r)
return {text(now), 'released'}
`;

/**
 * KEYS entry; ARGV owner. Returns {now, `released` | `none`}.
 *
 * Atomic: finding what this owner holds and releasing it. Otherwise, after a commit or a take-over, a spent payment or
 * one of another holder could be released.
 */
export const RELEASE_OWNER_LUA = /* lua */ `${RECORD_LUA}
local now, outcome = now_ms(), 'none'
for slot, r in pairs(read_entry(KEYS[1])) do
  if r.state == 'L' and r.owner == ARGV[1] then
    r.state, r.at, r.til = 'R', now, 0
    write_state(KEYS[1], slot, r)
    outcome = 'released'
  end
end
return {text(now), outcome}
`;
