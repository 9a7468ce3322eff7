/**
 * KEYS lane; ARGV reason. Returns {now, `done` | `unchanged`} or a refusal. The first reason stays.
 *
 * Atomic: checking that the lane exists and marking it. If it was deleted in between, half a lane would be left.
 */
export const PAUSE_LANE_LUA = /* lua */ `
if redis.call('HEXISTS', LANE, 'nextNonce') == 0 then return refused('not_adopted') end
return {text(now), redis.call('HSETNX', LANE, 'paused', ARGV[1]) == 1 and 'done' or 'unchanged'}
`;

/**
 * KEYS lane. Returns {now, `done` | `unchanged`} or a refusal.
 *
 * Atomic: as for pausing.
 */
export const RESUME_LANE_LUA = /* lua */ `
if redis.call('HEXISTS', LANE, 'nextNonce') == 0 then return refused('not_adopted') end
return {text(now), redis.call('HDEL', LANE, 'paused') == 1 and 'done' or 'unchanged'}
`;
