import type { Hex } from '@tollgate/protocol';
import { LuaScript } from '@tollgate/redis';
import type { Redis } from 'ioredis';

/** Gas that contract wallets have burnt in the last hour, and gas that their transactions in flight may still burn. */
export interface BurntGas {
  burnt: number;
  held: number;
}

export interface HeldGas {
  gas: number;
  /** As named by `nameCode`. */
  code: Hex;
}

/** Shared by all verifiers of a ledger. */
const KEY = 'tollgate:{contract-wallets}:burnt-gas';
const KEPT_MS = 2 * 3_600_000;

/**
 * Hash fields: `burnt:<minute>` holds gas, `held:<job>` holds gas, minute and code. Entries older than an hour no
 * longer count. A hold whose end was never seen, because a process died, counts as burnt until then.
 */
const READ = /* lua */ `
local minute = math.floor(redis.call('TIME')[1] / 60)
local burnt, held = 0, 0
local fields = redis.call('HGETALL', KEYS[1])
for at = 1, #fields, 2 do
  local since = fields[at]:match('^burnt:(%d+)$')
  local gas = fields[at + 1]
  if since == nil then gas, since = gas:match('^(%d+) (%d+)') end
  if tonumber(since) < minute - 60 then redis.call('HDEL', KEYS[1], fields[at])
  elseif fields[at]:sub(1, 5) == 'burnt' then burnt = burnt + gas
  else held = held + gas end
end
`;

const LOOK = new LuaScript(/* lua */ `${READ}
return {burnt, held}
`);

/**
 * KEYS the budget; ARGV job, gas, code, the most that may be burnt and held, ms. Check and hold are one step: otherwise
 * other verifiers could take the same room in between. A hold left from an earlier plan of the job is dropped.
 */
const HOLD = new LuaScript(/* lua */ `
local name = 'held:' .. ARGV[1]
redis.call('HDEL', KEYS[1], name)
${READ}
if burnt + held + tonumber(ARGV[2]) > tonumber(ARGV[4]) then return {burnt, held, 0} end
redis.call('HSET', KEYS[1], name, ARGV[2] .. ' ' .. minute .. ' ' .. ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return {burnt, held, 1}
`);

/** KEYS the budget; ARGV job, gas burnt, ms. Returns what the job held, which is thus counted only once. */
const END = new LuaScript(/* lua */ `
local held = redis.call('HGET', KEYS[1], 'held:' .. ARGV[1])
if not held then return false end
redis.call('HDEL', KEYS[1], 'held:' .. ARGV[1])
if tonumber(ARGV[2]) > 0 then
  local minute = math.floor(redis.call('TIME')[1] / 60)
  redis.call('HINCRBY', KEYS[1], 'burnt:' .. minute, ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
return held
`);

/**
 * Gas that contract wallets burnt in vain. It is kept in Redis, so all verifiers share it and a restart does not reset
 * it.
 */
export class BurnBudget {
  constructor(private readonly redis: Redis) {}

  async read(): Promise<BurntGas> {
    return readBurnt(await LOOK.run(this.redis, KEY, []));
  }

  /** Holds gas for a job before it is sent, if `most` leaves room beside the gas already burnt and held. */
  async hold(jobId: string, { gas, code }: HeldGas, most: number): Promise<BurntGas & { isHeld: boolean }> {
    const reply = (await HOLD.run(this.redis, KEY, [jobId, gas, code, most, KEPT_MS])) as number[];
    return { ...readBurnt(reply), isHeld: reply[2] === 1 };
  }

  /** Releases what the job held and counts what it burnt instead; null when the job holds nothing (any more). */
  async end(jobId: string, burnt: number): Promise<HeldGas | null> {
    const held = await END.run(this.redis, KEY, [jobId, burnt, KEPT_MS]);
    if (typeof held !== 'string') return null;
    const [gas, , code] = held.split(' ');
    return { gas: Number(gas), code: code as Hex };
  }
}

function readBurnt(reply: unknown): BurntGas {
  const [burnt = 0, held = 0] = reply as number[];
  return { burnt, held };
}
