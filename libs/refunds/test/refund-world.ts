import { type MinedTransaction } from '@tollgate/chain';
import {
  createLaneId,
  UnreadableJobError,
  type JobFailure,
  type JobRecord,
  type JobState,
  type LaneId,
  type SubmitNamedRequest,
  type SubmitRefusal,
  type SubmitResult,
} from '@tollgate/journal';
import { nameOfPayment, readPaymentName, type CloseResult, type Ledger, type PaymentId } from '@tollgate/ledger';
import type { Hex } from '@tollgate/protocol';
import {
  Refunds,
  type Refund,
  type RefundCaps,
  type RefundPorts,
  type RefundRequest,
  type RefundSettings,
} from '@tollgate/refunds';

import { MemoryBook } from './memory-book.js';

const addressOf = (byte: string): Hex => `0x${byte.repeat(20)}`;
export const [ASSET, PAYER, OTHER, SHOP, WALLET] = ['a5', '11', '22', '33', '44'].map(addressOf) as [
  Hex,
  Hex,
  Hex,
  Hex,
  Hex,
];
export const CHAIN_ID = 1328;
/** Base units that a payment brings, unless it is said otherwise. */
export const PRICE = 10_000n;
export const NO_CAPS: RefundCaps = { each: null, perPayerAndDay: null, perKeyAndDay: null, perDay: null };
const NAMES = { token: 'ASSET_ADDRESS', payTo: 'PAY_TO', decimals: 'ASSET_DECIMALS' };
const START_MS = Date.UTC(2026, 10, 25, 10);

