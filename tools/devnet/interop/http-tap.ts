import {
  createServer,
  request as sendRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { text } from 'node:stream/consumers';

import { listenLocally } from '../processes/listen-locally.js';

export interface TappedRequest {
  method: string;
  path: string;
  /** Names in lower case. */
  headers: IncomingHttpHeaders;
  body: string;
}

export interface TappedAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** One request and its answer, as they went over the wire. */
export interface TappedExchange {
  request: TappedRequest;
  answer: TappedAnswer;
}

/** Decides the answer to a client; `send` passes a request to the server and resolves with the server's answer. */
export type Interference = (
  request: TappedRequest,
  send: (request: TappedRequest) => Promise<TappedAnswer>,
) => Promise<TappedAnswer>;

export interface HttpTap {
  url: string;
  /** All exchanges so far, in the order of the answers, as the client saw them. */
  exchanges: TappedExchange[];
  /** The target of requests from now on. */
  forwardTo(target: string): void;
  /** Changes what client and server send from now on; without one, nothing is changed. */
  interfere(interference?: Interference): void;
  /** Sends a request to the server; a recorded one is sent again byte for byte. */
  send(request: TappedRequest): Promise<TappedAnswer>;
  stop(): Promise<void>;
}

/**
 * A proxy between a client and a server that records their exchanges. By itself it changes nothing, not even the Host.
 */
export async function startHttpTap(target = ''): Promise<HttpTap> {
  const exchanges: TappedExchange[] = [];
  let currentTarget = target;
  const letPass: Interference = (request, sendOn) => sendOn(request);
  let between = letPass;
  const send = (request: TappedRequest) => exchange(currentTarget, request);
  const forward = async (incoming: IncomingMessage, response: ServerResponse) => {
    const { method = 'GET', url: path = '/' } = incoming;
    const request = { method, path, headers: incoming.headers, body: await text(incoming) };
    const answer = await between(request, send);
    exchanges.push({ request, answer });
    const headers = { ...answer.headers, 'content-length': String(Buffer.byteLength(answer.body)) };
    delete headers['transfer-encoding'];
    response.writeHead(answer.status, headers).end(answer.body);
  };
  const server = createServer((incoming, response) => {
    forward(incoming, response).catch(() => response.destroy());
  });
  // Without this, connections end after five idle seconds, and a request sent at that moment is lost.
  server.keepAliveTimeout = 0;
  return {
    ...(await listenLocally(server)),
    exchanges,
    forwardTo: (next) => {
      currentTarget = next;
    },
    interfere: (interference = letPass) => {
      between = interference;
    },
    send,
  };
}

function exchange(target: string, { method, path, headers, body }: TappedRequest): Promise<TappedAnswer> {
  return new Promise((resolve, reject) => {
    // A new connection, because the server may just be closing one that was idle.
    const outgoing = sendRequest(target + path, { agent: false, method, headers }, (answer) => {
      text(answer).then(
        (answerBody) => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: answerBody }),
        reject,
      );
    });
    outgoing.on('error', reject).end(body);
  });
}
