/**
 * KEYS lane; ARGV why. Answers {now, `done` | `unchanged`} or a refusal. The first reason stays.
 *
 * Atomic: seeing that the lane is known and marking it. If it was wiped in between, half a lane would be left.
 */
export const PAUSE_LANE_LUA = /* lua */ `
if redis.call('HEXISTS', LANE, 'nextNonce') == 0 then return refused('not_adopted') end
return {text(now), redis.call('HSETNX', LANE, 'paused', ARGV[1]) == 1 and 'done' or 'unchanged'}
`;

/**
 * KEYS lane. Answers {now, `done` | `unchanged`} or a refusal.
 *
 * Atomic: as pausing.
 */
export const RESUME_LANE_LUA = /* lua */ `
if redis.call('HEXISTS', LANE, 'nextNonce') == 0 then return refused('not_adopted') end
return {text(now), redis.call('HDEL', LANE, 'paused') == 1 and 'done' or 'unchanged'}
`;
