import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { OperatorApi } from './operator-api.js';

const PART = '["entries",{}]\n';

let server: Server;
let answer: (response: ServerResponse) => unknown;
let operator: string;

beforeAll(async () => {
  server = createServer((_, response) => answer(response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  operator = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => jest.restoreAllMocks());

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

it.each([
  [401, 'The API key is unknown or revoked.'],
  [403, 'The key lacks operator:refund.'],
  [502, undefined],
])('names the address that refused a request with status %d', async (status, detail) => {
  answer = (response) => response.writeHead(status).end(JSON.stringify({ detail }));
  const api = new OperatorApi({ operator }, { OPERATOR_API_KEY: 'key' });
  await expect(api.ask('GET /operator/balances', {})).rejects.toThrow(
    `The operator API at ${operator} refused the request: ${detail ?? 'status 502'}`,
  );
});

describe('an answer that is read as it comes', () => {
  async function read(partWithinMs: number): Promise<string> {
    let text = '';
    const api = new OperatorApi({ operator }, { OPERATOR_API_KEY: 'key' }, partWithinMs);
    for await (const part of api.readParts('GET /operator/backup', {})) text += part;
    return text;
  }

  it('may take longer than any limit, as long as its parts come', async () => {
    // Ten minutes, in a second.
    const soon = AbortSignal.timeout(1_000);
    jest.spyOn(AbortSignal, 'timeout').mockReturnValue(soon);
    answer = async (response) => {
      for (let part = 0; part < 50; part++) {
        response.write(PART);
        await sleep(100);
      }
      response.end();
    };
    expect(await read(4_000)).toBe(PART.repeat(50));
  });

  it('is not complete when no more comes, or when it breaks off', async () => {
    answer = (response) => response.write(PART);
    await expect(read(200)).rejects.toThrow(/has sent nothing for 0.2 seconds: the output is not complete/);
    answer = (response) => response.write(PART, () => response.destroy());
    await expect(read(60_000)).rejects.toThrow(/ended while it was answering: the output is not complete/);
  });
});
