import { Logger } from '@nestjs/common';

import { SampledLogger } from './sampled-logger.js';

describe('SampledLogger', () => {
  const lines: { level: string; msg: string }[] = [];
  let logger: SampledLogger;

  beforeEach(() => {
    lines.length = 0;
    logger = new SampledLogger('Test', { linesPerClient: 2, maxClients: 3 });
    const at = (level: string) => (line: object) => void lines.push({ level, msg: '', ...line });
    Logger.overrideLogger({ log: at('log'), warn: at('warn'), error: at('error'), debug: at('debug') });
  });
  afterEach(() => logger.flush());
  afterAll(() => {
    Logger.overrideLogger(true);
  });

  const write = (client: string, reason: string) => logger.log({ client, reason }, { msg: `${client} ${reason}` });
  const shown = () => lines.filter(({ level }) => level !== 'debug').map(({ msg }) => msg);

  it('writes the first lines of each client, and then how many were left out', () => {
    for (let count = 0; count < 100; count++) write('a', count % 2 === 0 ? 'x' : 'y');
    write('b', 'x');
    expect(shown()).toEqual(['a x', 'a y', 'b x']);
    logger.flush();
    expect(lines.at(-1)).toEqual({
      level: 'log',
      msg: 'lines left out',
      clientAddress: 'a',
      lines: 98,
      reasons: { x: 49, y: 49 },
    });
    expect(shown()).toHaveLength(4);
    write('a', 'x');
    expect(shown().at(-1)).toBe('a x');
  });

  it('writes every line at level debug', () => {
    for (let count = 0; count < 10; count++) write('a', 'x');
    expect(lines).toHaveLength(10);
  });

  it('logs a warning as a warning, within the same share', () => {
    for (let count = 0; count < 3; count++) logger.warn({ client: 'a', reason: 'x' }, { msg: 'w' });
    expect(lines.map(({ level }) => level)).toEqual(['warn', 'warn', 'debug']);
  });

  it('counts a limited number of clients separately', () => {
    for (let client = 0; client < 1_000; client++) write(`c${client}`, 'x');
    logger.flush();
    expect(shown()).toEqual(['c0 x', 'c1 x', 'c2 x', 'c3 x', 'c4 x', 'lines left out']);
    expect(lines.at(-1)).toMatchObject({ clientAddress: 'further clients', lines: 995 });
  });
});
