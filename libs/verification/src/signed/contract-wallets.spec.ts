import { listFactories, planTransfer, readPayerSignature } from '@tollgate/chain';
import { DEFAULT_LANE_SETTINGS } from '@tollgate/journal';
import {
  lowerHex,
  quoteFees,
  type Hex,
  type SignedAuthorization,
  type TransferAuthorization,
} from '@tollgate/protocol';
import { encodeSettlementJob, parseSettlementJob, type PaymentEntry } from '@tollgate/settlement';
import {
  concatHex,
  encodeAbiParameters,
  getCreate2Address,
  keccak256,
  parseErc6492Signature,
  serializeErc6492Signature,
} from 'viem';

import {
  COINBASE_FACTORY,
  deployCoinbaseFactory,
  fundCoinbaseWallet,
  signForCoinbaseWallet,
} from '../../../../test/harness/chain/coinbase-wallet.js';
import { sendTransaction, transferTokens } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { readContracts } from '../../../../tools/devnet/contracts/contracts.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { MULTICALL3 } from '../../../../tools/devnet/protocols/place-contracts.js';
import { randomNonce, submitAuthorization } from '../../test/sign-authorization.js';
import { PRICE, useSignedPaymentVerifier } from '../../test/use-signed-payment-verifier.js';
import { SellerTerms } from '../seller-terms.js';
import type { DeploymentSettings } from './deployments.js';

const { parts, payer, asset, ask, createAuthorization, createDeployments, signPayment } = useSignedPaymentVerifier();

/** Deploys the code it is called with, at an address derived from it; every anvil has it. */
const CREATE2_FACTORY: Hex = '0x4e59b44847b379578588920ca78fbf26c0b4956c';
/** Rules under which wallets may be deployed, by known factories and by the CREATE2 deployer. */
const deploying = (changes: Partial<DeploymentSettings> = {}) => ({
  deployments: createDeployments({ factories: listFactories([CREATE2_FACTORY]), ...changes }),
});

const walletAddress = (): Hex => parts().wallet.address.toLowerCase() as Hex;
const refused = (failure: string, from = walletAddress()) => ({ outcome: 'refused', failure, payer: from });
const other = () => parts().devnet.accounts[2]!;

describe("verifying a contract wallet's payment (EIP-1271)", () => {
  it("claims with a signature that the wallet accepts: one of an account's form in a second round trip, then as it is sent", async () => {
    const payment = await signPayment({ from: walletAddress() });
    parts().rpc.requests.length = 0;
    expect(await ask(payment)).toMatchObject({ outcome: 'claimed', payer: walletAddress(), txHash: null });
    // The last two: the gas price, and the call at that price.
    expect(parts().rpc.requests).toHaveLength(4);
  });
});