export const hashOf = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`;
const wordOf = (address: Hex): Hex => `0x${address.slice(2).padStart(64, '0')}`;
const TRANSFER: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/** A log of the token, as `Transfer` emits it. */
export const transferLog = (from: Hex, to: Hex, units: bigint, address = ASSET) => ({
  address,
  topics: [TRANSFER, wordOf(from), wordOf(to)],
  data: hashOf(Number(units)),
});

/** What the scripts of the ledger do, of one payment each: `libs/ledger/src/close-payment.spec.ts` has the real ones. */
class MemoryLedger {
  readonly entries = new Map<string, { state: string; by: string; since: Map<string, number>; paid: Set<string> }>();
  bookedSinceMs: number | null = 0;
  /** What the outbox has and the book has not read. */
  outbox: Parameters<MemoryBook['apply']>[] = [];

  constructor(private readonly nowMs: () => number) {}

  /** Puts a payment into a state: `leased`, `answered`, `other_form`, `free`. */
  put(payment: string, state: string, by = ''): void {
    this.entries.set(payment, { state, by, since: new Map([[by, this.nowMs()]]), paid: new Set() });
  }

  stateOf(payment: string): string {
    return this.entries.get(payment)?.state ?? 'free';
  }

  async close({ id, refund, allowsAnswered, isReported = true }: Parameters<Ledger['close']>[0]): Promise<CloseResult> {
    const name = nameOfPayment(id);
    const state = this.stateOf(name);
    if (state === 'leased') return { outcome: 'leased', retryAfterMs: 1 };
    if (state === 'other_form') return { outcome: 'other_form' };
    if (state === 'answered' && !allowsAnswered) return { outcome: 'answered' };
    const entry = state === 'closed' ? this.entries.get(name) : undefined;
    if (entry !== undefined) {
      const sinceMs = entry.since.get(refund) ?? this.nowMs();
      entry.since.set(refund, sinceMs);
      return { outcome: 'closed_before', sinceMs, by: entry.by, paid: [...entry.paid] };
    }
    this.put(name, 'closed', refund);
    if (isReported) this.outbox.push([name, 'refunding']);
    return { outcome: 'closed', from: state === 'answered' ? 'answered' : 'free' };
  }

  async recordRefunded(...[id, facts, { again = false } = {}]: Parameters<Ledger['recordRefunded']>): Promise<boolean> {
    const entry = this.entries.get(nameOfPayment(id));
    if (entry?.state !== 'closed') throw new TypeError('a payment is closed before its refund is recorded');
    const isNew = !entry.paid.has(facts.refund);
    if (isNew || again) this.outbox.push([nameOfPayment(id), facts]);
    entry.paid.add(facts.refund);
    return isNew;
  }
}

/** What the journal does with named jobs: `libs/journal/src/store/accepting.spec.ts` has the real one. */
class MemoryJournal {
  wallet: LaneId | null = createLaneId(CHAIN_ID, WALLET);
  readonly lanes = [createLaneId(CHAIN_ID, WALLET), createLaneId(CHAIN_ID, OTHER)];
  readonly jobs = new Map<string, JobRecord>();
  readonly unreadable = new Set<string>();
  /** Refuses every new job. */
  refusal: SubmitRefusal | null = null;

  constructor(private readonly nowMs: () => number) {}

  /** One that is there. */
  jobOf(id: string | null): JobRecord {
    const job = this.jobs.get(id ?? '');
    if (job === undefined) throw new Error(`there is no job ${id}`);
    return job;
  }

  readonly readLanes = async () => this.lanes;
  readonly readJob = async (id: string) => this.jobs.get(id) ?? null;
  readonly readEachJob = async (ids: readonly string[]) =>
    ids.map((id) => (this.unreadable.has(id) ? new UnreadableJobError(id, null, {}) : (this.jobs.get(id) ?? null)));

  async submitNamed({ jobId, latestMs = Infinity, ...request }: SubmitNamedRequest): Promise<SubmitResult> {
    const known = this.jobs.get(jobId);
    if (known !== undefined) return { outcome: 'known', jobId, state: known.state };
    if (this.nowMs() > latestMs) return { outcome: 'refused', reason: 'late' };
    if (this.refusal !== null) return { outcome: 'refused', reason: this.refusal };
    const job = { id: jobId, ...request, state: 'PLANNED', stepIndex: 0, steps: [], failure: null };
    this.jobs.set(jobId, job as unknown as JobRecord);
    return { outcome: 'accepted', jobId, state: 'PLANNED' };
  }
}

export class MemoryChain {
  readonly transactions = new Map<string, MinedTransaction>();
  readonly contracts = new Set<string>();
  head = 100;
  decimals: bigint | null = 6n;

  constructor(readonly chainId = CHAIN_ID) {}

  readonly readTransaction = async (hash: Hex) => this.transactions.get(hash) ?? null;
  readonly isContract = async (address: Hex) => this.contracts.has(address);
  readonly readBlockTimeMs = async () => START_MS;
  readonly readHeadNumber = async () => this.head;
  readonly readDecimals = async () => this.decimals;
}

/** Everything that a refund touches, in memory: ledger, journal, chain, book, and the outbox between ledger and book. */
export class RefundWorld {
  /** Moves on by a millisecond at each reading. */
  #nowMs = START_MS;
  #number = 0;
  readonly #now = (): number => this.#nowMs++;
  readonly ledger = new MemoryLedger(this.#now);
  readonly journal = new MemoryJournal(this.#now);
  readonly chain = new MemoryChain();
  readonly book = new MemoryBook(this.#now);
  /** False: the book does not read the outbox. */
  isRead = true;
  readonly ports: RefundPorts;
  /** As a bookkeeper that has just started. */
  refunds: Refunds;

  constructor(settings: Partial<RefundSettings> = {}) {
    const { ledger, journal, chain, book } = this;
    const defaults = { caps: NO_CAPS, approvalAbove: null, confirmations: 3 };
    this.ports = {
      ledger,
      journal,
      chain,
      book,
      outbox: { waitUntilRead: async () => this.readOutbox() },
      readBookedSinceMs: async () => ledger.bookedSinceMs,
      findWallet: async () => journal.wallet && { name: 'refunds', lane: journal.wallet },
      settings: {
        asset: ASSET,
        recipients: [SHOP],
        decimals: 6,
        walletName: 'refunds',
        names: NAMES,
        ...defaults,
        ...settings,
      },
    };
    this.refunds = new Refunds(this.ports, [this.ports]);
  }

  readOutbox(): boolean {
    if (this.isRead) for (const event of this.ledger.outbox.splice(0)) this.book.apply(...event);
    return this.isRead;
  }

  /** Lets time pass, and a second at least, as blocks count time. */
  pass(ms = 1_000): void {
    this.#nowMs += ms;
  }

  readTime(): string {
    return new Date(this.#nowMs).toISOString();
  }

  /** A transaction of these logs in the next block; its hash. */
  mine(
    logs: ReturnType<typeof transferLog>[],
    { from = OTHER, to = ASSET, input = '0x', status = 'success' } = {},
  ): Hex {
    const txHash = hashOf(1_000 + ++this.#number);
    const block = { blockNumber: ++this.chain.head, blockHash: hashOf(this.chain.head), blockTimeMs: this.#nowMs };
    const receipt = { ...block, txHash, status, from, logs };
    this.chain.transactions.set(txHash, { receipt, to, input } as unknown as MinedTransaction);
    return txHash;
  }

  /** The book learns of a payment that the ledger has refused. */
  note(id: PaymentId, transaction: Hex, { amount = PRICE, failure = 'payment_too_old' } = {}): string {
    const name = nameOfPayment(id);
    this.book.payments.set(name, {
      state: 'refused',
      asset: ASSET,
      recipient: SHOP,
      transaction,
      amount: String(amount),
      refunded: '0',
      reported: { refused: { failure } },
      paidBack: [],
    });
    return name;
  }

  /** A transfer to the shop that the ledger refuses; the payment's name. */
  payRefused({ from = PAYER, amount = PRICE, failure = 'payment_too_old' } = {}): string {
    const txHash = this.mine([transferLog(from, SHOP, amount)], { from });
    return this.note({ kind: 'transfer', chainId: CHAIN_ID, txHash, logIndex: 0 }, txHash, { amount, failure });
  }

  /** A payment that has bought an answer. */
  paySold(): string {
    const payment = this.payRefused();
    this.ledger.put(payment, 'answered');
    Object.assign(this.book.paymentOf(payment), { state: 'answered', reported: { answered: {} } });
    return payment;
  }

  ask(payment: string, more: Partial<RefundRequest> = {}, keyId = 'key-1'): Promise<Refund> {
    return this.refunds.ask(keyId, { payment, answered: false, number: 1, ...more });
  }

  /** Takes every refund as far as it goes now, as the bookkeeper does each second. */
  async advance(): Promise<void> {
    for (const refund of await this.refunds.listInWork()) await this.refunds.advance(refund);
    this.readOutbox();
  }

  /** The bookkeeper is killed, and starts again. */
  restart(): void {
    this.refunds = new Refunds(this.ports, [this.ports]);
  }

  /** A transfer from the wallet that no job made. */
  send({ from = WALLET, to = PAYER, amount = PRICE, token = ASSET } = {}): Hex {
    return this.mine([transferLog(from, to, amount, token)], { from, to: token });
  }

  /** Its job is sent, mined and final; its transaction. */
  sendJob(id: string | null): Hex {
    const job = this.journal.jobOf(id);
    const { to, amount, token } = job.input as Record<'to' | 'token', Hex> & { amount: string };
    const hash = this.send({ from: job.lane.address, to, amount: BigInt(amount), token });
    this.setJob(id, { state: 'FINAL', stepIndex: 1, steps: [stepOf(hash, true)] });
    return hash;
  }

  setJob(id: string | null, change: Partial<JobRecord>): void {
    this.journal.jobs.set(id ?? '', { ...this.journal.jobOf(id), ...change });
  }

  endJob(id: string | null, state: JobState, failure: Partial<JobFailure> = {}): void {
    const { code = state, message = `It is ${state}.`, suggestion = 'Look.' } = failure;
    this.setJob(id, { state, failure: { code, message, suggestion } });
  }

  /** The journal loses a job; the result puts it back. */
  loseJob(id: string | null): () => void {
    const job = this.journal.jobOf(id);
    this.journal.jobs.delete(id ?? '');
    return () => void this.journal.jobs.set(job.id, job);
  }

  /** Redis loses all, and reports to the book anew from now on. */
  loseRedis(): void {
    this.ledger.entries.clear();
    this.ledger.outbox.splice(0);
    this.journal.jobs.clear();
    this.ledger.bookedSinceMs = this.#now();
  }

  /** Until a refund's transfer is booked. */
  async finish(id: string): Promise<Refund> {
    const refund = await this.refunds.read(id);
    if (this.journal.jobs.get(refund.job ?? '')?.state === 'PLANNED') this.sendJob(refund.job);
    await this.advance();
    return this.refunds.read(id);
  }

  /** Base units that reached an account from ours. */
  paidTo(account: Hex): bigint {
    return [...this.chain.transactions.values()]
      .filter(({ receipt }) => receipt.from === WALLET || receipt.from === OTHER)
      .flatMap(({ receipt }) => receipt.logs)
      .filter(({ topics }) => topics[2] === wordOf(account) && topics[1] !== wordOf(PAYER))
      .reduce((sum, { data }) => sum + BigInt(data), 0n);
  }

  parse(payment: string): PaymentId {
    const id = readPaymentName(payment);
    if (id === null) throw new Error(`${payment} is no payment`);
    return id;
  }
}

/** A step with one signed transaction. */
export function stepOf(hash: Hex, isMined: boolean): JobRecord['steps'][number] {
  const mined = isMined ? { hash, blockNumber: 1, blockHash: hashOf(1) } : null;
  return { attempts: [{ hash }], mined, voided: false, nonce: 0 } as unknown as JobRecord['steps'][number];
}
