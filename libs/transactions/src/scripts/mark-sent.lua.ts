import { WORKER_LUA } from './job.lua.js';

/** Opens the scripts that learn that an attempt has left. */
export const MARK_SENT_LUA = /* lua */ `${WORKER_LUA}
-- True for the first to say so; a receipt says so too, when the answer to the sending was lost.
local function mark_sent(attempt)
  if redis.call('HSETNX', JOB, 'sent:' .. step .. ':' .. attempt.index, text(now)) == 0 then return false end
  emit('transactionSubmitted', 'BROADCAST', attempt.hash)
  return true
end
`;
