import { ASSET, PAY_TO, VERSIONS } from '../../test/create-payment.js';
import { startFacilitator, type ScriptedFacilitator } from '../../test/start-facilitator.js';
import { PaymentGate, type Sale } from '../gate/gate.js';
import { handleRequest } from './handle-request.js';

describe('a request handler', () => {
  let facilitator: ScriptedFacilitator;
  let sale: Sale;
  const troubles: string[] = [];

  beforeAll(async () => {
    facilitator = await startFacilitator();
    sale = new PaymentGate({
      payTo: PAY_TO,
      asset: { address: ASSET, name: 'USDC', version: '2', decimals: 6 },
      chainId: 1328,
      facilitator: { url: facilitator.url },
      onTrouble: ({ message }) => troubles.push(message),
    }).sell({ price: '0.001' });
  });

  afterAll(() => facilitator.stop());

  // Prevents: cancelling one of two copies of a body waits until the other is read.
  it('gets the whole of a body that is larger than the gate reads', async () => {
    const chunks = Array.from({ length: 40 }, () => new Uint8Array(65_536));
    const body = new ReadableStream({
      pull: (controller) => {
        const chunk = chunks.shift();
        if (chunk) controller.enqueue(chunk);
        else controller.close();
      },
    });
    const init = { method: 'POST', headers: VERSIONS[1].pay(), body, duplex: 'half' as const };
    const request = new Request('https://shop.example/goods', init);
    const response = await handleRequest(
      sale,
      request,
      async () => new Response(`of ${(await request.arrayBuffer()).byteLength} bytes`),
    );
    expect([response.status, await response.text()]).toEqual([200, 'of 2621440 bytes']);
  });

  it.each([{}, VERSIONS[2].pay()])(
    'is not sold to a client that asks for an upgrade, with the headers %j',
    async (paid) => {
      facilitator.asked.length = 0;
      const headers = { ...paid, Connection: 'Upgrade', Upgrade: 'websocket' };
      const response = await handleRequest(sale, new Request('https://shop.example/goods', { headers }), () =>
        Response.error(),
      );
      expect([response.status, await response.json()]).toEqual([501, { error: 'upgrade_unsupported' }]);
      expect(facilitator.asked).toEqual([]);
    },
  );

  it.each([{}, VERSIONS[2].pay()])(
    'has no price at a path that its challenge would be too long for, with %j',
    async (headers) => {
      facilitator.asked.length = 0;
      const url = `https://shop.example/${'x'.repeat(1023)}`;
      const ask = (asked: string) => handleRequest(sale, new Request(asked, { headers }), () => Response.json(1));
      const refused = await ask(`${url}x`);
      expect([refused.status, await refused.json()]).toEqual([414, { error: 'uri_too_long' }]);
      expect(facilitator.asked).toEqual([]);
      expect((await ask(`${url}?${'x'.repeat(2000)}`)).status).not.toBe(414);
    },
  );

  it('is offered under no host that is longer than any name', async () => {
    const url = `https://${'h'.repeat(300)}.example/goods`;
    const unpaid = await handleRequest(sale, new Request(url), () => Response.json(1));
    expect(await unpaid.json()).toMatchObject({ accepts: [{ resource: 'http://localhost/goods' }] });
  });

  // Prevents: a payment is settled for something that cannot be turned into a response any more.
  it('is not paid if it returns no usable response', async () => {
    facilitator.asked.length = 0;
    const request = new Request('https://shop.example/goods', { headers: VERSIONS[1].pay() });
    await expect(handleRequest(sale, request, () => Response.error())).rejects.toThrow('status 0');
    const produceRead = async (): Promise<Response> => {
      const response = new Response('goods');
      for await (const chunk of response.body as AsyncIterable<Uint8Array>) expect(chunk.length).toBe(5);
      return response;
    };
    await expect(handleRequest(sale, request, produceRead)).rejects.toThrow('read before');
    expect(facilitator.asked.map(({ path }) => path)).toEqual(['/verify', '/verify']);
  });

  it('gets no condition, also where the headers of a request cannot be changed', async () => {
    const headers = { ...VERSIONS[1].pay(), 'If-None-Match': '"a"', 'X-Own': 'kept' };
    const request = new Request('https://shop.example/goods', { headers });
    jest.spyOn(request.headers, 'delete').mockImplementation(() => {
      throw new TypeError('immutable');
    });
    const response = await handleRequest(sale, request, ({ headers: left }) =>
      Response.json([left.get('if-none-match'), left.get('x-own')]),
    );
    expect(await response.json()).toEqual([null, 'kept']);
  });

  // Prevents: anyone can ring the alarms of this server with requests that they break off.
  it('is not run for a request that breaks off, and nothing is reported', async () => {
    const body = new ReadableStream({
      start: (controller) => {
        controller.enqueue(new Uint8Array(1));
        controller.error(new Error('aborted'));
      },
    });
    const init = { method: 'POST', headers: VERSIONS[1].pay(), body, duplex: 'half' as const };
    facilitator.asked.length = 0;
    const answer = await handleRequest(sale, new Request('https://shop.example/goods', init), () => Response.json(1));
    expect([answer.status, await answer.json()]).toEqual([400, { error: 'incomplete_request' }]);
    expect([troubles, facilitator.asked]).toEqual([[], []]);
  });
});