describe('verifying a payment of a wallet that is not deployed yet (EIP-6492)', () => {
  const salt: Hex = `0x${'00'.repeat(32)}`;

  /** A wallet with money that is not deployed; it is the same for each nonce of the owner. */
  const createWallet = async (owner: Hex) => {
    const { BatchWallet } = await readContracts();
    const bytecode = concatHex([BatchWallet.bytecode, encodeAbiParameters([{ type: 'address' }], [owner])]);
    const address = getCreate2Address({ from: CREATE2_FACTORY, salt, bytecodeHash: keccak256(bytecode) });
    await transferTokens(parts().devnet, { to: address, amountBaseUnits: 10n * PRICE });
    return { address: address.toLowerCase() as Hex, deploy: concatHex([salt, bytecode]) };
  };
  const wrap = (payment: SignedAuthorization, data: Hex, factory = CREATE2_FACTORY): SignedAuthorization => ({
    ...payment,
    signature: serializeErc6492Signature({ address: factory, data, signature: payment.signature }),
  });

  it('claims if its factory is allowed, and settles with the call that was simulated', async () => {
    const { address: from, deploy } = await createWallet(payer().address);
    const inner = await signPayment({ from });
    const payment = wrap(inner, deploy);
    expect(await ask(payment)).toEqual(refused('factory_not_allowed', from));
    parts().rpc.requests.length = 0;
    expect(await ask(payment, { rules: deploying() })).toMatchObject({ outcome: 'claimed', payer: from, txHash: null });
    // The first look, the gas price, and the call at that price.
    expect(parts().rpc.requests).toHaveLength(3);

    const deployment = { to: CREATE2_FACTORY, data: deploy, codeHash: null };
    const signature = { kind: 'contract', bytes: inner.signature, isWrapped: true, deployment } as const;
    const call = planTransfer(payment.authorization, signature, {
      asset: asset(),
      multicall3: MULTICALL3,
      isDeployed: false,
    });
    await sendTransaction(parts().devnet, call);
    expect(await ask(payment, { rules: deploying(), claim: null })).toMatchObject({
      outcome: 'valid',
      txHash: expect.any(String),
    });

    // Deployed by now: its wrapper is no longer read, and its next payments come without.
    for (const next of [wrap(await signPayment({ from }), deploy), await signPayment({ from })]) {
      for (const rules of [{}, deploying()]) {
        expect(await ask(next, { rules, claim: null })).toMatchObject({ outcome: 'valid', payer: from });
      }
    }
  });

  it('refuses the wrapped signature of another account', async () => {
    const { address: from, deploy } = await createWallet(other().address);
    const payment = wrap(await signPayment({ from }), deploy);
    expect(await ask(payment, { rules: deploying() })).toEqual(refused('signature_invalid', from));
  });

  it.each<[string, (deploy: Hex) => [Hex, Hex]]>([
    ['that deploys nothing', () => [CREATE2_FACTORY, '0x']],
    ['that deploys something else', (deploy) => [CREATE2_FACTORY, concatHex([randomNonce(), deploy])]],
  ])('refuses a forged wrapper %s', async (_, forge) => {
    const { address: from, deploy } = await createWallet(parts().devnet.accounts[3]!.address);
    const [factory, data] = forge(deploy);
    const { privateKey } = parts().devnet.accounts[3]!;
    const payment = wrap(await signPayment({ from }, { privateKey }), data, factory);
    expect(await ask(payment, { rules: deploying() })).toEqual(refused('signature_invalid', from));
  });

  it('refuses the wrapper of a factory that is not allowed, and of the token itself', async () => {
    const { address: from, deploy } = await createWallet(parts().devnet.accounts[4]!.address);
    for (const factory of [asset(), `0x${'99'.repeat(20)}` as const]) {
      const payment = wrap(await signPayment({ from }), deploy, factory);
      expect(await ask(payment, { rules: deploying() })).toEqual(refused('factory_not_allowed', from));
    }
  });

  it('refuses a wrapper whose content cannot be read', async () => {
    const magic: Hex = `0x${'6492'.repeat(16)}`;
    const payment = await signPayment({ from: walletAddress() });
    for (const signature of [magic, concatHex([`0x${'ff'.repeat(96)}`, magic])]) {
      expect(await ask({ ...payment, signature }, { rules: deploying() })).toEqual(refused('signature_invalid'));
    }
  });

  it('does not deploy a wallet if that takes more gas than allowed', async () => {
    const { address: from, deploy } = await createWallet(parts().devnet.accounts[6]!.address);
    const { privateKey } = parts().devnet.accounts[6]!;
    const payment = wrap(await signPayment({ from }, { privateKey }), deploy);
    expect(await ask(payment, { rules: deploying({ gasCap: 300_000 }) })).toEqual(refused('simulation_failed', from));
  });

  it('calls no factory on a chain without Multicall3', async () => {
    const { address: from, deploy } = await createWallet(parts().devnet.accounts[5]!.address);
    const { rpcUrl } = parts().devnet;
    const code = await callRpc(rpcUrl, 'eth_getCode', [MULTICALL3, 'latest']);
    await callRpc(rpcUrl, 'anvil_setCode', [MULTICALL3, '0x']);
    try {
      const payment = wrap(await signPayment({ from }), deploy);
      expect(await ask(payment, { rules: deploying() })).toEqual(refused('factory_not_allowed', from));
    } finally {
      await callRpc(rpcUrl, 'anvil_setCode', [MULTICALL3, code]);
    }
  });

  it('serves a payer whose wallet was deployed meanwhile', async () => {
    const { address: from, deploy } = await createWallet(parts().devnet.accounts[1]!.address);
    const { privateKey } = parts().devnet.accounts[1]!;
    const inner = await signPayment({ from }, { privateKey });
    await sendTransaction(parts().devnet, { to: CREATE2_FACTORY, data: deploy });
    const txHash = await submitAuthorization(parts().devnet, inner);
    expect(await ask(wrap(inner, deploy))).toMatchObject({ outcome: 'claimed', payer: from, txHash });
  });
});

