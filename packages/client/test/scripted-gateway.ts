import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

import { listenLocally } from '../../../tools/devnet/processes/listen-locally.js';

export interface SeenRequest {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

/** Handles one request. */
export type Answer = (response: ServerResponse, request: SeenRequest) => void;

/** A real HTTP server with scripted answers, one for each request; the last one is repeated. */
export class ScriptedGateway {
  readonly seen: SeenRequest[] = [];
  #answers: Answer[] = [];
  url = '';
  stop = async (): Promise<void> => undefined;

  static async start(): Promise<ScriptedGateway> {
    const gateway = new ScriptedGateway();
    const server = createServer((request, response) => void gateway.#serve(request, response));
    return Object.assign(gateway, await listenLocally(server));
  }

  answer(...answers: Answer[]): void {
    this.#answers = answers;
    this.seen.length = 0;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { method = '', url = '', headers } = request;
    const seen = { method, url, headers, body };
    this.seen.push(seen);
    const answer = this.#answers.length > 1 ? this.#answers.shift() : this.#answers[0];
    answer?.(response, seen);
  }
}

export function json(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return (response) => {
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
  };
}

export function problem(status: number, code: string, members: object = {}, headers = {}): Answer {
  return json(
    status,
    { type: `urn:tollgate:error:${code}`, status, code, detail: 'Because.', requestId: 'r1', ...members },
    headers,
  );
}

/** Breaks the connection before the answer is complete. */
export const cutOff: Answer = (response) => {
  response.writeHead(202, { 'Content-Type': 'application/json', 'Content-Length': '1000' });
  response.write('{"id":', () => response.destroy());
};

/** A server-sent event stream that the gateway then ends. */
export function stream(...parts: string[]): Answer {
  return (response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    for (const part of parts) response.write(part);
    response.end();
  };
}
