import type { CrashPoint } from '@tollgate/journal';

import { readBalance } from '../../tools/devnet/chain/read-balance.js';
import { transferTokens } from '../../tools/devnet/chain/transfer-tokens.js';
import { approvePermit2, signPermit } from '../harness/chain/sign-permit.js';
import { outcomeOf } from '../harness/payments/pay.js';
import { retryUntilPaid, waitFor } from '../harness/retry.js';
import { waitForDeath } from '../harness/stack/use-agents.js';
import { expectPaidOnce, PRICE, useSignedSales, type Purchase } from '../harness/stack/use-signed-sales.js';

// Processes are killed and restarted, which is slow on a busy machine.
jest.setTimeout(180_000);

/** Until its payment is settled, a payer gets "pending" or "unavailable", and never a request to pay again. */
const NOT_YET = [409, 503, 504, 'no answer'] as const;

/** Gateway and verifier as in production, killed at the points where a payment could be lost or moved twice. */
describe('a signed payment survives', () => {
  const sales = useSignedSales({ fromSource: ['gateway', 'verifier'] });
  const verifier = () => sales().stack.verifiers[0]!;
  const gateway = () => sales().stack.gateways[0]!;

  /** Repeats the request until it is answered; the upstream made the answer for this payment. */
  async function expectAnswer(purchase: Purchase): Promise<void> {
    const { body } = await retryUntilPaid(() => purchase.send(), NOT_YET);
    expect(sales().upstream.requests.map(({ headers }) => headers['idempotency-key'])).toContain(
      (JSON.parse(body) as { to: string }).to,
    );
    const again = await purchase.send();
    expect([again.status, again.headers.get('idempotent-replayed'), await again.text()]).toEqual([200, 'true', body]);
    await expectPaidOnce(sales(), [purchase.payment]);
  }

  async function expectToSurvive(at: CrashPoint, purchase: Purchase): Promise<void> {
    sales().crashAt(at);
    const first = purchase.send().then(
      ({ status }) => status,
      () => 'no answer' as const,
    );
    const dead = await waitForDeath([verifier(), gateway()]);
    await dead.restart();
    expect([200, ...NOT_YET]).toContain(await first);
    await expectAnswer(purchase);
  }

  it.each(['S1', 'S2', 'F3', 'F4', 'F5', 'F6', 'F7', 'F8', 'S3', 'F10'] as const)(
    '%s: the verifier dies, the next one continues, and the payer gets the answer once',
    async (at) => expectToSurvive(at, await sales().order()),
  );

  it.each(['F7', 'S3'] as const)('%s: the same where the route settles before it asks its upstream', async (at) =>
    expectToSurvive(at, await sales().order(undefined, '/v1/first/A')),
  );

  it('S4: the gateway dies with an answer that is paid for and not stored', async () =>
    expectToSurvive('S4', await sales().order()));

  it.each(['F7', 'S4'] as const)('%s: the same where the answer is a stream that has begun', async (at) =>
    expectToSurvive(at, await sales().order(undefined, '/v1/streams/A')),
  );

  it('F9: the verifier dies with a replacement that was not sent, and one of the two is mined', async () => {
    await verifier().restart({ RELAYER_REPLACE_AFTER_MS: '600' });
    await sales().rpc('evm_setAutomine', [false]);
    sales().crashAt('F9');
    const purchase = await sales().order();
    const pending = purchase.send();
    await waitForDeath([verifier()]);
    await sales().rpc('evm_setAutomine', [true]);
    await verifier().restart({ RELAYER_REPLACE_AFTER_MS: '15000' });
    expect([200, ...NOT_YET]).toContain((await pending).status);
    await expectAnswer(purchase);
  });

  it.each(['S1', 'F6', 'F7', 'S3'] as const)('%s: the same for a payment by Permit2', async (at) => {
    const payer = sales().chain.accounts[1]!;
    await approvePermit2(sales().chain, { owner: payer.address });
    const permit = await signPermit(sales().chain, payer, { amountBaseUnits: BigInt(PRICE) });
    await expectToSurvive(at, await sales().present(permit));
  });
});

describe("a verifier that sleeps between storing the id of a payment's job and submitting the job", () => {
  const sales = useSignedSales({ verifiers: 2, fromSource: ['verifier'] });

  it('submits nothing when it wakes up after the payer was refused', async () => {
    const { chain, stack } = sales();
    const payer = chain.accounts[0]!;
    const amountBaseUnits = await readBalance(chain, payer.address);
    const friend = chain.accounts[1]!.address;
    const purchase = await sales().order();
    sales().crashAt('S1', 'SIGSTOP');
    const first = purchase.send();
    await waitFor('a verifier that sleeps', () => !sales().isCrashPending());
    await transferTokens(chain, { from: payer.address, to: friend, amountBaseUnits });
    expect((await first).status).toBe(503);
    await waitFor('a refusal', async () => (await outcomeOf(purchase.send()))[0] === 402);
    await transferTokens(chain, { from: friend, to: payer.address, amountBaseUnits });
    const records = () => sales().redis.keys('tollgate:{settlement-*');
    expect(await records()).toHaveLength(1);
    for (const verifier of stack.verifiers) verifier.signal('SIGCONT');
    await waitFor('the sleeper to give up', async () => (await records()).length === 0);
    await expectPaidOnce(sales(), []);
    await retryUntilPaid(() => purchase.send(), NOT_YET);
    await expectPaidOnce(sales(), [purchase.payment]);
  });
});
