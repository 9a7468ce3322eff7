export function isRedisUrlAnswering(url: string): Promise<boolean>;
