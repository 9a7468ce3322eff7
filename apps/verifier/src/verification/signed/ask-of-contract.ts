import type { ChainReader } from '../../chain/chain-reader.js';
import type { ContractSignature } from '../../chain/contract-signature.js';
import type { PermitView } from '../../chain/permit-view.js';
import type { LookUps } from '../client-shares.js';
import { PaymentRefused } from '../payment-refused.js';

/**
 * Reads what the chain says of a payment that a contract has signed, on its client's share: such a question runs the
 * payer's own code. Refuses `signature_invalid` unread where the contract has said no a moment ago.
 */
export async function askOfContract<View extends Pick<PermitView, 'hasPayerCode' | 'signatureAnswer'>>(
  { chain, lookUps }: { chain: Pick<ChainReader, 'refusedSignatures'>; lookUps: LookUps },
  signed: ContractSignature,
  read: (asker: LookUps) => Promise<View>,
): Promise<View> {
  if (chain.refusedSignatures.include(signed)) throw new PaymentRefused('signature_invalid');
  lookUps.assertLeft();
  const view = await read(lookUps);
  // A wallet that is not there has said nothing.
  if (view.hasPayerCode && view.signatureAnswer === 'no') chain.refusedSignatures.remember(signed);
  return view;
}
