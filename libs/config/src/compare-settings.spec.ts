import { AcceptanceEnvironment } from './acceptance.environment.js';
import { describeSettings, findDifferences } from './compare-settings.js';
import { PaymentEnvironment } from './payment.environment.js';
import { listOptions } from './payments/list-options.js';
import { listSettings, readEnvironment } from './read-environment.js';
import { RedisEnvironment } from './redis.environment.js';
import { SettingGroup } from './setting.js';
import { SignedPaymentsEnvironment } from './signed-payments.environment.js';

class Compared {
  @SettingGroup(PaymentEnvironment)
  readonly payment!: PaymentEnvironment;

  @SettingGroup(AcceptanceEnvironment)
  readonly acceptance!: AcceptanceEnvironment;

  @SettingGroup(SignedPaymentsEnvironment)
  readonly signedPayments!: SignedPaymentsEnvironment;
}

const [ASSET, PAY_TO] = [`0x${'aB'.repeat(20)}`, `0x${'cD'.repeat(20)}`];
const OTHERS = [`0x${'22'.repeat(20)}:USD Coin: bridged:2`, `0x${'11'.repeat(20)}:a = b:1`];
const describeAll = (env: Record<string, string> = {}, redis: Record<string, string> = {}): string => {
  const environment = {
    ...readEnvironment(Compared, { ASSET_ADDRESS: ASSET, PAY_TO, ...env }),
    redis: readEnvironment(RedisEnvironment, redis),
  };
  return listOptions(environment)
    .map((option) => describeSettings(environment, option))
    .join();
};

/** Another value for every setting that affects verdicts. */
const CHANGES: Record<string, string> = {
  PAYMENT_POLICY: 'bound',
  NETWORK: 'other',
  CHAIN_ID: '1',
  ASSET_ADDRESS: `0x${'12'.repeat(20)}`,
  ASSET_NAME: 'USD Coin',
  ASSET_VERSION: '1',
  ASSET_DECIMALS: '18',
  PAY_TO: `0x${'34'.repeat(20)}`,
  MAX_TIMEOUT_SECONDS: '60',
  CONFIRMATIONS: '2',
  REDEMPTION_WINDOW_SECONDS: '901',
  BOUND_REDEMPTION_WINDOW_SECONDS: '86401',
  FACILITATOR_ASSETS: OTHERS.join(),
  EIP6492_FACTORIES: `0x${'56'.repeat(20)}`,
};

describe('the settings that affect verdicts', () => {
  it.each(Object.entries(CHANGES))('differ by %s', (setting, value) => {
    const differences = findDifferences({ gateway: describeAll({ [setting]: value }), verifier: describeAll() });
    expect(differences).toEqual([{ setting, gateway: expect.any(String), verifier: expect.any(String) }]);
  });

  it('are all that gateway and verifier must have in common', () => {
    // The symbol is the domain's name by default, and a payments file stands for the others.
    const shared = listSettings(Compared).map(({ name }) => name);
    expect(shared.filter((name) => name !== 'ASSET_SYMBOL' && name !== 'PAYMENTS_FILE').sort()).toEqual(
      Object.keys(CHANGES).sort(),
    );
  });

  it('are equal however they are written', () => {
    const [first, second] = OTHERS;
    const written = describeAll({ FACILITATOR_ASSETS: `${first},${second}`, ASSET_NAME: 'USDC' });
    const own = `${ASSET.toLowerCase()}:not this:9`;
    const otherwise = { FACILITATOR_ASSETS: `${second},${own},${first}`, ASSET_SYMBOL: 'USDC' };
    const upper = { ASSET_ADDRESS: `0x${'AB'.repeat(20)}`, PAY_TO: PAY_TO.toLowerCase() };
    expect(describeAll({ ...otherwise, ...upper })).toBe(written);
  });

  it('include the book', () => {
    expect(findDifferences({ gateway: describeAll({}, { BOOK: 'on' }), verifier: describeAll() })).toEqual([
      { setting: 'BOOK', gateway: 'on', verifier: 'off' },
    ]);
  });

  it('include the replicas that must acknowledge', () => {
    const two = { LEDGER_DURABILITY: 'replica', LEDGER_REPLICAS: '2', LEDGER_REPLICA_TIMEOUT_MS: '50' };
    const [one, local] = [{ LEDGER_DURABILITY: 'replica' }, { LEDGER_REPLICAS: '2' }];
    for (const [other, verifier] of [[one, 'replica:1'] as const, [local, 'local'] as const]) {
      expect(findDifferences({ gateway: describeAll({}, two), verifier: describeAll({}, other) })).toEqual([
        { setting: 'LEDGER_DURABILITY', gateway: 'replica:2', verifier },
      ]);
    }
  });

  it('are reported with the values of both sides, also if one side has none', () => {
    expect(findDifferences({ gateway: 'A=1\nB=x=y\nC=3', verifier: 'A=2\nB=x=y\nD=' })).toEqual([
      { setting: 'A', gateway: '1', verifier: '2' },
      { setting: 'D', gateway: null, verifier: '' },
      { setting: 'C', gateway: '3', verifier: null },
    ]);
    expect(findDifferences({ gateway: 'nonsense', verifier: '' })).toEqual([]);
  });

  it('take up little of a question', () => {
    expect(describeAll().length).toBeLessThan(450);
  });
});
