import autocannon from 'autocannon';

import { noteProgress } from './fail-when-stalled.js';
import { watchProcessors, type Roles } from './process-usage.js';
import type { Sample } from './run-rounds.js';

export interface Target {
  name: string;
  /** The paid resource. */
  url: string;
  roles: Roles;
}

export interface PaidTarget extends Target {
  /** The request header of a payment. */
  header: string;
}

/** How often autocannon looks whether its connections are done. */
const LOOK_EVERY_MS = 50;

interface Repeated {
  connections: number;
  seconds: number;
  headers?: Record<string, string>;
  /** Of the expected answers. */
  status: number;
}

/** Sends the same request again and again; takes the cores of the processes. */
export async function repeatRequest({ url, roles }: Target, terms: Repeated): Promise<Sample> {
  const { connections, seconds, headers = {}, status } = terms;
  const readCores = watchProcessors(roles);
  const result = await autocannon({ url, connections, headers, duration: seconds });
  const expected = result.statusCodeStats[status]?.count ?? 0;
  return {
    perSecond: expected / result.duration,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    failed: result.requests.total - expected + result.errors + result.timeouts,
    detail: readCores(),
  };
}

/** Sends one request with each payment; takes the time of each, and the cores of the processes. */
export async function sendPayments(target: PaidTarget, payments: string[], inFlight: number): Promise<Sample> {
  const { name, url, roles, header } = target;
  const unsent = payments.values();
  const timesMs: number[] = [];
  let failure = 'no answer';
  const request = {
    setupRequest: (common: object) => ({ ...common, headers: { [header]: unsent.next().value } }),
    onResponse: (status: number, body: string) => {
      if (status !== 200) failure = `${status} ${body}`;
    },
  };
  const readCores = watchProcessors(roles);
  const startedMs = performance.now();
  let endedMs = startedMs;
  const connections = Math.min(inFlight, payments.length);
  const load = autocannon({ url, connections, amount: payments.length, requests: [request], sampleInt: LOOK_EVERY_MS });
  void load.on('response', (_client, status: number, _bytes, ms: number) => {
    noteProgress();
    endedMs = performance.now();
    if (status === 200) timesMs.push(ms);
  });
  await load;
  if (timesMs.length === 0) throw new Error(`${name} answered no request with 200:\n${failure}`);
  const failed = payments.length - timesMs.length;
  return { ...summarize(timesMs.length, endedMs - startedMs, timesMs), failed, detail: readCores() };
}

/** Does the work with each item, so many at once, and takes the time of each. */
export async function timeEach<T>(
  atOnce: number,
  items: Iterable<T>,
  work: (item: T) => Promise<unknown>,
): Promise<Sample> {
  const timesMs: number[] = [];
  const iterator = items[Symbol.iterator]();
  // One for all, each of whom takes the next item.
  const rest = { [Symbol.iterator]: () => iterator };
  const repeat = async (): Promise<void> => {
    for (const item of rest) {
      const begunMs = performance.now();
      await work(item);
      noteProgress();
      timesMs.push(performance.now() - begunMs);
    }
  };
  const startedMs = performance.now();
  await Promise.all(Array.from({ length: atOnce }, repeat));
  return summarize(timesMs.length, performance.now() - startedMs, timesMs);
}

/** A rate, and the middle and the worst of some times in milliseconds. */
export function summarize(count: number, tookMs: number, timesMs: number[]): Sample {
  const sorted = timesMs.sort((a, b) => a - b);
  const at = (part: number): number => sorted[Math.floor(sorted.length * part)] ?? NaN;
  return { perSecond: (count / tookMs) * 1000, p50Ms: at(0.5), p99Ms: at(0.99), failed: 0 };
}
