import { chainMethods } from '@tollgate/chain';
import { isAddress, lowerHex, ownField, PaymentError, registerSignedMethod, type Hex } from '@tollgate/protocol';
import { settlementMethods } from '@tollgate/settlement';
import { verificationMethods } from '@tollgate/verification';
import type { LocalAccount } from 'viem';

import type { PayingMethod, SignedRequirement } from '../../../packages/client/src/methods/paying-method.js';
import { registerPayingMethod } from '../../../packages/client/src/methods/registry.js';
import {
  PLEDGES,
  pledgeOnChain,
  pledgeOnWire,
  pledgeRules,
  pledgeSettlement,
  type PledgeTerms,
  type SignedPledge,
} from './pledge.js';

/** The part of a wallet that signs pledges. */
interface PledgeSigner {
  sign(terms: PledgeTerms): Promise<SignedPledge>;
}

declare module '../../../packages/client/src/account/signers.js' {
  interface WalletSigners {
    readonly pledges?: PledgeSigner;
  }
  interface WalletReads {
    readonly pledges?: object;
  }
}

type PledgeRequirement = SignedRequirement & {
  scheme: 'exact';
  extra: { assetTransferMethod: 'pledge'; contract: Hex };
};

/** How the client pays by them. */
const payByPledge: PayingMethod<'pledge', PledgeRequirement> = {
  kind: 'pledge',
  signer: 'pledges',
  pays: 'offers of "exact" by pledges',
  read(terms, { extra }) {
    const contract = ownField(extra, 'contract');
    if (!isAddress(contract)) return 'does not name the contract that takes pledges';
    return { ...terms, scheme: 'exact', extra: { assetTransferMethod: 'pledge', contract: lowerHex(contract) } };
  },
  async sign({ pledges }, terms) {
    if (!pledges) throw new PaymentError('cannot_pay', 'The wallet cannot sign pledges.');
    return pledges.sign(terms);
  },
  isExpired: () => undefined,
  isUsed(client, { pledge: { contract: address, payer, nonce } }, blockNumber) {
    return client.readContract({ address, abi: PLEDGES, functionName: 'isKept', args: [payer, nonce], blockNumber });
  },
};

export function createPledgeSigner(account: LocalAccount, chainId: number): PledgeSigner {
  return {
    async sign(terms) {
      const signature = await account.signTypedData(pledgeOnWire.typedDataOf(terms, chainId));
      return { ...terms, signature };
    },
  };
}

/**
 * Adds pledges to each layer of this process, as a program does that has a method of its own, until the tests of the file
 * have run: other specs use the same modules. `deploy`: returns the contract that offers name.
 */
export function usePledges(deploy?: () => Promise<Hex>): void {
  const removals: (() => void)[] = [];
  beforeAll(async () => {
    const offered = deploy && { offered: { contract: await deploy() } };
    removals.push(
      registerSignedMethod({ ...pledgeOnWire, ...offered }),
      chainMethods.register(pledgeOnChain),
      verificationMethods.register(pledgeRules),
      settlementMethods.register(pledgeSettlement),
      registerPayingMethod(payByPledge),
    );
  });
  afterAll(() => removals.forEach((remove) => remove()));
}
