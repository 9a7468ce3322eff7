import { createServer } from 'node:http';

import { listenLocally } from '../../tools/devnet/processes/listen-locally.js';

export interface Call {
  id: number;
  method: string;
  params: unknown[];
}

/** Serves JSON-RPC, alone and in batches; `answer` gives the answers as JSON text, in the order of the calls. */
export async function serveJsonRpc(answer: (calls: Call[]) => Promise<string[]>): Promise<void> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const asked = JSON.parse(Buffer.concat(chunks).toString()) as Call | Call[];
      const isBatch = Array.isArray(asked);
      answer(isBatch ? asked : [asked]).then(
        (texts) =>
          response
            .writeHead(200, { 'content-type': 'application/json' })
            .end(isBatch ? `[${texts.join(',')}]` : texts[0]),
        (error: unknown) => response.writeHead(502).end(String(error)),
      );
    });
  });
  const { url } = await listenLocally(server);
  process.stdout.write(`ready ${url}\n`);
}
