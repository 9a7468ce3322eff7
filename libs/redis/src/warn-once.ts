import type { Cluster, Redis } from 'ioredis';

const listeners = new WeakMap<Redis | Cluster, { warn: (message: string) => void; said: Set<string> }>();

/** Gives a connection a place where warnings about its servers go. */
export function takeWarnings(redis: Redis | Cluster, warn: (message: string) => void): void {
  listeners.set(redis, { warn, said: new Set() });
}

/** Says it where the connection's warnings go, unless it was said before. */
export function warnOnce(redis: Redis | Cluster, message: string): void {
  const listener = listeners.get(redis);
  if (!listener || listener.said.has(message)) return;
  listener.said.add(message);
  listener.warn(message);
}
