import { LuaScript } from '@tollgate/redis';

import { ABANDON_JOB_LUA } from './scripts/abandon-job.lua.js';
import { ADOPT_LUA } from './scripts/adopt.lua.js';
import { AMOUNT_LUA } from './scripts/amount.lua.js';
import { APPROVE_LUA } from './scripts/approve.lua.js';
import { CANCEL_LUA } from './scripts/cancel.lua.js';
import { CLAIM_KEY_LUA } from './scripts/claim-key.lua.js';
import { EXPIRE_APPROVAL_LUA } from './scripts/expire-approval.lua.js';
import { FAIL_ATTEMPT_LUA } from './scripts/fail-attempt.lua.js';
import { FAIL_PLAN_LUA } from './scripts/fail-plan.lua.js';
import { FAIL_STEP_LUA } from './scripts/fail-step.lua.js';
import { FINISH_STEP_LUA } from './scripts/finish-step.lua.js';
import { GUARD_LANE_LUA } from './scripts/guard-lane.lua.js';
import { JOB_LUA } from './scripts/job.lua.js';
import { LANE_LUA } from './scripts/lane.lua.js';
import { LOCK_APPROVALS_LUA } from './scripts/lock-approvals.lua.js';
import { MARK_BROADCAST_LUA } from './scripts/mark-broadcast.lua.js';
import { MARK_MINED_LUA } from './scripts/mark-mined.lua.js';
import { MOVE_CONSUMER_LUA } from './scripts/move-consumer.lua.js';
import { NEED_OPERATOR_LUA } from './scripts/need-operator.lua.js';
import { PAUSE_LANE_LUA, RESUME_LANE_LUA } from './scripts/pause-lane.lua.js';
import { PUT_ATTEMPT_LUA } from './scripts/put-attempt.lua.js';
import { PUT_DETAIL_LUA } from './scripts/put-detail.lua.js';
import { PUT_PLAN_LUA } from './scripts/put-plan.lua.js';
import { REJECT_LUA } from './scripts/reject.lua.js';
import { RELEASE_LANE_LUA } from './scripts/release-lane.lua.js';
import { RESERVE_SPENDING_LUA } from './scripts/reserve-spending.lua.js';
import { RESERVE_LUA } from './scripts/reserve.lua.js';
import { RESUME_JOB_LUA } from './scripts/resume-job.lua.js';
import { SKIP_STEP_LUA } from './scripts/skip-step.lua.js';
import { SUBMIT_LUA } from './scripts/submit.lua.js';
import { RELEASE_LEASE_LUA, RENEW_LEASE_LUA, TAKE_LEASE_LUA } from './scripts/take-lease.lua.js';
import { THAW_LUA } from './scripts/thaw.lua.js';
import { UNMINE_LUA } from './scripts/unmine.lua.js';

const transitions = {
  abandonJob: ABANDON_JOB_LUA,
  adopt: ADOPT_LUA,
  approve: APPROVE_LUA,
  cancel: CANCEL_LUA,
  expireApproval: EXPIRE_APPROVAL_LUA,
  failAttempt: FAIL_ATTEMPT_LUA,
  failPlan: FAIL_PLAN_LUA,
  failStep: FAIL_STEP_LUA,
  finishStep: FINISH_STEP_LUA,
  guardLane: GUARD_LANE_LUA,
  lockApprovals: LOCK_APPROVALS_LUA,
  markBroadcast: MARK_BROADCAST_LUA,
  markMined: MARK_MINED_LUA,
  moveConsumer: MOVE_CONSUMER_LUA,
  needOperator: NEED_OPERATOR_LUA,
  pauseLane: PAUSE_LANE_LUA,
  resumeLane: RESUME_LANE_LUA,
  putAttempt: PUT_ATTEMPT_LUA,
  putDetail: PUT_DETAIL_LUA,
  putPlan: PUT_PLAN_LUA,
  reject: REJECT_LUA,
  releaseLane: RELEASE_LANE_LUA,
  reserve: RESERVE_LUA,
  reserveSpending: RESERVE_SPENDING_LUA,
  resumeJob: RESUME_JOB_LUA,
  skipStep: SKIP_STEP_LUA,
  submit: SUBMIT_LUA,
  takeLease: TAKE_LEASE_LUA,
  renewLease: RENEW_LEASE_LUA,
  releaseLease: RELEASE_LEASE_LUA,
  thaw: THAW_LUA,
  unmine: UNMINE_LUA,
} as const;

export type TransitionName = keyof typeof transitions;

/**
 * KEYS: lane, then the jobs in use. ARGV, for each call: the transition's name, `+` where it is made only if the call
 * before succeeded, the index of its job (0: none), the number of arguments, and the arguments. Returns each
 * transition's reply, or {now, `skipped`}.
 *
 * Atomic: each transition, and a call with the one that it continues. Several in one script cost one round trip.
 */
const LANE_PROGRAM_LUA = /* lua */ `
local CALLS, ARGV = ARGV, nil
${LANE_LUA}${AMOUNT_LUA}${JOB_LUA}
local transitions = {}
${Object.entries(transitions)
  .map(([name, body]) => `transitions.${name} = function()${body}end`)
  .join('\n')}

-- A chain of calls stops at a plan that waits for an approval.
local function goes_on(reply)
  local went = reply[2] == 'done' or reply[2] == 'unchanged' or reply[2] == 'accepted'
  return went and reply[3] ~= 'AWAITING_APPROVAL'
end

local replies, at = {}, 1
while at <= #CALLS do
  local from, count = at + 4, tonumber(CALLS[at + 3])
  local reply = {text(now), 'skipped'}
  if CALLS[at + 1] ~= '+' or goes_on(replies[#replies]) then
    JOB = CALLS[at + 2] ~= '0' and KEYS[tonumber(CALLS[at + 2]) + 1] or nil
    ID = JOB and string.sub(JOB, #ROOT + 5)
    ARGV = {unpack(CALLS, from, from + count - 1)}
    owner_of = nil
    reply = transitions[CALLS[at]]()
    if CALLS[at + 2] == '0' then forget_lane() end
    if reply.err then return reply end
  end
  replies[#replies + 1] = reply
  at = from + count
end
return replies
`;

export const JOURNAL_SCRIPTS = { claimKey: new LuaScript(CLAIM_KEY_LUA), laneProgram: new LuaScript(LANE_PROGRAM_LUA) };
