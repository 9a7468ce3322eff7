/** EIP-7825, part of the Osaka rules: no transaction may have a higher gas limit. Not every chain has it. */
const TRANSACTION_GAS_CAP = 2n ** 24n;

/**
 * The gas limit for an estimate: half as much again, since unused gas is not charged. Rewards and interest that accrue
 * until the next block write storage that an estimate in the same second does not, and a refund comes only after its
 * gas was needed. The margin never exceeds what a block or a transaction may have; an estimate above the cap of a
 * transaction stays, because it comes from a chain without that cap.
 */
export function addGasMargin(estimate: bigint, blockGasLimit: bigint): bigint {
  const cap = blockGasLimit < TRANSACTION_GAS_CAP ? blockGasLimit : TRANSACTION_GAS_CAP;
  const wanted = (estimate * 3n) / 2n;
  const limit = wanted < cap ? wanted : cap;
  return limit > estimate ? limit : estimate;
}