describe('verifying a payment of a wallet that a known factory deploys', () => {
  beforeAll(() => deployCoinbaseFactory(parts().devnet));

  let salt = 0n;
  const createPayment = async (changes: Partial<TransferAuthorization> = {}) => {
    const { devnet } = parts();
    const owner = devnet.accounts[1]!;
    const wallet = await fundCoinbaseWallet(devnet, { owner, salt: salt++, amountBaseUnits: 10n * PRICE });
    const authorization = createAuthorization({ from: wallet.address, ...changes });
    return { wallet, payment: await signForCoinbaseWallet(devnet, wallet, authorization) };
  };
  const known = (changes: Partial<DeploymentSettings> = {}) => deploying({ factories: listFactories([]), ...changes });

  it('claims a payment of a Coinbase Smart Wallet without any setting', async () => {
    const { payment, wallet } = await createPayment();
    expect(await ask(payment, { rules: known() })).toMatchObject({ outcome: 'claimed', payer: wallet.address });
    expect(await callRpc(parts().devnet.rpcUrl, 'eth_getCode', [wallet.address, 'latest'])).toBe('0x');
  });

  it('is the same in the job of a relayer, whichever process goes on with it', async () => {
    const { payment, wallet } = await createPayment();
    const { authorization } = payment;
    const signer = { hash: randomNonce(), payer: wallet.address, factories: listFactories([]) };
    const signature = readPayerSignature(payment.signature, signer);
    expect(signature).toMatchObject({
      deployment: { to: COINBASE_FACTORY, codeHash: expect.stringMatching(/^0xc490/) },
    });
    const terms = { asset: asset(), payTo: authorization.to, payer: wallet.address, amountBaseUnits: String(PRICE) };
    const sent = { kind: 'authorization', authorization, signature } as const;
    const entry: PaymentEntry = { ...terms, forOther: true, payment: sent };
    expect(parseSettlementJob(encodeSettlementJob([entry]))).toEqual([entry]);
    const tooHigh = { ...authorization, value: (2n ** 256n).toString() };
    const tooMuch: PaymentEntry = { ...entry, payment: { ...sent, authorization: tooHigh } };
    expect(() => parseSettlementJob(encodeSettlementJob([tooMuch]))).toThrow('"value"');
  });

  // Prevents: whoever can put a contract at a well-known address on some chain makes the relayer call it.
  it('refuses another contract at the address of a known factory, even one that deploys the wallet', async () => {
    const { payment, wallet } = await createPayment();
    const { rpcUrl } = parts().devnet;
    const code = (await callRpc(rpcUrl, 'eth_getCode', [COINBASE_FACTORY, 'latest'])) as Hex;
    try {
      for (const other of [`${code}00`, '0x', '0x00']) {
        await callRpc(rpcUrl, 'anvil_setCode', [COINBASE_FACTORY, other]);
        expect(await ask(payment, { rules: known() })).toEqual(refused('factory_not_allowed', wallet.address));
        // Naming it as another one does not make it any.
        const named = deploying({ factories: listFactories([COINBASE_FACTORY]) });
        expect(await ask(payment, { rules: named })).toEqual(refused('factory_not_allowed', wallet.address));
      }
    } finally {
      await callRpc(rpcUrl, 'anvil_setCode', [COINBASE_FACTORY, code]);
    }
    expect(await ask(payment, { rules: known() })).toMatchObject({ outcome: 'claimed' });
  });

  it('refuses any other function of a known factory', async () => {
    const { payment, wallet } = await createPayment();
    const { signature } = parseErc6492Signature(payment.signature);
    const others: Hex[] = ['0x', '0x3ffba3', '0x250b1b41', `0x250b1b41${wallet.deploy.slice(10)}`];
    for (const data of others) {
      const wrapped = serializeErc6492Signature({ address: COINBASE_FACTORY, data, signature });
      const forged = { ...payment, signature: wrapped };
      expect(await ask(forged, { rules: known() })).toEqual(refused('factory_not_allowed', wallet.address));
    }
  });

  it("deploys no wallet for another seller's sale, nor for one in another token", async () => {
    const { payment, wallet } = await createPayment();
    const stranger: Hex = `0x${'ee'.repeat(20)}`;
    const payTo = lowerHex(parts().devnet.payTo);
    const others = [
      { asset: asset(), payTo: stranger },
      { asset: stranger, payTo },
    ].map((option) => ({ terms: new SellerTerms(1328, [option]) }));
    for (const rules of [...others.map(known), known({ gasCap: 0 })]) {
      expect(await ask(payment, { rules })).toEqual(refused('factory_not_allowed', wallet.address));
    }
    // Once it is deployed it pays others too.
    await sendTransaction(parts().devnet, { to: COINBASE_FACTORY, data: wallet.deploy });
    expect(await ask(payment, { rules: known(others[0]) })).toMatchObject({ outcome: 'claimed' });
  });

  it('deploys no wallet whose gas could cost more than the set multiple of the price', async () => {
    const { payment, wallet } = await createPayment();
    const fee = quoteFees(await readFees(), DEFAULT_LANE_SETTINGS).maxFeePerGas;
    // At this price of a coin the gas costs exactly ten times the price of the sale, rounded up.
    const costWei = 1_000_000n * fee;
    const coinsBaseUnits = (10n * PRICE * 10n ** 36n) / costWei;
    const mostCost = (coins: bigint) => new Map([[asset(), { coinsBaseUnits: coins, multiple: 10 }]]);
    const tooCostly = known({ mostCost: mostCost(2n * coinsBaseUnits) });
    expect(await ask(payment, { rules: tooCostly })).toEqual(refused('deployment_too_costly', wallet.address));
    const worth = known({ mostCost: mostCost(coinsBaseUnits / 2n) });
    expect(await ask(payment, { rules: worth })).toMatchObject({ outcome: 'claimed' });
  });
});

async function readFees() {
  const { rpcUrl } = parts().devnet;
  const block = await callRpc(rpcUrl, 'eth_getBlockByNumber', ['latest', false]);
  const suggested = await callRpc(rpcUrl, 'eth_maxPriorityFeePerGas', []);
  const { baseFeePerGas } = block as { baseFeePerGas: Hex };
  return { baseFeePerGas: BigInt(baseFeePerGas), suggestedPriorityFee: BigInt(suggested as Hex) };
}
