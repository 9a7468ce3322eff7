import { createServer, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';

import { listenLocally } from '../processes/listen-locally.js';

export interface WebhookDelivery {
  headers: IncomingHttpHeaders;
  /** The unparsed body, which is signed. */
  body: string;
}

/** The answer to a delivery: a status, a broken connection, or none. */
export type WebhookAnswer = number | 'broken' | 'silence';

export interface WebhookTarget {
  url: string;
  /** Every delivery that was answered 2xx, in order. */
  taken: WebhookDelivery[];
  /** The number of deliveries with any other outcome. */
  readonly refused: number;
  stop(): Promise<void>;
}

/** A server that receives webhooks; `answer` may make it fail. */
export async function startWebhookTarget(
  answer: (delivery: WebhookDelivery) => WebhookAnswer = () => 204,
): Promise<WebhookTarget> {
  const taken: WebhookDelivery[] = [];
  let refused = 0;
  const server = createServer((request, response) => {
    text(request).then(
      (body) => {
        const delivery = { headers: request.headers, body };
        const reply = answer(delivery);
        if (typeof reply === 'number' && reply < 300) taken.push(delivery);
        else refused += 1;
        if (reply === 'broken') response.destroy();
        else if (reply !== 'silence') response.writeHead(reply).end();
      },
      () => response.destroy(),
    );
  });
  const { url, stop } = await listenLocally(server);
  return {
    url: `${url}/events`,
    taken,
    get refused() {
      return refused;
    },
    stop,
  };
}
