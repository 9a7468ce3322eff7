import { loseReplies } from '../harness/network/lose-replies.js';
import type { Interception, RpcReply } from '../harness/network/rpc-proxy.js';
import { createRandom } from '../harness/random.js';
import { retryUntilPaid } from '../harness/retry.js';
import { expectPaidOnce, useSignedSales, type Purchase } from '../harness/stack/use-signed-sales.js';

jest.setTimeout(120_000);

/** Until its payment is settled, a payer gets "pending" or "unavailable", and never a request to pay again. */
const NOT_YET = [409, 503] as const;
const TOO_MANY: RpcReply = { status: 429, body: 'too many requests' };

const isSend = (call: unknown) => JSON.stringify(call).includes('eth_sendRawTransaction');

/** A signed payment moves once and is answered, whatever happens to the messages between relayer and chain. */
describe('when the RPC server', () => {
  const sales = useSignedSales({
    env: { SETTLE_DEADLINE_MS: '2000', VERIFY_DEADLINE_MS: '2000', RPC_TIMEOUT_MS: '1000' },
  });
  let sent = 0;

  beforeEach(() => (sent = 0));
  afterEach(() => sales().proxy.reset());

  /** From now on the first `times` sends get this answer; all other calls are forwarded. */
  function failSends(times: number, fail: Interception): void {
    sales().proxy.intercept('*', async (call, forward) => {
      if (isSend(call) && sent++ < times) return fail(call, forward);
      return { body: await forward() };
    });
  }

  async function expectAnswer(purchase: Purchase): Promise<void> {
    const { body } = await retryUntilPaid(() => purchase.send(), NOT_YET);
    expect(JSON.parse(body)).toMatchObject({ sold: '/v1/quotes/A' });
    await expectPaidOnce(sales(), [purchase.payment]);
  }

  it.each<[string, RpcReply]>([
    ['breaks the connection', 'broken'],
    ['says nothing', 'silence'],
    ['answers 429', TOO_MANY],
    ['answers nonsense', { body: '<html>maintenance</html>' }],
  ])('takes a transaction and %s: it is sent again as it was, and mined once', async (_, reply) => {
    failSends(2, async (_call, forward) => {
      await forward();
      return reply;
    });
    await expectAnswer(await sales().order());
    expect(sent).toBeGreaterThan(0);
  });

  it('refuses the transaction with 429 for a while: it is sent again until it is accepted', async () => {
    failSends(3, () => TOO_MANY);
    await expectAnswer(await sales().order());
    expect(sent).toBeGreaterThan(3);
  });

  it.each<[string, RpcReply]>([
    ['is gone', 'broken'],
    ['answers nothing but 429', TOO_MANY],
    ['hangs', 'silence'],
  ])('%s between the sending and the receipt: 503 until it is back, then the answer', async (_, reply) => {
    sales().proxy.intercept('*', async (call, forward) => {
      const body = sent === 0 ? await forward() : '';
      if (isSend(call)) sent++;
      return sent === 0 ? { body } : reply;
    });
    const purchase = await sales().order();
    const early = await purchase.send();
    expect([early.status, early.headers.get('retry-after')]).toEqual([503, '1']);
    // On a busy machine the first request may still hold the payment.
    const repeat = await purchase.send();
    expect(NOT_YET).toContain(repeat.status);
    expect(Number(repeat.headers.get('retry-after'))).toBeGreaterThan(0);
    sales().proxy.reset();
    await expectAnswer(purchase);
  });

  it('loses every second reply to a send, and refuses many other calls: each of twenty payments moves and is answered once', async () => {
    sales().proxy.intercept('*', loseReplies(createRandom(402)));
    const orders = await Promise.all(Array.from({ length: 20 }, (_, index) => sales().order(payer(index))));
    const bodies = await Promise.all(
      orders.map(async (purchase) => (await retryUntilPaid(() => purchase.send(), NOT_YET)).body),
    );
    expect(new Set(bodies).size).toBe(20);
    sales().proxy.reset();
    await expectPaidOnce(
      sales(),
      orders.map(({ payment }) => payment),
    );
  });

  const payer = (index: number) => sales().chain.accounts[index % sales().chain.accounts.length]!;
});
