import type {
  ArrivalPlace,
  ArrivedTransfer,
  BookTimes,
  HeldTransfer,
  PaymentToRefund,
  Refund,
  RefundBook,
  RefundChange,
  RefundedToday,
  RefundRows,
  RefundTerms,
  TakenPart,
} from '@tollgate/refunds';

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };
type StoredRefund = Refund & { readonly takes: readonly TakenPart[] };

interface MemoryPayment extends Writable<PaymentToRefund> {
  reported: Writable<PaymentToRefund['reported']>;
  /** Its refunds that are booked. */
  paidBack: { refund: string; transaction: string }[];
}

const placeOf = (arrivedIn: string, log: number): string => `${arrivedIn} ${log}`;

/** The book as arrays. What SQL adds to it is in `libs/book/src/refund-rows/refund-rows.spec.ts`. */
export class MemoryBook implements RefundBook {
  payments = new Map<string, MemoryPayment>();
  refunds: StoredRefund[] = [];
  transfers = new Map<string, HeldTransfer>();
  times: BookTimes = { completeFromMs: 0, gapEndMs: null };
  /** Payments and transactions that an event names which is not booked. */
  readonly unapplied = new Set<string>();
  readonly differences = new Set<string>();
  readonly ownAccounts = new Set<string>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(private readonly nowMs: () => number) {}

  /** One that is there. */
  paymentOf(payment: string): MemoryPayment {
    const known = this.payments.get(payment);
    if (known === undefined) throw new Error(`the book does not have ${payment}`);
    return known;
  }

  /** Copies what the book has; the result restores the copy, which leaves a gap until now. */
  copy(): () => void {
    const { payments, refunds, transfers } = this;
    const copied = structuredClone({ payments, refunds, transfers });
    return () => {
      Object.assign(this, copied);
      const gapEndMs = this.nowMs();
      this.times = { completeFromMs: gapEndMs, gapEndMs };
    };
  }

  /** Books an event of the ledger, of a refund that the book has asked for. */
  apply(payment: string, event: 'refunding' | { refund: string; transaction: string; amount: string }): void {
    const booked = this.payments.get(payment);
    if (booked === undefined) return;
    if (event === 'refunding') {
      if (booked.state !== 'withdrawn') booked.state = 'refunding';
      return;
    }
    const asked = this.refunds.find(({ id }) => id === event.refund);
    if (asked?.amount !== event.amount || asked.transaction !== event.transaction) return;
    if (booked.paidBack.some(({ refund }) => refund === event.refund)) return;
    booked.state = 'refunded';
    booked.refunded = String(BigInt(booked.refunded) + BigInt(event.amount));
    booked.paidBack.push({ refund: event.refund, transaction: event.transaction });
  }

  /** As a crash leaves a refund, or a person finds it. */
  change(id: string, change: Partial<StoredRefund>): void {
    this.refunds = this.refunds.map((refund) => (refund.id === id ? { ...refund, ...change } : refund));
  }

  /** What a refund of one transfer takes, as where it was given up. */
  async giveBack(id: string): Promise<void> {
    const refund = this.refunds.find((one) => one.id === id);
    if (refund === undefined) throw new Error(`there is no refund ${id}`);
    await this.addTaken(
      refund,
      refund.takes.map(({ log, taken }) => ({ log, taken: `-${taken}` })),
    );
    this.change(id, { takes: refund.takes.map(({ log }) => ({ log, taken: '0' })) });
  }

  write<T>(work: (rows: RefundRows) => Promise<T>): Promise<T> {
    const done = this.#last.then(() => work(this));
    this.#last = done.catch(() => undefined);
    return done;
  }

  read = async (id: string): Promise<Refund | null> => this.refunds.find((one) => one.id === id) ?? null;
  readonly readTakes = async (id: string) => this.refunds.find((one) => one.id === id)?.takes ?? [];
  readonly search = async () => ({ refunds: this.refunds.toReversed(), cursor: null });
  readonly findPayment = async (payment: string) => this.payments.get(payment) ?? null;
  readonly readPaidBack = async (payment: string) => this.payments.get(payment)?.paidBack ?? [];
  readonly readTimes = async () => this.times;
  readonly hasDifference = async (transaction: string) => this.differences.has(transaction);
  readonly isOwnAccount = async (_chainId: number, address: string) => this.ownAccounts.has(address);
  readonly hasUnapplied = async (...names: readonly (string | null)[]) =>
    names.some((name) => this.unapplied.has(name ?? ''));

