/** An account's state in one market, in the market's own units: all rates, factors and prices are times 1e18. */
export interface LendingHolding {
  /** Whether the supply counts as collateral. */
  isEntered: boolean;
  /** The market's own tokens, each worth `exchangeRate` base units of its underlying token. */
  shares: bigint;
  exchangeRate: bigint;
  /** With interest, in base units. */
  borrowed: bigint;
  collateralFactor: bigint;
  /** The price of one base unit; 1e18 of value is one unit of the oracle's currency. */
  price: bigint;
}

const ONE = 10n ** 18n;

/** Base units that the shares can be redeemed for. */
export function suppliedBaseUnits({ shares, exchangeRate }: Pick<LendingHolding, 'shares' | 'exchangeRate'>): bigint {
  return (shares * exchangeRate) / ONE;
}

/** The borrowing power of shares, whether or not the market is entered; rounded down where the comptroller rounds. */
export function collateralValue(
  holding: Omit<LendingHolding, 'isEntered' | 'borrowed'>,
  shares = holding.shares,
): bigint {
  const perShare = (((holding.collateralFactor * holding.exchangeRate) / ONE) * holding.price) / ONE;
  return (perShare * shares) / ONE;
}

/** The value of a debt in base units. */
export function debtValue({ price }: Pick<LendingHolding, 'price'>, baseUnits: bigint): bigint {
  return (price * baseUnits) / ONE;
}

/** The borrowing power of all entered markets, and the total debt. */
export function sumAccount(holdings: readonly LendingHolding[]): { collateral: bigint; debt: bigint } {
  const entered = holdings.filter(({ isEntered }) => isEntered);
  return {
    collateral: sum(entered.map((holding) => collateralValue(holding))),
    debt: sum(entered.map((holding) => debtValue(holding, holding.borrowed))),
  };
}

/** The remaining borrowing power when all supplies are used as collateral, in base units of one market. */
export function borrowableBaseUnits(
  holdings: readonly LendingHolding[],
  { price }: Pick<LendingHolding, 'price'>,
): bigint {
  const { collateral, debt } = sumAccount(holdings.map((holding) => ({ ...holding, isEntered: true })));
  return price === 0n || collateral <= debt ? 0n : ((collateral - debt) * ONE) / price;
}

/** The most that can be withdrawn of a market's supply with the debt still covered, in base units. */
export function redeemableBaseUnits(holdings: readonly LendingHolding[], holding: LendingHolding): bigint {
  const supplied = suppliedBaseUnits(holding);
  const { collateral, debt } = sumAccount(holdings);
  const counted = collateralValue(holding);
  if (!holding.isEntered || debt === 0n || counted === 0n) return supplied;
  if (collateral <= debt) return 0n;
  const free = collateral - debt;
  // One more than computed: because both values are rounded, it is never a unit too much.
  return free >= counted ? supplied : (supplied * free) / (counted + 1n);
}

/**
 * The markets to enter before a borrow of this value: none when the entered ones cover it, otherwise as few as
 * possible, largest first, because any entered supply can be liquidated. Null when all together do not cover it.
 */
export function chooseCollateral<Kept extends LendingHolding>(holdings: readonly Kept[], value: bigint): Kept[] | null {
  const { collateral, debt } = sumAccount(holdings);
  let missing = debt + value - collateral;
  const chosen: Kept[] = [];
  const others = holdings
    .filter(({ isEntered }) => !isEntered)
    .map((holding) => ({ holding, worth: collateralValue(holding) }))
    .sort((a, b) => (a.worth < b.worth ? 1 : a.worth > b.worth ? -1 : 0));
  for (const { holding, worth } of others) {
    if (missing <= 0n || worth === 0n) break;
    chosen.push(holding);
    missing -= worth;
  }
  return missing <= 0n ? chosen : null;
}

/** Collateral divided by debt, times 1e4, rounded down; null without a debt. */
export function healthTenThousandths({ collateral, debt }: { collateral: bigint; debt: bigint }): bigint | null {
  return debt === 0n ? null : (collateral * 10_000n) / debt;
}

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n);
}
