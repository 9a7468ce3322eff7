import { MemoryStore } from '../stores/payment-store.js';
import { PaymentClaims } from './claim.js';

const MINUTE_MS = 60_000;
const showing = { name: 'payment', request: 'request', secret: 'secret', isEnough: true };

describe('a payment whose resource was busy', () => {
  const claims = new PaymentClaims(new MemoryStore(), { leaseMs: 30_000, keepMs: 60 * MINUTE_MS });
  let nowMs = 0;

  beforeEach(() => void jest.spyOn(performance, 'now').mockImplementation(() => nowMs));
  afterEach(() => jest.restoreAllMocks());

  const look = async () => {
    const { standing, pausedMs } = await claims.look(showing);
    return [standing, pausedMs];
  };

  async function claim() {
    const claimed = await claims.claim(await claims.look(showing));
    if (claimed === null) throw new Error('not claimed');
    return claimed;
  }

  it('buys nothing until the pause is over, and then what it could buy before', async () => {
    await (await claim()).pause(10 * MINUTE_MS);
    nowMs += 9 * MINUTE_MS;
    expect(await look()).toEqual(['paused', MINUTE_MS]);
    nowMs += MINUTE_MS;
    expect(await look()).toEqual(['open', 0]);
    const again = await claim();
    expect(await look()).toEqual(['busy', 0]);
    expect(again.wasAsked).toBe(false);
    await again.end();
  });

  it('that may be settled belongs to its request after the pause', async () => {
    const asked = await claim();
    await asked.ask({ payTo: '0x', amount: '1', closesAtMs: Date.now() }, null);
    await asked.pause(MINUTE_MS);
    expect(await look()).toEqual(['paused', MINUTE_MS]);
    nowMs += MINUTE_MS;
    expect(await look()).toEqual(['own', 0]);
    const again = await claim();
    expect(again.wasAsked).toBe(true);
    await again.end();
    expect(await look()).toEqual(['own', 0]);
    await (await claim()).forget();
  });

  it('is paused for as long as it is kept at most', async () => {
    await (await claim()).pause(7 * 24 * 60 * MINUTE_MS);
    expect(await look()).toEqual(['paused', 60 * MINUTE_MS]);
  });
});