  async listOf(payment: string): Promise<Refund[]> {
    return this.refunds.filter((refund) => refund.payment === payment).sort((one, other) => one.number - other.number);
  }

  async listInWork(): Promise<Refund[]> {
    return this.refunds.filter(({ state }) => ['asked', 'closed', 'sending'].includes(state));
  }

  async listUnpaid({ id, recipient }: Refund): Promise<Refund[]> {
    const unpaid = this.refunds.filter(({ state, job }) => !['refunded', 'refused'].includes(state) && job !== null);
    return unpaid.filter((refund) => refund.recipient === recipient && refund.id !== id);
  }

  async findPaidBy(transaction: string, id: string): Promise<string | null> {
    const other = this.refunds.find((refund) => refund.transaction === transaction && refund.id !== id);
    const isBooked = ({ paidBack }: MemoryPayment): boolean =>
      paidBack.some((paid) => paid.transaction === transaction && paid.refund !== id);
    return other?.id ?? [...this.payments].find(([, payment]) => isBooked(payment))?.[0] ?? null;
  }

  async readToday(
    { chainId, asset, recipient }: Pick<Refund, 'chainId' | 'asset' | 'recipient'>,
    keyId: string,
    except: string,
  ): Promise<RefundedToday> {
    const today = this.#now().slice(0, 10);
    const ofToken = this.refunds.filter((refund) => refund.chainId === chainId && refund.asset === asset);
    const counted = ofToken.filter(
      ({ id, state, attemptAt }) =>
        id !== except && !['given_up', 'refused'].includes(state) && attemptAt.startsWith(today),
    );
    const sum = (of: readonly Refund[]): bigint => of.reduce((total, { amount }) => total + BigInt(amount), 0n);
    return {
      perDay: sum(counted),
      perPayerAndDay: sum(counted.filter((refund) => refund.recipient === recipient)),
      perKeyAndDay: sum(counted.filter(({ askedBy }) => askedBy.at(-1) === keyId)),
    };
  }

  async readTransfers({ arrivedIn }: ArrivalPlace, logs: readonly number[]): Promise<HeldTransfer[]> {
    return logs.flatMap((log) => this.transfers.get(placeOf(arrivedIn, log)) ?? []);
  }

  async noteTransfers({ arrivedIn }: ArrivalPlace, transfers: readonly ArrivedTransfer[]): Promise<HeldTransfer[]> {
    return transfers.flatMap(({ log, arrived }) => {
      const taken = this.transfers.get(placeOf(arrivedIn, log))?.taken ?? '0';
      if (BigInt(taken) > BigInt(arrived)) return [];
      this.transfers.set(placeOf(arrivedIn, log), { log, arrived, taken });
      return [{ log, arrived, taken }];
    });
  }

  async addTaken({ arrivedIn }: ArrivalPlace, parts: readonly TakenPart[]): Promise<void> {
    for (const { log, taken } of parts) {
      const known = this.transfers.get(placeOf(arrivedIn, log));
      if (known === undefined) continue;
      const sum = BigInt(known.taken) + BigInt(taken);
      if (sum < 0n || sum > BigInt(known.arrived)) throw new Error('more is taken of a transfer than it moved');
      this.transfers.set(placeOf(arrivedIn, log), { ...known, taken: String(sum) });
    }
  }

  async insert(terms: RefundTerms, keyId: string, takes: readonly TakenPart[]): Promise<Refund> {
    const at = this.#now();
    const refund: StoredRefund = {
      ...terms,
      takes,
      state: 'asked',
      askedAmount: null,
      askedBy: [keyId],
      attempt: 1,
      maybeSent: false,
      askedAt: at,
      changedAt: at,
      attemptAt: at,
      job: null,
      transaction: null,
      detail: null,
      route: null,
    };
    this.refunds = [...this.refunds.filter(({ id }) => id !== terms.id), refund];
    return refund;
  }

  async update(id: string, change: RefundChange): Promise<Refund> {
    const at = this.#now();
    this.change(id, { ...change, changedAt: at, ...(change.attempt !== undefined && { attemptAt: at }) });
    const refund = await this.read(id);
    if (refund === null) throw new Error('the refund was not written');
    return refund;
  }

  #now(): string {
    return new Date(this.nowMs()).toISOString();
  }
}
