import type { OperatorJob } from '@tollgate/operator-api';
import { FINAL_STATES, OPEN_STATES, type AgentAmountView, type AgentStepView } from '@tollgate/protocol';

import { askOperator } from '../data/api.js';
import { explorerOf, showCoins, type SellerFacts } from '../data/format.js';
import { JOBS_EVERY_MS, useLive } from '../data/live.js';
import { go, linkTo } from '../data/route.js';
import { WriteButton } from '../parts/confirm.js';
import { Facts, HexText, Reading, State, Table, Time } from '../parts/parts.js';

const isOpen = (state: string): boolean => OPEN_STATES.some((one) => one === state);
const endedBadly = (state: string): boolean => state !== 'FINAL' && FINAL_STATES.some((one) => one === state);

/** One job: its plan as it will be sent, what was sent, and what may be decided about it. */
export function JobView({ id, seller }: { id: string; seller: SellerFacts }) {
  const job = useLive('GET /operator/jobs/:id', { id }, JOBS_EVERY_MS);
  const { data } = job;
  return (
    <>
      <p>
        <a href={linkTo('jobs')}>All jobs</a>
      </p>
      <h1>Job</h1>
      <Reading of={job} />
      {data !== null && (
        <>
          <Facts
            facts={[
              ['State', <State key="state" state={data.state} />],
              ['Operation', data.operation],
              ['Wallet', `${data.wallet}, ${data.address}`],
              ['Submitted', <Time key="at" at={data.submittedAt} />],
              ['By the key', <code key="key">{data.keyId}</code>],
              ['Id', <code key="id">{data.id}</code>],
              ['Repeats', data.retryOf && <JobLink key="of" id={data.retryOf} />],
              ['Approved by', data.approval?.approvedBy ? <code key="by">{data.approval.approvedBy}</code> : null],
            ]}
          />
          {data.failure !== null && (
            <p class="failure">
              {data.failure.message} {data.failure.suggestion}
            </p>
          )}
          {data.cancelRefused !== null && (
            <p>
              {data.cancelRefused.message} {data.cancelRefused.suggestion}
            </p>
          )}
          {data.waiting !== null && (
            <p class="failure">
              Waits since <Time at={data.waiting.since} />: {data.waiting.message} {data.waiting.suggestion}
            </p>
          )}
          <Plan job={data} />
          <Doubts doubts={data.doubts ?? []} />
          <Decisions job={data} reload={job.reload} />
          <Steps steps={data.steps} explorer={explorerOf(seller, data.chainId)} />
          <details>
            <summary>The request</summary>
            <pre tabIndex={0}>{JSON.stringify(data.input, null, 2)}</pre>
          </details>
        </>
      )}
    </>
  );
}

function JobLink({ id }: { id: string }) {
  return <a href={linkTo('jobs', id)}>{id}</a>;
}

function Plan({ job: { plan, calls, planDigest } }: { job: OperatorJob }) {
  if (plan === null) return <p class="hint">It is not planned yet.</p>;
  return (
    <>
      <h2>Plan</h2>
      <pre tabIndex={0}>{plan.preview}</pre>
      <Facts
        facts={[
          ['Spends at most', showAmounts(plan.spends)],
          ['Receives at least', showAmounts(plan.receives)],
          ['Recipients', plan.recipients.length === 0 ? 'none' : plan.recipients.join(', ')],
          ['Warnings', plan.warnings.length === 0 ? null : plan.warnings.join(' ')],
          ['Digest of this plan', planDigest && <code key="digest">{planDigest}</code>],
        ]}
      />
      <Table
        label="Calls of the plan, as they will be sent"
        rows={calls.map((call, index) => ({ ...call, index }))}
        keyOf={({ index }) => index}
        columns={[
          { name: 'Call', show: ({ index }) => index + 1 },
          { name: 'To', show: ({ to }) => <code>{to}</code> },
          { name: 'Coins', show: ({ valueWei }) => showCoins(valueWei), isNumber: true },
          { name: 'Data', show: ({ data }) => <code>{data}</code> },
        ]}
      />
    </>
  );
}

