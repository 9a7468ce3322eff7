import { FeeQuotes, NO_FACTORIES } from '@tollgate/chain';
import { DEFAULT_LANE_SETTINGS, Journal, RELAYER_FLEET } from '@tollgate/journal';
import { createOwner, signedPaymentId } from '@tollgate/ledger';
import type { Hex, SignedAuthorization, TransferAuthorization } from '@tollgate/protocol';
import { ContractWallets, SettlementRecords, SettlementsUnderWay, Strikes } from '@tollgate/settlement';
import type { SignedPaymentTerms, SignedPaymentVerdict, VerifySignedPaymentRequest } from '@tollgate/transport';

import { waitFor } from '../../../test/harness/retry.js';
import type { DevnetAccount } from '../../../tools/devnet/chain/chain.js';
import { MULTICALL3 } from '../../../tools/devnet/protocols/place-contracts.js';
import { ClientShares } from '../src/limits/client-shares.js';
import { WaitingRoom } from '../src/limits/waiting-room.js';
import { AcceptedAssets } from '../src/signed/accepted-assets.js';
import { Deployments, type DeploymentSettings } from '../src/signed/deployments.js';
import type { SignedPaymentRules } from '../src/signed/signed-judgement.js';
import { SignedPaymentVerifier } from '../src/signed/signed-payment-verifier.js';
import { WalletCheck } from '../src/signed/wallet-check.js';
import { randomNonce, signAuthorization, type TestDomain } from './sign-authorization.js';
import { PRICE, usePaymentVerifier } from './use-payment-verifier.js';

export { PRICE } from './use-payment-verifier.js';

export interface AskedSigned {
  rules?: Partial<SignedPaymentRules>;
  waitMs?: number;
  /** The relayers' jobs; default: Redis's, of which there are none. */
  journal?: Pick<Journal, 'readJob'>;
  terms?: Partial<SignedPaymentTerms>;
  claim?: Partial<NonNullable<VerifySignedPaymentRequest['claim']>> | null;
  request?: Partial<VerifySignedPaymentRequest>;
}

