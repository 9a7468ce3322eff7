import type { Hex } from '@tollgate/protocol';
import { LuaScript, type RedisClient } from '@tollgate/redis';

import endGas from './scripts/end-gas.lua';
import holdGas from './scripts/hold-gas.lua';
import lookAtGas from './scripts/look-at-gas.lua';
import burntGas from './scripts/shared/burnt-gas.lua';

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

const LOOK = new LuaScript(burntGas + lookAtGas);
const HOLD = new LuaScript(burntGas + holdGas);
const END = new LuaScript(endGas);

/**
 * Gas that contract wallets burnt in vain. It is kept in Redis, so all verifiers share it and a restart does not reset
 * it.
 */
export class BurnBudget {
  constructor(private readonly redis: RedisClient) {}

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
