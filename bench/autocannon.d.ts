/** The part of autocannon that the benchmark uses; the package brings no types. */
declare module 'autocannon' {
  import type { EventEmitter } from 'node:events';

  interface Request {
    setupRequest?: (request: object) => object;
    onResponse?: (status: number, body: string) => void;
  }
  interface Options {
    url: string;
    connections: number;
    /** Seconds, or a number of requests. */
    duration?: number;
    amount?: number;
    headers?: Record<string, string>;
    requests?: Request[];
    sampleInt?: number;
  }
  interface Result {
    /** Seconds. */
    duration: number;
    requests: { total: number };
    latency: { p50: number; p99: number };
    errors: number;
    timeouts: number;
    statusCodeStats: Record<string, { count: number }>;
  }
  /** Emits `response` with client, status, bytes and milliseconds. */
  function autocannon(options: Options): EventEmitter & Promise<Result>;
  export default autocannon;
}
