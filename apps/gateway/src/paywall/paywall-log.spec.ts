import { Logger } from '@nestjs/common';

import { PaywallLog } from './paywall-log.js';

const facts = { requestId: 'r1', method: 'GET', path: '/api/weather', clientAddress: '127.0.0.1' };

describe('PaywallLog', () => {
  const lines: unknown[] = [];

  beforeEach(() => {
    lines.length = 0;
    const take = (line: unknown): void => {
      lines.push(line);
    };
    Logger.overrideLogger({ log: take, warn: take, error: take });
  });
  afterAll(() => {
    Logger.overrideLogger(true);
  });

  it('links a transaction to the explorer if one is configured', () => {
    const log = new PaywallLog();
    const explorerUrl = 'https://explorer.example/';
    log.refused({ ...facts, explorerUrl, failure: 'amount_too_low', txHash: '0xab' });
    log.refused({ ...facts, explorerUrl: null, failure: 'amount_too_low', txHash: '0xab' });
    log.refused({ ...facts, explorerUrl, failure: 'malformed_proof' });
    expect(lines).toEqual([
      expect.objectContaining({ msg: 'payment refused', explorer: 'https://explorer.example/tx/0xab' }),
      expect.not.objectContaining({ explorer: expect.anything() }),
      expect.not.objectContaining({ explorer: expect.anything() }),
    ]);
  });
});
