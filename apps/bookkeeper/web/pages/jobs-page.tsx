import type { SellerFacts } from '../data/format.js';
import { JOBS_EVERY_MS, useLive } from '../data/live.js';
import { go, linkTo } from '../data/route.js';
import { Pager, usePaging } from '../parts/pager.js';
import { Choice, Reading, State, Table, Time } from '../parts/parts.js';
import { JobView } from './job-page.js';

/** By what is shown, the states that are asked for. */
const SHOWN = {
  all: '',
  'need a person': 'AWAITING_APPROVAL,NEEDS_OPERATOR',
  failed: 'REVERTED,REJECTED,PLAN_FAILED',
} as const;
const NAMES = Object.keys(SHOWN) as (keyof typeof SHOWN)[];

const NOTHING = {
  all: (
    <>
      No job was submitted yet. A client submits one with <code>POST /agent/jobs</code> at the gateway.
    </>
  ),
  some: 'No job is in this state: nothing to do here.',
};

/** The jobs of all wallets, or one of them. */
export function JobsPage({ id, query, seller }: { id: string | null; query: URLSearchParams; seller: SellerFacts }) {
  if (id !== null) return <JobView id={id} seller={seller} />;
  return <JobList query={query} />;
}

function JobList({ query }: { query: URLSearchParams }) {
  const chosen = NAMES.find((name) => name === query.get('show')) ?? 'all';
  const paging = usePaging(chosen);
  const search = { limit: 50, state: SHOWN[chosen] || undefined, cursor: paging.cursor };
  const page = useLive('GET /operator/jobs', { query: search }, JOBS_EVERY_MS);
  return (
    <>
      <h1>Jobs</h1>
      <Choice
        label="Which jobs are shown"
        names={NAMES}
        chosen={chosen}
        onChoose={(name) => go(linkTo('jobs', null, { show: name === 'all' ? '' : name }))}
      />
      <Reading of={page} />
      {page.data?.unreadable !== undefined && (
        <p class="failure" role="alert">
          Of these jobs the records cannot be read, and they may still send: {page.data.unreadable.join(', ')}
        </p>
      )}
      <Table
        label="Jobs"
        rows={page.data?.jobs}
        empty={page.data?.unreadable === undefined ? NOTHING[chosen === 'all' ? 'all' : 'some'] : undefined}
        keyOf={({ id }) => id}
        columns={[
          {
            name: 'Submitted',
            show: ({ id, submittedAt }) => (
              <a href={linkTo('jobs', id)}>
                <Time at={submittedAt} />
              </a>
            ),
          },
          { name: 'State', show: ({ state }) => <State state={state} /> },
          { name: 'Operation', show: ({ operation }) => operation },
          { name: 'Wallet', show: ({ wallet }) => wallet },
          {
            name: 'What',
            show: ({ plan, failure, waiting }) =>
              failure?.message ?? waiting?.message ?? plan?.summary ?? 'not planned yet',
          },
          { name: 'Key', show: ({ keyId }) => <code>{keyId}</code> },
        ]}
      />
      <Pager paging={paging} next={page.data?.cursor ?? null} />
    </>
  );
}
