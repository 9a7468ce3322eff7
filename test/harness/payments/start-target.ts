import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedPost {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A number is sent as the status. */
export type TargetAnswer = number | ((response: ServerResponse, post: ReceivedPost) => void);

export interface WebhookReceiver {
  url: string;
  port: number;
  posts: ReceivedPost[];
  /** The answers to the next posts; the last one is repeated. */
  answerWith(...answers: TargetAnswer[]): void;
  stop(): Promise<void>;
}

/** A webhook target of another service. */
export async function startTarget(): Promise<WebhookReceiver> {
  const posts: ReceivedPost[] = [];
  let answers: TargetAnswer[] = [204];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const post: ReceivedPost = { method, url, headers, body };
      posts.push(post);
      const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? 204;
      if (typeof answer === 'function') answer(response, post);
      else response.writeHead(answer).end('a body that is never read');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/events?token=canary-in-url`,
    port,
    posts,
    answerWith: (...given) => {
      answers = given;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
