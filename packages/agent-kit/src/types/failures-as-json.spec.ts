import { encodeErrorResult } from 'viem';

import { explainReturnCode, explainRevert } from '../chain/explain-failure.js';
import { marketFailures } from '../protocols/lending/compound-failures.js';
import { perpsAbi, perpsFailures } from '../protocols/perps/perps-abi.js';
import { ERC20_FAILURES } from '../tokens/token-failures.js';
import { restoreFailures, storeFailures, type StepFailures } from './plan.js';

const afterRestart = (failures: StepFailures): StepFailures =>
  restoreFailures(JSON.parse(JSON.stringify(storeFailures(failures))));

describe('failures as JSON', () => {
  it('explain a custom error in the same way after parsing', () => {
    const data = encodeErrorResult({ abi: perpsAbi, errorName: 'InsufficientMargin', args: [7n, 9n] });
    const explained = explainRevert(data, afterRestart(perpsFailures));
    expect(explained).toMatchObject({ code: 'INSUFFICIENT_MARGIN' });
    expect(explained.message).toBe(explainRevert(data, perpsFailures).message);
  });

  it('explain an error number in the same way after parsing', () => {
    const explained = explainReturnCode(3n, afterRestart(marketFailures), 4n);
    expect(explained).toMatchObject({ code: 'INSUFFICIENT_COLLATERAL' });
    expect(explained?.message).toBe(explainReturnCode(3n, marketFailures, 4n)?.message);
  });

  it('preserve that a token may refuse by returning false, and the absence of failures', () => {
    expect(afterRestart(ERC20_FAILURES).isFalseRefusal).toBe(ERC20_FAILURES.isFalseRefusal);
    expect(storeFailures({})).toEqual({});
    expect(afterRestart({})).toEqual({});
  });

  it('are small: functions of a contract are left out', () => {
    expect(JSON.stringify(storeFailures(perpsFailures))).not.toContain('function');
  });
});