/** The parts of `usePaymentVerifier`, for signed payments. */
export function useSignedPaymentVerifier() {
  const used = usePaymentVerifier();
  const { parts, payer } = used;

  /** The account that settles; here only the tests themselves settle. */
  const relayer = (): DevnetAccount => {
    const [first] = parts().devnet.relayers;
    if (first === undefined) throw new Error('the chain has no relayers');
    return first;
  };
  const asset = (): Hex => parts().devnet.asset.toLowerCase() as Hex;
  const domain = (): TestDomain => ({ name: 'USDC', version: '2', chainId: 1328, verifyingContract: asset() });

  const createAuthorization = (changes: Partial<TransferAuthorization> = {}): TransferAuthorization => ({
    from: payer().address.toLowerCase() as Hex,
    to: parts().devnet.payTo.toLowerCase() as Hex,
    value: String(PRICE),
    validAfter: '0',
    validBefore: String(Math.floor(Date.now() / 1000) + 300),
    nonce: randomNonce(),
    ...changes,
  });
  const signPayment = (
    changes: Partial<TransferAuthorization> = {},
    { privateKey = payer().privateKey, domain: changed = {} }: { privateKey?: Hex; domain?: Partial<TestDomain> } = {},
  ): Promise<SignedAuthorization> =>
    signAuthorization(createAuthorization(changes), { privateKey, domain: { ...domain(), ...changed } });

  const createDeployments = (changes: Partial<DeploymentSettings> = {}): Deployments => {
    return new Deployments({
      factories: NO_FACTORIES,
      terms: parts().terms,
      gasCap: 1_000_000,
      mostCost: null,
      ...changes,
    });
  };
  const createWalletCheck = (deployments: Deployments): WalletCheck => {
    const { batcher, chain, ledger, redis } = parts();
    const budget = { gasPerHour: 3_000_000, gasCap: 300_000 };
    const settings = { areAccepted: true, burnsPerCode: 3, budgets: { calls: budget, deployments: budget } };
    return new WalletCheck({
      wallets: new ContractWallets(redis, 1328, settings, () => undefined),
      deployments,
      fees: new FeeQuotes({ batcher, caps: DEFAULT_LANE_SETTINGS, nowMs: () => ledger.nowMs() }),
      chain,
      listRelayers: () => Promise.resolve([relayer().address.toLowerCase() as Hex]),
    });
  };

  const createVerifier = (
    rules: Partial<SignedPaymentRules> = {},
    waitMs = 0,
    journal: Pick<Journal, 'readJob'> = new Journal({ redis: parts().redis, fleet: RELAYER_FLEET }),
    share: { lookupsPerMinute?: number } = {},
  ): SignedPaymentVerifier => {
    const { chain, ledger, redis, otherToken, terms } = parts();
    const nowMs = (): number => ledger.nowMs();
    const { deployments = createDeployments() } = rules;
    return new SignedPaymentVerifier({
      assets: new AcceptedAssets(1328, [
        { asset: otherToken.toLowerCase() as Hex, name: 'Other', version: '1' },
        { asset: asset(), name: 'USDC', version: '2' },
      ]),
      rules: {
        confirmations: 1,
        redemptionWindowMs: 900_000,
        memoryMs: 86_400_000,
        settleGasCap: 300_000,
        deployments,
        multicall3: MULTICALL3,
        wallets: createWalletCheck(deployments),
        strikes: new Strikes(redis, 1328),
        ...rules,
      },
      readRelayers: () => Promise.resolve(new Set([relayer().address.toLowerCase() as Hex])),
      underWay: new SettlementsUnderWay({ journal, records: new SettlementRecords(redis) }),
      chain,
      ledger,
      terms,
      refundLog: { log: () => undefined },
      waitingRoom: new WaitingRoom({ waitMs, perClient: 16, total: 256, nowMs }),
      shares: new ClientShares({ lookupsPerMinute: 1_200, bytesPerMinute: 8_388_608, ...share }),
    });
  };

  const createRequest = (
    payment: VerifySignedPaymentRequest['payment'],
    { terms, claim, request }: AskedSigned = {},
  ): VerifySignedPaymentRequest => ({
    requestId: 'test',
    deadlineMs: parts().ledger.nowMs() + 60_000,
    terms: {
      chainId: 1328,
      asset: asset(),
      assetName: 'USDC',
      assetVersion: '2',
      payTo: parts().devnet.payTo.toLowerCase() as Hex,
      priceBaseUnits: String(PRICE),
      ...terms,
    },
    payment,
    clientAddress: '127.0.0.1',
    claim:
      claim === null
        ? null
        : { owner: createOwner(), fingerprint: createOwner(), retryKey: null, leaseMs: 30_000, ...claim },
    ...request,
  });
  const ask = (
    payment: VerifySignedPaymentRequest['payment'],
    asked: AskedSigned = {},
  ): Promise<SignedPaymentVerdict> =>
    createVerifier(asked.rules, asked.waitMs, asked.journal).verify(createRequest(payment, asked));

  /**
   * A claim whose holder died: its lease is over, also by the verifier's estimate of Redis's clock, which may be
   * milliseconds behind.
   */
  const abandon = async (
    payment: VerifySignedPaymentRequest['payment'],
    claim: Partial<NonNullable<VerifySignedPaymentRequest['claim']>> = {},
  ): Promise<SignedPaymentVerdict> => {
    const verdict = await ask(payment, { claim: { ...claim, leaseMs: 1 } });
    const id = signedPaymentId(createRequest(payment).terms, payment);
    await waitFor('the end of the lease', async () => !(await parts().ledger.isLeased(id)));
    return verdict;
  };

  return {
    ...used,
    abandon,
    relayer,
    askAboutHash: used.ask,
    asset,
    domain,
    createAuthorization,
    createDeployments,
    signPayment,
    createVerifier,
    createRequest,
    ask,
  };
}
