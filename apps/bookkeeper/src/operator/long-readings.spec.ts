import { once } from 'node:events';
import type { PassThrough } from 'node:stream';

import { ProblemError } from '@tollgate/http';

import { LongReadings, type Write } from './long-readings.js';

/** More than the buffers of a stream take. */
const LONG = 'x'.repeat(100_000);

describe('long readings', () => {
  let readings: LongReadings;

  beforeEach(() => {
    readings = new LongReadings();
  });

  const readAll = async (stream: Promise<PassThrough>): Promise<string> => {
    let text = '';
    for await (const part of await stream) text += String(part);
    return text;
  };

  it('give a reader all that is written', async () => {
    const stream = readings.stream(async (write) => {
      for (const part of ['a', 'b', LONG]) await write(part);
    });
    expect(await readAll(stream)).toBe(`ab${LONG}`);
  });

  it('run one at a time, in the order in which they were asked for', async () => {
    const steps: string[] = [];
    const reading = (name: string) => async (write: Write) => {
      steps.push(`${name} begins`);
      for (let page = 0; page < 3; page++) await write(LONG);
      steps.push(`${name} ends`);
    };
    const streams = [readings.stream(reading('an export')), readings.stream(reading('a backup'))];
    const verified = readings.run(async () => void steps.push('a verification'));
    await Promise.all([...streams.map(readAll), verified]);
    expect(steps).toEqual([
      ...['an export begins', 'an export ends', 'a backup begins', 'a backup ends', 'a verification'],
    ]);
  });

  it('are broken off where the reader takes nothing, and the next one has its turn', async () => {
    const stalled = await readings.stream(async (write) => {
      for (;;) await write(LONG);
    }, 100);
    const failed = once(stalled, 'error') as Promise<[Error]>;
    const next = readAll(readings.stream((write) => write('next')));
    expect(String((await failed)[0])).toMatch(/takes nothing/);
    expect(stalled.destroyed).toBe(true);
    expect(await next).toBe('next');
  });

  it('end with their reader', async () => {
    const read = await readings.stream(async (write) => {
      for (;;) await write(LONG);
    });
    read.destroy();
    expect(await readAll(readings.stream((write) => write('next')))).toBe('next');
  });

  it('fail before there is an answer where they fail before they write', async () => {
    await expect(readings.stream(() => Promise.reject(new Error('the disk is full')))).rejects.toThrow('is full');
    expect(await readAll(readings.stream(async () => undefined))).toBe('');
  });

  it('are refused while eight wait, and taken again afterwards', async () => {
    let end = (): void => undefined;
    const first = readings.run(() => new Promise<void>((resolve) => (end = resolve)));
    const waiting = Array.from({ length: 8 }, () => readings.run(async () => 'read'));
    expect(() => readings.run(async () => 'read')).toThrow(ProblemError);
    await expect(readings.stream(async () => 'read')).rejects.toThrow(
      /8 exports, backups and verifications wait already/,
    );
    await Promise.resolve();
    end();
    await first;
    expect(await Promise.all(waiting)).toEqual(Array.from({ length: 8 }, () => 'read'));
    expect(await readings.run(async () => 'read')).toBe('read');
  });
});
