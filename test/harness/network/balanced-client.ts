import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { waitFor } from '../retry.js';

export interface BalancedClient {
  /**
   * Sends a request to a gateway that was ready at the last check. Sends it again only when the connection was refused.
   * With a body it is a POST.
   */
  send(path: string, headers?: Readonly<Record<string, string>>, body?: string): Promise<Response>;
  /** Resolves once every gateway is known to be ready. */
  untilAllReady(): Promise<void>;
  stop(): void;
}

const LOOK_EVERY_MS = 100;

/** Clients behind a load balancer: they keep their connections, and use the gateways that report readiness. */
export function startBalancedClient(urls: readonly string[]): BalancedClient {
  const agent = new Agent({ keepAlive: true });
  const ready = new Set(urls);
  let turn = 0;
  let isStopped = false;

  const watch = async (url: string): Promise<void> => {
    while (!isStopped) {
      const isReady = await send(agent, `${url}/health/ready`, {}).then(
        ({ status }) => status === 200,
        () => false,
      );
      if (isReady) ready.add(url);
      else ready.delete(url);
      await sleep(LOOK_EVERY_MS);
    }
  };
  for (const url of urls) void watch(url);

  return {
    send: async (path, headers = {}, body) => {
      for (;;) {
        const candidates = ready.size > 0 ? [...ready] : urls;
        const url = candidates[turn++ % candidates.length] ?? '';
        try {
          return await send(agent, url + path, headers, body);
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED') throw error;
          ready.delete(url);
        }
      }
    },
    untilAllReady: () => waitFor('every gateway to be ready', () => ready.size === urls.length),
    stop: () => {
      isStopped = true;
      agent.destroy();
    },
  };
}

/** By `node:http`, which unlike fetch never repeats a request by itself. */
function send(agent: Agent, url: string, headers: Readonly<Record<string, string>>, body?: string): Promise<Response> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST';
    const sent = request(url, { agent, method, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => {
        const named = Object.entries(answer.headersDistinct).flatMap(([name, values = []]) =>
          values.map((value): [string, string] => [name, value]),
        );
        resolve(new Response(Buffer.concat(chunks), { status: answer.statusCode ?? 0, headers: named }));
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
