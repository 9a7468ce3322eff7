import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

import { zeroAddress } from 'viem';

import { startDnsServer } from '../../../../libs/http/test/dns-server.js';
import { PaymentFixture } from '../../test/payment-fixture.js';

const FIVE_MEGABYTES = 5 * 1024 * 1024;

describe('the price of an untrusted server', () => {
  let fixture: PaymentFixture;
  const cleanUp: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    fixture = await PaymentFixture.start();
  });

  afterAll(() => fixture.stop());
  beforeEach(() => fixture.begin());
  afterEach(async () => {
    await fixture.end();
    for (const end of cleanUp.splice(0)) await end();
  });

  const serve = async (listener: RequestListener): Promise<string> => {
    const server = createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanUp.push(
      () =>
        new Promise((resolve) => {
          server.close(resolve);
          server.closeAllConnections();
        }),
    );
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  };

  /** Submits a job, and expects that it fails without a transaction and stores no challenge. */
  const expectRefused = async (url: string, code: string, message: RegExp, priceTimeoutMs = 10_000) => {
    fixture.startWorker({ priceTimeoutMs, patienceMs: 0 });
    const [job] = await fixture.lane.waitForEnds([await fixture.submit({ url, maxAmount: '1' })]);
    expect(job).toMatchObject({ state: 'PLAN_FAILED', failure: { code }, details: {} });
    expect(job!.failure!.message).toMatch(message);
    expect(await fixture.lane.readMined()).toEqual([]);
  };

  it.each([
    ['in another asset', () => ({ asset: `0x${'ab'.repeat(20)}` }), 'PAYMENT_FAILED', /may not pay with/],
    ['in the native token', () => ({ asset: zeroAddress }), 'PAYMENT_FAILED', /may not pay with/],
    ['on another network', () => ({ network: 'eip155:1' }), 'PAYMENT_FAILED', /may not pay with/],
    ['above the limit', () => ({ maxAmountRequired: '1000001' }), 'POLICY_VIOLATION', /more than the limit of 1\./],
    [
      'of the largest uint256',
      () => ({ maxAmountRequired: `${2n ** 256n - 1n}` }),
      'POLICY_VIOLATION',
      /more than the limit/,
    ],
    [
      'above the largest uint256',
      () => ({ maxAmountRequired: `${2n ** 256n}` }),
      'PAYMENT_FAILED',
      /maxAmountRequired/,
    ],
    ['below zero', () => ({ maxAmountRequired: '-1' }), 'PAYMENT_FAILED', /maxAmountRequired/],
    ['as a number', () => ({ maxAmountRequired: 1e18 }), 'PAYMENT_FAILED', /maxAmountRequired/],
    ['with decimals below the base unit', () => ({ maxAmountRequired: '0.5' }), 'PAYMENT_FAILED', /maxAmountRequired/],
    ['to the token contract', () => ({ payTo: fixture.lane.chain.asset }), 'PAYMENT_FAILED', /where tokens are lost/],
    ['to the zero address', () => ({ payTo: zeroAddress }), 'PAYMENT_FAILED', /where tokens are lost/],
    ['to an invalid address', () => ({ payTo: '0x1234' }), 'PAYMENT_FAILED', /payTo/],
    ['with no time to pay', () => ({ maxTimeoutSeconds: 1 }), 'PAYMENT_FAILED', /too little time to pay/],
    [
      'with nothing to pay it by',
      () => ({ extra: { name: 'USDC' } }),
      'PAYMENT_FAILED',
      /extra\.reference|extra\.version/,
    ],
    [
      'with a reference that is too long for a header',
      () => ({ extra: { name: 'USDC', version: '2', reference: 'x'.repeat(4_000) } }),
      'PAYMENT_FAILED',
      /too long for a payment proof/,
    ],
  ])('%s is not paid', async (_, change, code, message) => {
    fixture.server.challenge = change();
    await expectRefused(fixture.server.url, code, message);
  });

  it('is paid to a receiver with a wrong checksum, at the same address', async () => {
    const { payTo } = fixture.lane.chain;
    const wrong = `0x${[...payTo.slice(2)].map((digit, at) => (at % 2 ? digit.toUpperCase() : digit.toLowerCase())).join('')}`;
    fixture.server.challenge = { payTo: wrong };
    fixture.startWorker();
    await fixture.lane.waitForState(await fixture.submit({ url: fixture.server.url }), 'FINAL');
    expect(await fixture.transfers()).toHaveLength(1);
  });

  it('is not read to the end when it is five megabytes long', async () => {
    fixture.server.answerUnpaidWith = 'x'.repeat(FIVE_MEGABYTES);
    await expectRefused(fixture.server.url, 'PAYMENT_FAILED', /longer than 65536 bytes/);
  });

  it('is given up when it never ends', async () => {
    const url = await serve((_, response) => {
      response.writeHead(402, { 'content-type': 'application/json' });
      const timer = setInterval(() => response.write(' '), 10);
      response.on('close', () => clearInterval(timer));
    });
    await expectRefused(url, 'PAYMENT_FAILED', /network/, 500);
  });

  it('is not read from a compressed answer', async () => {
    const url = await serve((_, response) => response.writeHead(402, { 'content-encoding': 'br' }).end('bomb'));
    await expectRefused(url, 'PAYMENT_FAILED', /compressed its answer/);
  });

  it.each(['http://169.254.169.254/latest/meta-data/', 'http://[::1]/', '/elsewhere'])(
    'is not followed through a redirect to %s',
    async (location) => {
      fixture.server.redirectUnpaidTo = location;
      await expectRefused(fixture.server.url, 'PAYMENT_FAILED', /a redirect to/);
      expect(fixture.server.seen).toHaveLength(1);
    },
  );

  it('is refused when the resource is free', async () => {
    await expectRefused(`${fixture.server.origin}/free`, 'PAYMENT_FAILED', /Expected 402 Payment Required, got 200/);
  });

  it.each([
    'https://127.0.0.1:PORT/',
    'https://2130706433:PORT/',
    'https://0x7f.0.0.1:PORT/',
    'https://[::1]:PORT/',
    'https://[::ffff:7f00:1]:PORT/',
    'https://localhost:PORT/',
    'https://169.254.169.254/',
    'https://0xa9fea9fe/',
    'http://127.0.0.1:PORT/',
  ])('is not requested from our own network, at %s', async (text) => {
    const url = text.replace('PORT', new URL(fixture.server.origin).port);
    const planner = fixture.createPlanner({ allowPrivateTargets: false });
    await expect(planner.dryRun({ url })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringMatching(/not on the public internet|must begin with https/) as string,
    });
    expect(fixture.server.seen).toEqual([]);
  });

  it('is not requested from a name that resolves to our own network', async () => {
    const dns = await startDnsServer((_, type) => (type === 'A' ? ['127.0.0.1'] : []));
    cleanUp.push(() => dns.close());
    const planner = fixture.createPlanner({ allowPrivateTargets: false, nameServers: [dns.address] });
    const url = `https://shop.example:${new URL(fixture.server.origin).port}/`;
    await expect(planner.dryRun({ url })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: 'The URL cannot be paid for: shop.example is not on the public internet.',
    });
    expect(dns.asked).toContain('shop.example');
    expect(fixture.server.seen).toEqual([]);
  });
});
