import { useLayoutEffect, useState } from 'preact/hooks';

import { BOOKED_STATES } from '../../../../libs/book/src/bookings/booked-states.js';
import { listSoldTokens, type SellerFacts } from '../data/format.js';
import { go, linkTo } from '../data/route.js';
import { PaymentList } from './payment-list.js';

/** Fields of the form; the names are those of the URL. */
const FIELDS = ['find', 'option', 'state', 'from', 'to'] as const;
type Form = Record<(typeof FIELDS)[number], string>;

export function PaymentsPage({ seller, query }: { seller: SellerFacts; query: URLSearchParams }) {
  const asked = Object.fromEntries(FIELDS.map((name) => [name, query.get(name) ?? ''])) as Form;
  const [form, setForm] = useState(asked);
  // At once: what is typed after the page has changed must stay.
  useLayoutEffect(() => setForm(asked), [query.toString()]);
  const change = (name: keyof Form) => (event: { currentTarget: { value: string } }) =>
    setForm({ ...form, [name]: event.currentTarget.value });
  const options = listSoldTokens(seller);
  const isNarrowed = Object.values(asked).some((value) => value !== '');
  return (
    <>
      <h1>Payments</h1>
      <form
        class="search"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          // The state may lack what was typed just now.
          const typed = new FormData(event.currentTarget);
          go(linkTo('payments', null, Object.fromEntries(FIELDS.map((name) => [name, textOf(typed.get(name))]))));
        }}
      >
        <label class="wide">
          Transaction, payer, reference, request id or route
          <input name="find" type="search" value={form.find} onInput={change('find')} spellcheck={false} />
        </label>
        {options.length > 1 && (
          <label>
            Option
            <select name="option" value={form.option} onChange={change('option')}>
              <option value="">any</option>
              {options.map(({ name }) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
        )}
        <label>
          State
          <select name="state" value={form.state} onChange={change('state')}>
            <option value="">any</option>
            {BOOKED_STATES.map((state) => (
              <option key={state}>{state}</option>
            ))}
          </select>
        </label>
        <label>
          From, UTC
          <input name="from" type="date" value={form.from} onInput={change('from')} />
        </label>
        <label>
          Before, UTC
          <input name="to" type="date" value={form.to} onInput={change('to')} />
        </label>
        <div class="buttons">
          <button type="submit" class="main">
            Search
          </button>
          {isNarrowed && <a href={linkTo('payments')}>Show all</a>}
        </div>
      </form>
      <PaymentList
        label="Payments"
        search={{ ...toSearch(asked), limit: '50' }}
        seller={seller}
        empty={
          isNarrowed ? (
            'No payment matches all of this. Search for the whole text: a hash, an address, an id or a path.'
          ) : (
            <>
              The book has no payment yet. It begins when gateways, verifiers and workers run with <code>BOOK=on</code>,
              and something is sold.
            </>
          )
        }
      />
    </>
  );
}

function textOf(value: FormDataEntryValue | null): string {
  return typeof value === 'string' ? value : '';
}

/** What to ask for: the text says by its form what it is. */
function toSearch({ find, ...rest }: Form): Record<string, string> {
  const text = find.trim();
  const set = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== ''));
  return text === '' ? set : { ...set, [kindOf(text)]: text };
}

function kindOf(text: string): 'transaction' | 'payer' | 'reference' | 'route' | 'requestId' {
  if (/^0x[0-9a-f]{64}$/i.test(text)) return 'transaction';
  if (/^0x[0-9a-f]{40}$/i.test(text)) return 'payer';
  if (/^(tx|auth|permit):/.test(text)) return 'reference';
  return text.startsWith('/') ? 'route' : 'requestId';
}
