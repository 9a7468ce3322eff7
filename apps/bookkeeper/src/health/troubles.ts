import { Inject, Injectable } from '@nestjs/common';
import { mendGap, nameGap } from '@tollgate/agent-jobs';
import {
  countLeftOver,
  countUnapplied,
  listRefusedEvents,
  readCompleteFrom,
  readOpenBookings,
  sumDifferences,
  type RefusedEvent,
} from '@tollgate/book';
import { ApiKeyStore } from '@tollgate/http';
import type { OperatorWallet, Trouble } from '@tollgate/operator-api';

import { BookHolder } from '../book/book-holder.js';
import { SellerChains } from '../chain/seller-chains.js';
import { PaymentWebhooks } from '../delivery/payment-webhooks.js';
import { BookkeeperConnections } from '../drain/connections.js';
import { OutboxDrain } from '../drain/outbox-drain.js';
import { OperatorJobs } from '../jobs/operator-jobs.js';
import { OperatorWallets } from '../wallets/operator-wallets.js';

const LATE_MS = 60_000;
/** A day is closed within minutes of its end, so its first booking is then a little over a day old. */
const UNCLOSED_MS = 2 * 86_400_000;
const LISTED = 200;

/** Finds what is wrong. A part that cannot be asked is a trouble too. */
@Injectable()
export class Troubles {
  readonly #apiKeys: ApiKeyStore;
  /** What is asked, by the part of the installation. */
  readonly #finders: Readonly<Record<string, () => Promise<Trouble[]>>> = {
    book: () => this.#ofBook(),
    closings: () => this.#ofClosings(),
    outbox: () => this.#ofOutbox(),
    chain: () => this.#ofChain(),
    comparison: () => this.#ofComparison(),
    wallets: () => this.#ofAccounts(),
    jobs: () => this.#ofJobs(),
    refunds: () => this.#ofRefunds(),
    owed: () => this.#ofOwed(),
    webhooks: () => this.#ofWebhooks(),
  };

  constructor(
    @Inject(BookHolder) private readonly book: BookHolder,
    @Inject(OutboxDrain) private readonly drain: OutboxDrain,
    @Inject(SellerChains) private readonly chains: SellerChains,
    @Inject(OperatorWallets) private readonly wallets: OperatorWallets,
    @Inject(OperatorJobs) private readonly jobs: OperatorJobs,
    @Inject(PaymentWebhooks) private readonly payments: PaymentWebhooks,
    @Inject(BookkeeperConnections) { commands }: BookkeeperConnections,
  ) {
    this.#apiKeys = new ApiKeyStore(commands);
  }

  async find(): Promise<Trouble[]> {
    const found = Object.entries(this.#finders).map(([about, find]) =>
      find().catch((): Trouble[] => [
        { about, what: `The state of the ${about} cannot be read.`, mend: "Look at the bookkeeper's log." },
      ]),
    );
    return (await Promise.all(found)).flat();
  }

  async #ofBook(): Promise<Trouble[]> {
    const { database } = this.book.writer;
    const troubles: Trouble[] = [];
    for (const { chain } of this.chains.all) {
      if ((await readCompleteFrom(database, chain.id)) !== null) continue;
      const what = `A gateway, verifier or agent worker of ${chain.network} does not report to the book.`;
      troubles.push({ about: 'book', what, mend: 'Set BOOK=on at every gateway, verifier and agent worker.' });
    }
    const { unread } = await countUnapplied(database);
    if (unread > 0) {
      const what = `${unread} events are of a later release, and are not booked.`;
      troubles.push({ about: 'book', what, mend: 'Start the bookkeeper of the release that the gateways run.' });
    }
    const refused = await listRefusedEvents(database, LISTED);
    return [...troubles, ...refused.map(describeRefused)];
  }

  async #ofClosings(): Promise<Trouble[]> {
    const { firstAt, lastAt } = await readOpenBookings(this.book.writer.database);
    if (lastAt !== null && lastAt.getTime() > Date.now() + LATE_MS) {
      const what = `The last booking is dated ${lastAt.toISOString()}, in the future: until then no day is closed.`;
      const mend = "Set the clock of the bookkeeper's machine. Later bookings get that date too, until it has passed.";
      return [{ about: 'book', what, mend }];
    }
    if (firstAt === null || firstAt.getTime() > Date.now() - UNCLOSED_MS) return [];
    const what = `The bookings since ${firstAt.toISOString()} are not closed.`;
    return [{ about: 'book', what, mend: "Run tollgate book close, and look at the bookkeeper's log if it fails." }];
  }

  async #ofOutbox(): Promise<Trouble[]> {
    const other = this.drain.otherKeys.map((key) => ({
      about: 'outbox',
      what: `The key ${key} of Redis is no stream: no process can report there.`,
      mend: 'Find out which program wrote it, and remove the key.',
    }));
    const { events, ageMs } = await this.drain.readLag();
    if (ageMs <= LATE_MS) return other;
    const what = `${events} events wait to be booked, the oldest for ${Math.round(ageMs / 1000)} seconds.`;
    return [
      ...other,
      { about: 'outbox', what, mend: "Look at the bookkeeper's log: its database may be slow or full." },
    ];
  }

  async #ofChain(): Promise<Trouble[]> {
    const found = this.chains.all.map(async (chain): Promise<Trouble[]> => {
      const isReached = await chain.readHeadNumber().then(
        () => true,
        () => false,
      );
      if (isReached) return [];
      const what = `No RPC server of ${chain.chain.network} answers.`;
      return [{ about: 'chain', what, mend: 'Set RPC_URL, or rpc of the chain in PAYMENTS_FILE, to one that does.' }];
    });
    return (await Promise.all(found)).flat();
  }

  async #ofComparison(): Promise<Trouble[]> {
    const differences = await sumDifferences(this.book.writer.database);
    return differences.map(({ asset, amount }) => ({
      about: 'chain',
      what: `Book and chain differ by ${amount} base units of ${asset}.`,
      mend: 'tollgate reconcile',
    }));
  }

  async #ofAccounts(): Promise<Trouble[]> {
    return (await this.wallets.list()).flatMap(findTroubles);
  }

  async #ofJobs(): Promise<Trouble[]> {
    const state = ['NEEDS_OPERATOR', 'AWAITING_APPROVAL'] as const;
    const { jobs, unreadable = [] } = await this.jobs.list({ state: [...state], limit: LISTED });
    const count = (one: (typeof state)[number]): number => jobs.filter((job) => job.state === one).length;
    const [stopped, waiting] = [count('NEEDS_OPERATOR'), count('AWAITING_APPROVAL')];
    const list = (one: string): string => `tollgate jobs list --state ${one}`;
    return [
      ...unreadable.map((id) => ({
        what: `The record of the job ${id} cannot be read, and it may still send.`,
        mend: "Look at its hash in Redis, and at the chain for its transactions. The bookkeeper's log has the error.",
      })),
      ...(stopped === 0 ? [] : [{ what: `${countJobs(stopped)} for an operator.`, mend: list('NEEDS_OPERATOR') }]),
      ...(waiting === 0 ? [] : [{ what: `${countJobs(waiting)} for an approval.`, mend: list('AWAITING_APPROVAL') }]),
    ].map((trouble) => ({ about: 'jobs', ...trouble }));
  }

  async #ofRefunds(): Promise<Trouble[]> {
    const { refunds } = this.book;
    const { refunds: failed } = await refunds.list({ state: 'failed' }, { limit: LISTED });
    const waiting = (await refunds.listInWork()).filter(
      ({ state, changedAt }) => state !== 'sending' && Date.now() - Date.parse(changedAt) > LATE_MS,
    );
    return [
      ...failed.map(({ id, detail, maybeSent }) => ({
        what: `The refund ${id} has failed: ${detail ?? 'no reason is known.'}`,
        mend: [
          ...(maybeSent ? [`where the chain shows its transfer, tollgate refunds paid ${id} <transaction>`] : []),
          `tollgate refunds retry ${id}, or tollgate refunds give-up ${id}`,
        ].join('; otherwise '),
      })),
      ...waiting.map(({ id, state, detail }) => ({
        what: `The refund ${id} does not go on: it is ${state}.`,
        mend: detail ?? "Look at the bookkeeper's log.",
      })),
    ].map((trouble) => ({ about: 'refunds', ...trouble }));
  }

  async #ofOwed(): Promise<Trouble[]> {
    const count = await countLeftOver(this.book.writer.database);
    if (count === 0) return [];
    const payments = count === 1 ? '1 payment is' : `${count} payments are`;
    const what = `${payments} closed for a refund and not paid back whole, and no refund of the rest is open.`;
    const find =
      'Open Owed in the console and choose closed, or GET /operator/payments?owed=true&state=refunding,refunded.';
    return [{ about: 'owed', what, mend: `${find} Refund the rest of each under its next number.` }];
  }

  async #ofWebhooks(): Promise<Trouble[]> {
    const { targets, deliveries } = this.payments.webhooks;
    const enabled = (await targets.list()).targets.filter(({ disabled }) => disabled === null);
    const keys = await Promise.all(enabled.map(({ keyId }) => this.#apiKeys.read(keyId)));
    const lost = enabled.filter((_, index) => keys[index] === null);
    return Promise.all(
      lost.map(async (target) => {
        const { id, keyId } = target;
        const { waiting } = await deliveries.count(target);
        return {
          about: 'webhooks',
          what: `Redis has no readable API key ${keyId}, so its webhook target ${id} gets no events (waiting: ${waiting}).`,
          mend: `Restore Redis from a copy with the key; if there is none: tollgate payment-webhooks remove ${id}`,
        };
      }),
    );
  }
}

