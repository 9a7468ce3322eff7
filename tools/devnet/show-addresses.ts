import { relative } from 'node:path';

import { listSignedMethods } from '@tollgate/protocol';

import { warnOfPublicUrl } from './check-settings.js';
import type { DevFolder, DevState } from './dev-state.js';
import { hasTestWallet, takesSignedPayments } from './dev/policy.js';

/** What a devnet that runs has, for a person to copy. */
export interface RunningDevnet {
  state: DevState;
  /** The account that settles signed payments; undefined under PAYMENT_POLICY=receipt. */
  relayer: string | undefined;
  /** The requested port of the gateway; 0: any. */
  wantedPort: number;
}

export function showAddresses({ state, relayer, wantedPort }: RunningDevnet, folder: DevFolder): void {
  const { FACILITATOR, PAYMENT_POLICY, PUBLIC_URL, ROUTES_FILE } = process.env;
  const [account] = state.accounts;
  const file = relative(process.cwd(), folder.stateFile);
  const lines: [string, string][] = [
    ['gateway', `${state.baseUrl}${portNote(state.baseUrl, wantedPort)}`],
    ['', ROUTES_FILE ? `sells the routes of ${ROUTES_FILE}` : `curl -i ${state.baseUrl}/api/weather`],
    ...lineIf(
      PAYMENT_POLICY === 'receipt',
      'policy',
      'receipt: any mined transaction pays; signed payments, facilitator and relayers are off',
    ),
    ['chain', `${state.rpcUrl}    chain id ${state.chainId}, a block per transaction`],
    ['redis', state.redisUrl.replace(/\/\/[^@/]*@/, '//…@')],
    ['explorer', `${state.explorerUrl}/tx/<transaction hash>`],
    ['USDC', state.asset],
    ...linesOfSecondChain(state, folder),
    ['protocols', `Uniswap v2 and v3, Compound v2, staking, perps: their addresses are in ${file}`],
    ['pays to', state.payTo],
    ['a payer', `${account?.address}`],
    ['its key', `${account?.privateKey}`],
    ...lineIf(takesSignedPayments(process.env), 'relayer', `${relayer}    settles signed payments`),
    ...lineIf(FACILITATOR === 'true', 'servers', `use ${state.baseUrl}/facilitator as their facilitator`),
    ['agent', `wallet ${state.agent.wallet}, ${state.agent.address}; a first job:`],
    ['', createFirstJob(state)],
    ['book', `${state.operator.url}/operator/balances, or: npx tollgate book balances`],
    ['console', `${state.operator.url}/console    who paid, what is owed, jobs, wallets, the book`],
    ['its key', `${state.operator.apiKey}    for this devnet alone`],
    ['all this', `${file}${folder.isUsual ? '' : '    (another devnet runs in this folder and has the usual file)'}`],
  ];
  const page = hasTestWallet(process.env) ? 'Open this page, click, and pay with a test wallet' : 'What it sells';
  console.log(`\nTollgate runs. Ctrl-C stops it. ${page}:\n\n  ${state.baseUrl}/\n`);
  for (const [name, value] of lines) console.log(`  ${name.padEnd(9)} ${value}`);
  const warning = warnOfPublicUrl(PUBLIC_URL, wantedPort, state.baseUrl);
  if (warning !== null) console.warn(`\n  ${warning}`);
  console.log('');
}

function lineIf(isShown: boolean, name: string, text: string): [string, string][] {
  return isShown ? [[name, text]] : [];
}

function linesOfSecondChain({ secondChain }: DevState, folder: DevFolder): [string, string][] {
  if (secondChain === undefined) return [];
  const { rpcUrl, chainId, explorerUrl, asset, plainToken } = secondChain;
  const spenders = listSignedMethods().flatMap(({ spender, title }) => (spender === null ? [] : [title]));
  return [
    ['chain 2', `${rpcUrl}    chain id ${chainId}, the same accounts`],
    ['explorer', `${explorerUrl}/tx/<transaction hash>`],
    ['USDC', asset],
    ['WDEV', `${plainToken}    18 decimals, signs nothing itself: pay by ${spenders.join(', ')} or a transfer`],
    ['options', `${relative(process.cwd(), folder.paymentsFile)} has what the gateway accepts on both`],
  ];
}

/** A command to paste into a shell. Not to the seller: the book would have it as money that nothing was sold for. */
function createFirstJob({ baseUrl, agent, accounts }: DevState): string {
  const to = accounts[1]?.address;
  const job = { operation: 'transfer', wallet: agent.wallet, input: { amount: '1.5', token: 'USDC', to } };
  return (
    `curl -i ${baseUrl}/agent/jobs -H 'Authorization: Bearer ${agent.apiKey}' -H 'Idempotency-Key: first' ` +
    `-H 'Content-Type: application/json' -d '${JSON.stringify(job)}'`
  );
}

/** A note if the gateway has another port than the requested one. */
function portNote(url: string, wanted: number): string {
  const isElsewhere = wanted !== 0 && new URL(url).port !== String(wanted);
  return isElsewhere ? `    (port ${wanted} was taken)` : '';
}
