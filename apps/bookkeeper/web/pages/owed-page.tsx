import { showMoney, type SellerFacts } from '../data/format.js';
import { useLive } from '../data/live.js';
import { go, linkTo } from '../data/route.js';
import { Choice, Reading } from '../parts/parts.js';
import { PaymentList } from './payment-list.js';

const SHOWN = ['all', 'refused', 'released', 'unclaimed', 'closed'] as const;
const MEANING = {
  all: 'Money that arrived and bought nothing, oldest first.',
  refused: 'Refused: the payment was wrong or late, and its money arrived.',
  released: 'Released: your API failed, or answered an error. The payer may present the payment again.',
  unclaimed: 'Unclaimed: money that arrived without any request.',
  closed: 'Closed: a refund was asked for, and not all is paid back.',
};

/** What is owed to payers, oldest first. */
export function OwedPage({ seller, query }: { seller: SellerFacts; query: URLSearchParams }) {
  const withDust = query.get('dust') === 'shown';
  const asked = SHOWN.find((name) => name === query.get('state')) ?? 'all';
  const dust = { dust: withDust ? 'shown' : '' };
  const balances = useLive('GET /operator/balances', {});
  const owed = (balances.data?.balances ?? []).filter(({ account }) => account.startsWith('owed:'));
  return (
    <>
      <h1>Owed</h1>
      <Reading of={balances} />
      <div class="tiles">
        {owed.map(({ account, asset, amount }) => (
          <div class="tile" key={account + asset}>
            <span>{account.replace('owed:', '')}</span>
            <b>{showMoney(amount.replace('-', ''), asset, seller)}</b>
          </div>
        ))}
      </div>
      <Choice
        label="What is shown"
        names={SHOWN}
        chosen={asked}
        onChoose={(name) => go(linkTo('owed', null, { ...dust, state: name === 'all' ? '' : name }))}
      />
      <label>
        <input
          type="checkbox"
          checked={withDust}
          onChange={() =>
            go(linkTo('owed', null, { state: asked === 'all' ? '' : asked, dust: withDust ? '' : 'shown' }))
          }
        />{' '}
        Show dust: transfers without a request that are smaller than any price, summed for each payer and transaction
      </label>
      <p class="hint">{MEANING[asked]} Open one to see why, and to pay it back.</p>
      <PaymentList
        label={MEANING[asked]}
        search={{
          owed: 'true',
          ...(!withDust && { dust: 'false' }),
          ...(asked !== 'all' && { state: asked === 'closed' ? 'refunding,refunded' : asked }),
          order: 'oldest',
          limit: '50',
        }}
        seller={seller}
        isOwed
        empty="Nothing is owed. What is refused or released from now on appears here."
      />
    </>
  );
}
