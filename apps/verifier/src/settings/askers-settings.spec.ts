import { Logger } from '@nestjs/common';
import { COMPARE_SETTINGS, parseQuestion } from '@tollgate/transport';
import { Registry } from 'prom-client';

import { AskersSettings } from './askers-settings.js';

const OWN = 'PAYMENT_POLICY=transfer\nCHAIN_ID=1';

describe("gateways' settings, compared by a verifier", () => {
  let nowMs: number;
  let registry: Registry;
  let askers: AskersSettings;
  let errors: jest.SpyInstance;

  beforeEach(() => {
    nowMs = 0;
    registry = new Registry();
    askers = new AskersSettings({ own: OWN, registry, nowMs: () => nowMs });
    errors = jest.spyOn(Logger.prototype, 'error').mockReturnValue(undefined);
  });
  afterEach(() => errors.mockRestore());

  const ask = (settings: unknown) => askers.findFault(parseQuestion(COMPARE_SETTINGS, { settings }));

  it('are no fault if they are equal, in any order', () => {
    expect([ask(OWN), ask('CHAIN_ID=1\nPAYMENT_POLICY=transfer')]).toEqual([null, null]);
    expect(askers.differences).toEqual([]);
    expect(errors).not.toHaveBeenCalled();
  });

  it('are logged once for each difference, however often they are received', () => {
    for (let count = 0; count < 5; count++) ask('PAYMENT_POLICY=bound\nCHAIN_ID=2');
    ask('PAYMENT_POLICY=receipt\nCHAIN_ID=1');
    expect(errors.mock.calls).toEqual([
      [expect.stringContaining('PAYMENT_POLICY is bound there and transfer here, CHAIN_ID is 2 there and 1 here')],
      [expect.stringContaining('PAYMENT_POLICY is receipt there and transfer here')],
    ]);
  });

  it.each([
    ['missing', undefined],
    ['empty', ''],
    ['a number', 7],
    ['an object', {}],
    ['too long', 'x'.repeat(20_000)],
  ])('count as different if they are %s', (_, settings) => {
    expect(ask(settings)).toEqual({ outcome: 'unavailable', reason: 'settings_differ', settings: OWN });
    expect(askers.differences).toEqual([
      [
        { setting: 'PAYMENT_POLICY', gateway: null, verifier: 'transfer' },
        { setting: 'CHAIN_ID', gateway: null, verifier: '1' },
      ],
    ]);
  });

  it('are shown while gateways send them, and for a minute afterwards', () => {
    ask('PAYMENT_POLICY=bound\nCHAIN_ID=1');
    nowMs = 60_000;
    expect(askers.differences).toEqual([[{ setting: 'PAYMENT_POLICY', gateway: 'bound', verifier: 'transfer' }]]);
    nowMs = 60_001;
    expect(askers.differences).toEqual([]);
  });

  // Prevents: a writer to the queue fills memory, the log and the metrics with made-up settings.
  it('take bounded memory and add no metric labels', async () => {
    for (let count = 0; count < 100; count++) ask(`${OWN}\nNAME_${count}=1`);
    expect(askers.differences).toHaveLength(16);
    const metrics = await registry.metrics();
    expect(metrics).toContain('tollgate_verifier_settings_differ_total{setting="unknown"} 100');
    expect(metrics).not.toContain('NAME_');
  });
});
