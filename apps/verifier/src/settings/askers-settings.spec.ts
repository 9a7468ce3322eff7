import { Logger } from '@nestjs/common';
import type { PaymentOption } from '@tollgate/config';
import { COMPARE_SETTINGS, parseQuestion } from '@tollgate/transport';
import { Registry } from 'prom-client';

import { AskersSettings, type OwnSettings } from './askers-settings.js';

const OWN = 'PAYMENT_POLICY=transfer\nCHAIN_ID=1';
/** Only its names are looked at. */
const option = (name: string): PaymentOption => ({ name, entry: name.replace(/ .*/, '') }) as PaymentOption;
const ONE: OwnSettings = { option: option('default'), name: null, text: OWN };

describe("gateways' settings, compared by a verifier", () => {
  let nowMs: number;
  let registry: Registry;
  let askers: AskersSettings;
  let errors: jest.SpyInstance;

  beforeEach(() => {
    nowMs = 0;
    registry = new Registry();
    askers = new AskersSettings({ own: [ONE], registry, nowMs: () => nowMs });
    errors = jest.spyOn(Logger.prototype, 'error').mockReturnValue(undefined);
  });
  afterEach(() => errors.mockRestore());

  const ask = (settings: unknown) => askers.match(parseQuestion(COMPARE_SETTINGS, { settings }).settings);

  it('are no fault if they are equal, in any order', () => {
    expect([ask(OWN), ask('CHAIN_ID=1\nPAYMENT_POLICY=transfer')]).toEqual([ONE.option, ONE.option]);
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

  describe('of several options', () => {
    const textOf = (asset: string, changes: Record<string, string> = {}): string =>
      Object.entries({ PAYMENT_POLICY: 'transfer', CHAIN_ID: '1', ASSET_ADDRESS: asset, PAY_TO: 'shop', ...changes })
        .map(([name, value]) => `${name}=${value}`)
        .join('\n');
    const usdc: OwnSettings = { option: option('usdc'), name: 'usdc', text: textOf('0xa') };
    const weth: OwnSettings = { option: option('weth'), name: 'weth', text: textOf('0xb', { PAY_TO: 'vault' }) };

    const branch: OwnSettings = {
      option: option('weth 0xd'),
      name: 'weth 0xd',
      text: textOf('0xb', { PAY_TO: 'branch' }),
    };

    beforeEach(() => {
      askers = new AskersSettings({ own: [usdc, weth, branch], registry: new Registry(), nowMs: () => nowMs });
    });

    it('agree for the option that they are the settings of', () => {
      expect([usdc, weth, branch].map(({ text }) => ask(text))).toEqual([usdc, weth, branch].map((own) => own.option));
      expect(askers.differences).toEqual([]);
    });

    it('differ for the one option of the token that they name, however much differs, and agree for the other', () => {
      const asked = textOf('0xb', { PAYMENT_POLICY: 'bound' });
      expect(ask(asked)).toEqual({ outcome: 'unavailable', reason: 'settings_differ', settings: weth.text });
      expect(ask(usdc.text)).toBe(usdc.option);
      expect(askers.differences).toEqual([
        [
          { option: 'weth', setting: 'PAYMENT_POLICY', gateway: 'bound', verifier: 'transfer' },
          { option: 'weth', setting: 'PAY_TO', gateway: 'shop', verifier: 'vault' },
        ],
      ]);
      expect(errors.mock.calls).toEqual([[expect.stringContaining('option weth: PAYMENT_POLICY is bound there')]]);
    });

    it.each([
      ['for a token of no option', textOf('0xc', { PAY_TO: 'vault' }), 'weth'],
      ['for a further account of a token', textOf('0xb', { PAY_TO: 'branch', CONFIRMATIONS: '9' }), 'weth 0xd'],
      ['for a token of another chain', textOf('0xa', { CHAIN_ID: '2' }), 'usdc'],
    ])('are compared with the option that differs least %s', (_, asked, name) => {
      const nearest = [usdc, weth, branch].find((own) => own.name === name);
      expect(ask(asked)).toEqual({ outcome: 'unavailable', reason: 'settings_differ', settings: nearest?.text });
    });
  });

  // Prevents: a writer to the queue fills memory, the log and the metrics with made-up settings.
  it('take bounded memory and add no metric labels', async () => {
    for (let count = 0; count < 100; count++) ask(`${OWN}\nNAME_${count}=1`);
    expect(askers.differences).toHaveLength(16);
    const metrics = await registry.metrics();
    expect(metrics).toContain('tollgate_verifier_settings_differ_total{option="default",setting="unknown"} 100');
    expect(metrics).not.toContain('NAME_');
  });
});
