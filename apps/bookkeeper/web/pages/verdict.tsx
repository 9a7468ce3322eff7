import type { BookSummary } from '@tollgate/book';
import type { OperatorWallet, ReconcileAnswer } from '@tollgate/operator-api';

import { showCoins, showDuration, shorten, type SellerFacts } from '../data/format.js';
import { ACCOUNTS_EVERY_MS, useLive, type Live } from '../data/live.js';
import { linkTo } from '../data/route.js';
import { Failure, Reading } from '../parts/parts.js';
import { isOff, showUnreconciled, useReconciled } from './reconciled.js';

const DAY_HOURS = 24;

/** Whether all is well, in words, with what mends it, and how long the relayers' coins last. */
export function Verdict({ summary, seller }: { summary: BookSummary | null; seller: SellerFacts }) {
  const reconciled = useReconciled();
  const health = useLive('GET /operator/health', {}, ACCOUNTS_EVERY_MS);
  const senders = useLive('GET /operator/wallets', {}, ACCOUNTS_EVERY_MS);
  if (health.data === null) return <Reading of={health} />;
  const { troubles } = health.data;
  return (
    <section class="verdict" data-tone={troubles.length === 0 ? 'good' : 'bad'} aria-label="State">
      {/* Not the whole section: a screen reader would read the age of the newest block out every few seconds. */}
      <div aria-live="polite">
        <p>
          <b>{troubles.length === 0 ? 'All is well.' : 'Something needs you.'}</b>
        </p>
        {troubles.length > 0 && (
          <ul>
            {troubles.map(({ about, what, mend }) => (
              <li key={about + what}>
                <b>{about}</b>: {what} {/^(tollgate|npm|docker) /.test(mend) ? <code>{mend}</code> : mend}{' '}
                {about === 'jobs' && <a href={linkTo('jobs')}>Show them</a>}
              </li>
            ))}
          </ul>
        )}
      </div>
      <Failure problem={health.problem} />
      <Compared reconciled={reconciled} seller={seller} />
      <Runways senders={senders.data?.wallets ?? []} summary={summary} />
    </section>
  );
}

/** How far the chain was read, and what the book and the chain do not agree about. */
function Compared({ reconciled, seller }: { reconciled: Live<ReconcileAnswer>; seller: SellerFacts }) {
  const { data } = reconciled;
  if (isOff(reconciled)) {
    return (
      <p>
        The book is not compared with the chain: set <code>RECONCILE_RPC_URL</code>.
      </p>
    );
  }
  if (data === null) return null;
  const lag = data.readUntil === null ? null : Date.now() - Date.parse(data.readUntil);
  return (
    <p>
      Unreconciled: <a href={linkTo('book')}>{showUnreconciled(data, seller)}</a>.{' '}
      {lag === null
        ? 'The chain was not read yet.'
        : `The newest block that was read is ${showDuration(Math.max(0, lag))} old.`}{' '}
      {data.trouble !== null && `The comparison is old: ${data.trouble}.`}
    </p>
  );
}

/** For each relayer its coins, and the hours that they last at the pace of the last day. */
function Runways({ senders, summary }: { senders: readonly OperatorWallet[]; summary: BookSummary | null }) {
  const relayers = senders.filter(({ role }) => role === 'relayer');
  if (relayers.length === 0) return null;
  return (
    <ul class="plain">
      {relayers.map(({ address, chainId, balanceWei }) => {
        const gas = summary?.gasOfLastDay.find(
          (one) => one.sender === address.toLowerCase() && one.chainId === chainId,
        );
        return (
          <li key={`${chainId}:${address}`}>
            Relayer <code title={address}>{shorten(address)}</code>:{' '}
            {balanceWei === null
              ? 'its balance cannot be read'
              : `${showCoins(balanceWei)}, ${runway(balanceWei, gas?.wei)}`}
          </li>
        );
      })}
    </ul>
  );
}

function runway(balanceWei: string, spentWei = '0'): string {
  if (BigInt(balanceWei) === 0n) return 'so it can send nothing';
  if (BigInt(spentWei) === 0n) return 'no gas spent in the last day';
  const hours = Number((BigInt(balanceWei) * BigInt(DAY_HOURS)) / BigInt(spentWei));
  if (hours < 1) return 'enough for less than an hour at the pace of the last day';
  return `enough for ${hours > 8_760 ? 'more than a year' : showDuration(hours * 3_600_000)} at the pace of the last day`;
}
