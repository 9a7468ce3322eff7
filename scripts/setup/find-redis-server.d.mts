export interface RedisProgram {
  command: string;
  environment: Record<string, string>;
}
export function findRedisServer(root: string, oldest?: number): RedisProgram | undefined;
export const OLDEST_FOR_CLUSTERS: number;
