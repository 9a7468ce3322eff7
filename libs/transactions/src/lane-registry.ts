import type { Cluster, Redis } from 'ioredis';

import type { LaneId } from './job.js';
import { codeOfLane, lanesKey, readLaneCode } from './keys.js';
import { nameLane, readLaneName } from './lane-id.js';

/** Which lanes there are; finds a job's lane from its id. */
export class LaneRegistry {
  readonly #byCode = new Map<string, LaneId>();

  constructor(
    private readonly redis: Redis | Cluster,
    private readonly fleet: string,
  ) {}

  async register(lane: LaneId): Promise<void> {
    await this.redis.sadd(lanesKey(this.fleet), nameLane(lane));
    this.#byCode.set(codeOfLane(lane), lane);
  }

  /** Every lane that was ever adopted, by name. */
  async read(): Promise<LaneId[]> {
    const names = await this.redis.smembers(lanesKey(this.fleet));
    const lanes = names.sort().flatMap((name) => readLaneName(name) ?? []);
    for (const lane of lanes) this.#byCode.set(codeOfLane(lane), lane);
    return lanes;
  }

  /** As `locate`, from what this process knows already. */
  find(jobId: string): LaneId | null {
    return this.#byCode.get(readLaneCode(jobId) ?? '') ?? null;
  }

  /** Null when the id is none, or names no lane that is known. */
  async locate(jobId: string): Promise<LaneId | null> {
    const code = readLaneCode(jobId);
    if (code === null) return null;
    if (!this.#byCode.has(code)) await this.read();
    return this.#byCode.get(code) ?? null;
  }
}
