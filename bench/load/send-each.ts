import { connect, type Socket } from 'node:net';

import { noteProgress } from '../fail-when-stalled.js';
import type { Sample } from '../run-rounds.js';
import { summarize } from './time-each.js';

export interface LoadOptions {
  /** The targets; connections are distributed over them in turn. */
  urls: string[];
  /** Whole HTTP/1.1 requests, each sent once. */
  requests: Buffer[];
  /** Connections, each with one request under way. */
  inFlight: number;
  expectedStatus: number;
}

/** A longer answer counts as missing. */
const ANSWER_WITHIN_MS = 10_000;

/** The first answer that was not as expected, to say why a run failed. */
export interface LoadResult extends Sample {
  firstFailure?: string;
}

/**
 * Sends each request once over keep-alive connections and takes the time of each. Requests are bytes made beforehand and
 * answers are read only as far as necessary: on two cores a full HTTP client would use the cores that it measures.
 */
export async function sendEach({ urls, requests, inFlight, expectedStatus }: LoadOptions): Promise<LoadResult> {
  const sockets = await Promise.all(
    Array.from({ length: Math.min(inFlight, requests.length) }, (_, index) => open(urls[index % urls.length] ?? '')),
  );
  const latencies = new Float64Array(requests.length);
  let next = 0;
  let failed = 0;
  let firstFailure: string | undefined;

  const drive = (socket: Socket) =>
    new Promise<void>((resolve) => {
      let index = -1;
      let sentMs = 0;
      let received: Buffer = Buffer.alloc(0);
      const send = () => {
        const request = requests[next];
        if (!request) return resolve();
        index = next++;
        sentMs = performance.now();
        socket.write(request);
      };
      const note = (failure: string) => {
        failed++;
        firstFailure ??= failure;
      };
      socket.on('data', (chunk: Buffer) => {
        received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
        const answer = readAnswer(received);
        if (!answer) return;
        latencies[index] = performance.now() - sentMs;
        noteProgress();
        if (answer.status !== expectedStatus) note(received.toString('latin1').slice(0, 1000));
        received = Buffer.alloc(0);
        send();
      });
      socket.on('error', () => undefined);
      socket.setTimeout(ANSWER_WITHIN_MS, () => socket.destroy());
      socket.on('close', () => {
        if (index >= 0 && latencies[index] === 0) {
          latencies[index] = performance.now() - sentMs;
          note(`no answer: the connection was closed, or silent for ${ANSWER_WITHIN_MS} ms`);
        }
        resolve();
      });
      send();
    });

  const startedMs = performance.now();
  await Promise.all(sockets.map(drive));
  const tookMs = performance.now() - startedMs;
  for (const socket of sockets) socket.destroy();
  // Not sent, because all connections were lost.
  failed += requests.length - Math.min(next, requests.length);
  const sample = summarize(requests.length - failed, tookMs, latencies);
  return { ...sample, failed, ...(firstFailure === undefined ? {} : { firstFailure }) };
}

/** A GET, or a POST where there is a body, as bytes. */
export function encodeRequest(url: string, headers: Record<string, string> = {}, body?: string): Buffer {
  const { host, pathname } = new URL(url);
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const lines = Object.entries({ host, ...length, ...headers }).map(([name, value]) => `${name}: ${value}`);
  const method = body === undefined ? 'GET' : 'POST';
  return Buffer.from(`${method} ${pathname} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body ?? ''}`);
}

/** The status of a complete answer, or nothing while more bytes must come. */
function readAnswer(bytes: Buffer): { status: number } | undefined {
  const headLength = bytes.indexOf('\r\n\r\n');
  if (headLength < 0) return undefined;
  const head = bytes.toString('latin1', 0, headLength);
  const bodyLength = bytes.length - headLength - 4;
  const declared = /\r\ncontent-length: *(\d+)/i.exec(head);
  const isComplete = declared
    ? bodyLength >= Number(declared[1])
    : bytes.toString('latin1', Math.max(headLength + 4, bytes.length - 5)) === '0\r\n\r\n';
  return isComplete ? { status: Number(head.slice(9, 12)) } : undefined;
}

function open(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true }, () => resolve(socket));
    socket.once('error', reject);
  });
}