function describeRefused({ id, stream, type, payment, reason }: RefusedEvent): Trouble {
  const event = `${type}${payment === '' ? '' : ` of ${payment}`}`;
  const what = `The event ${event} is not booked: ${reason} (${id} of ${stream}).`;
  const mend = 'Compare the book with the chain. The table events has the whole event; a restart tries it again.';
  return { about: 'book', what, mend };
}

function countJobs(count: number): string {
  return count === 1 ? '1 job waits' : `${count} jobs wait`;
}

function findTroubles(account: OperatorWallet): Trouble[] {
  const { name, role, address, nextNonce, frozen, paused, gap, heldBy, openJobs, balanceWei } = account;
  const about = name ?? address;
  const adopt = role === 'wallet' ? `tollgate wallets adopt ${about}` : 'Start a verifier that has its key.';
  const resume = role === 'wallet' ? `tollgate wallets resume ${about}` : `POST /operator/relayers/${address}/resume`;
  const process = role === 'wallet' ? 'an agent worker' : 'a verifier';
  if (nextNonce === null) return [{ about, what: 'The account is not adopted: it sends nothing.', mend: adopt }];
  const troubles: Omit<Trouble, 'about'>[] = [];
  if (frozen === 'chain_ahead') {
    troubles.push({ what: 'The chain has transactions of this account that the journal does not know.', mend: adopt });
  }
  if (paused !== null) troubles.push({ what: `The account is paused: ${paused.message}`, mend: resume });
  if (gap !== null) troubles.push({ what: `The account waits: ${nameGap(gap)}.`, mend: mendGap(account) });
  if (heldBy === null) {
    const jobs = openJobs === 0 ? '' : `, and ${countJobs(openJobs)}`;
    troubles.push({ what: `No process sends for the account${jobs}.`, mend: `Start ${process} that has its key.` });
  }
  if (balanceWei === '0')
    troubles.push({ what: 'The account has no coins for gas.', mend: `Send some to ${address}.` });
  return troubles.map((trouble) => ({ about, ...trouble }));
}
