export interface RedisProgram {
  command: string;
  environment: Record<string, string>;
}
export const WITHOUT_REDIS_7_0: string;
export function findRedisServer(root: string): RedisProgram | undefined;
export function nameServer(program: RedisProgram): string;
export function findRedis70(root: string): RedisProgram | undefined;
