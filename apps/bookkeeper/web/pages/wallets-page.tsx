import type { OperatorWallet } from '@tollgate/operator-api';
import { formatTokenAmount } from '@tollgate/protocol';

import { askOperator } from '../data/api.js';
import { explorerOf, showCoins, showMoney, type SellerFacts } from '../data/format.js';
import { ACCOUNTS_EVERY_MS, useLive } from '../data/live.js';
import { WriteButton } from '../parts/confirm.js';
import { Empty, Facts, HexText, Reading, State, Table } from '../parts/parts.js';

/** The accounts that send transactions: relayers, and the wallets of agent jobs. */
export function WalletsPage({ seller }: { seller: SellerFacts }) {
  const accounts = useLive('GET /operator/wallets', {}, ACCOUNTS_EVERY_MS);
  const { data } = accounts;
  return (
    <>
      <h1>Wallets</h1>
      <Reading of={accounts} />
      {data?.wallets.length === 0 && (
        <Empty>
          No account sends anything yet. A verifier with <code>RELAYER_PRIVATE_KEYS</code> has relayers; an agent worker
          has wallets, and <code>tollgate wallets adopt</code> puts one into use.
        </Empty>
      )}
      {data?.wallets.map((account) => (
        <Account
          key={`${account.role} ${account.name} ${account.chainId} ${account.address}`}
          account={account}
          seller={seller}
          reload={accounts.reload}
        />
      ))}
    </>
  );
}

function Account({ account, seller, reload }: { account: OperatorWallet; seller: SellerFacts; reload: () => void }) {
  const { role, name, address, chainId, paused, limits, tokens } = account;
  const showEach = (amountOf: (token: OperatorWallet['tokens'][number]) => string | null): string | null => {
    const known = tokens.flatMap((token) => {
      const amount = amountOf(token);
      return amount === null ? [] : showMoney(amount, `${chainId}:${token.asset}`, seller);
    });
    return known.length === 0 ? null : known.join(', ');
  };
  const title = name ?? `${role} ${address.slice(0, 8)}…`;
  return (
    <section aria-label={title}>
      <h2>
        {title} <State state={stateOf(account)} />
      </h2>
      <Facts
        facts={[
          ['Role', role === 'relayer' ? 'relayer: settles signed payments' : 'wallet of agent jobs'],
          ['Address', <HexText key="address" text={address} explorer={explorerOf(seller, chainId)} kind="address" />],
          ['Chain', String(chainId)],
          ['Coins for gas', account.balanceWei === null ? 'cannot be read' : showCoins(account.balanceWei)],
          ['Tokens', showEach(({ balance }) => balance) ?? 'cannot be read'],
          ['A refund can still pay', showEach(({ refundable }) => refundable)],
          ['Open jobs', String(account.openJobs)],
          ['In flight', String(account.inFlight)],
          ['Next nonce', account.nextNonce === null ? 'not adopted' : String(account.nextNonce)],
          ['Process', account.heldBy ?? 'none sends for it'],
          ['Paused', paused && paused.message],
          ['Unused nonce', account.gap && describeGap(account)],
        ]}
      />
      <Table
        label={`Limits of ${title}`}
        rows={limits ?? undefined}
        keyOf={({ asset }) => asset}
        columns={[
          { name: 'Token', show: ({ symbol }) => symbol },
          { name: 'Left today', show: (limit) => showLimit(limit.leftToday, limit.decimals), isNumber: true },
          { name: 'A day', show: (limit) => showLimit(limit.perDay, limit.decimals), isNumber: true },
          { name: 'A job', show: (limit) => showLimit(limit.perOperation, limit.decimals), isNumber: true },
          { name: 'Approval above', show: (limit) => showLimit(limit.approvalAbove, limit.decimals), isNumber: true },
        ]}
      />
      <PauseButton account={account} title={title} seller={seller} reload={reload} />
    </section>
  );
}

function PauseButton(props: { account: OperatorWallet; title: string; seller: SellerFacts; reload: () => void }) {
  const { account, title, seller, reload } = props;
  const { role, name, paused } = account;
  const { chainId, address: own } = account;
  // Relayers of several chains may have the address.
  const address = seller.options.every((option) => option.chainId === chainId) ? own : `${chainId}:${own}`;
  if (role === 'wallet' && name === null) return null;
  const wallet = name ?? '';
  const pause = (): Promise<unknown> =>
    role === 'relayer'
      ? askOperator('POST /operator/relayers/:address/pause', { address, body: {} })
      : askOperator('POST /operator/wallets/:name/pause', { name: wallet, body: {} });
  const resume = (): Promise<unknown> =>
    role === 'relayer'
      ? askOperator('POST /operator/relayers/:address/resume', { address })
      : askOperator('POST /operator/wallets/:name/resume', { name: wallet });
  return (
    <div class="buttons">
      {paused === null ? (
        <WriteButton act={`Pause ${title}`} scope="operator:wallets" run={pause} onDone={reload}>
          <p>
            It begins no new transaction; those in flight continue.
            {role === 'relayer' && ' While no relayer settles, signed payments are answered with 503.'}
          </p>
        </WriteButton>
      ) : (
        <WriteButton act={`Resume ${title}`} scope="operator:wallets" run={resume} onDone={reload}>
          <p>It sends again, beginning with what waits.</p>
        </WriteButton>
      )}
    </div>
  );
}

function stateOf({ nextNonce, paused, frozen, heldBy }: OperatorWallet): string {
  if (nextNonce === null) return 'not adopted';
  if (paused !== null) return 'paused';
  if (frozen !== null) return 'frozen';
  return heldBy === null ? 'no process' : 'sends';
}

function describeGap({ name, gap }: OperatorWallet): string {
  const had = gap?.job ? `job ${gap.job.id} had it` : 'no stored job had it';
  return `${gap?.nonce}: all later transactions wait for it; ${had}. See tollgate wallets fill ${name ?? ''}`;
}

function showLimit(baseUnits: string | null, decimals: number): string {
  return baseUnits === null ? 'no limit' : formatTokenAmount(BigInt(baseUnits), decimals);
}