/** What a second person has to look at. */
function Doubts({ doubts }: { doubts: readonly string[] }) {
  if (doubts.length === 0) return null;
  return (
    <>
      <h2>Why it needs an approval</h2>
      <ul>
        {doubts.map((doubt) => (
          <li key={doubt}>{doubt}</li>
        ))}
      </ul>
    </>
  );
}

function showAmounts(amounts: readonly AgentAmountView[]): string {
  return amounts.length === 0 ? 'nothing' : amounts.map(({ amount, symbol }) => `${amount} ${symbol}`).join(', ');
}

function Decisions({ job, reload }: { job: OperatorJob; reload: () => void }) {
  const { id, state, plan, planDigest, operation, input } = job;
  const scope = 'operator:approve';
  return (
    <div class="buttons">
      {state === 'AWAITING_APPROVAL' && plan !== null && planDigest !== null && (
        <WriteButton
          // Another plan is another question.
          key={planDigest}
          act="Approve this plan"
          scope={scope}
          isMain
          run={() => askOperator('POST /operator/jobs/:id/approve', { id, body: { plan: planDigest } })}
          onDone={reload}
        >
          <p>{plan.summary}</p>
          <p>
            Spends at most {showAmounts(plan.spends)}, from {job.wallet}. Exactly the plan with the digest{' '}
            <code>{planDigest}</code> is approved: if the worker has made another one since, nothing happens.
          </p>
        </WriteButton>
      )}
      {state === 'NEEDS_OPERATOR' && (
        <WriteButton
          act="Resume the job"
          scope={scope}
          run={() => askOperator('POST /operator/jobs/:id/resume', { id })}
          onDone={reload}
        >
          <p>The job goes on, and may send its transactions: look first whether the chain has them already.</p>
        </WriteButton>
      )}
      {isOpen(state) && (
        <WriteButton
          act="Cancel the job"
          scope={scope}
          run={() => askOperator('POST /operator/jobs/:id/cancel', { id })}
          onDone={reload}
        >
          <p>The job is given up. Where one of its transactions is in flight already, the chain decides.</p>
        </WriteButton>
      )}
      {endedBadly(state) && operation === 'refund' && (
        <p>
          A refund is retried at <a href={linkTo('payments', String(input['payment']))}>its payment</a>.
        </p>
      )}
      {endedBadly(state) && operation !== 'refund' && (
        <WriteButton
          act="Retry as a new job"
          scope={scope}
          run={async () => go(linkTo('jobs', (await askOperator('POST /operator/jobs/:id/retry', { id })).id))}
        >
          <p>The same request is submitted again, as a new job with a new plan.</p>
        </WriteButton>
      )}
    </div>
  );
}

function Steps({ steps, explorer }: { steps: readonly AgentStepView[]; explorer: string | null }) {
  if (steps.length === 0) return null;
  return (
    <>
      <h2>Transactions</h2>
      <Table
        label="Steps and their transactions"
        rows={steps.map((step, index) => ({ ...step, index }))}
        keyOf={({ index }) => index}
        columns={[
          { name: 'Step', show: ({ label, index }) => `${index + 1}. ${label}` },
          { name: 'State', show: ({ state }) => <State state={state} /> },
          { name: 'Nonce', show: ({ nonce }) => nonce ?? 'none' },
          {
            name: 'Transactions',
            show: ({ attempts }) =>
              attempts.map(({ txHash, kind }) => (
                <div key={txHash}>
                  <HexText text={txHash} explorer={explorer} /> {kind}
                </div>
              )),
          },
          { name: 'Block', show: ({ mined }) => mined?.blockNumber ?? 'not mined' },
        ]}
      />
    </>
  );
}
