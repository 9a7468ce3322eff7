import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

function start(mode: string) {
  const program = join(__dirname, '../../test/short-service.ts');
  const child = spawn(process.execPath, ['scripts/typescript.cjs', program, mode], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  child.stderr.on('data', (data: Buffer) => (output += data.toString()));
  const exited = once(child, 'close').then(([code]) => ({ code: code as number, output }));
  const says = async (word: string) => {
    while (!output.includes(word)) await once(child.stderr, 'data');
  };
  return { child, exited, says };
}

describe('runService', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('closes at %s and exits 0', async (signal) => {
    const { child, exited, says } = start('clean');
    await says('started');
    child.kill(signal);
    expect(await exited).toMatchObject({ code: 0, output: expect.stringContaining('closing') });
  });

  it('closes a service that works and still waits for something', async () => {
    const { child, exited, says } = start('opening');
    await says('started');
    child.kill('SIGTERM');
    const { code, output } = await exited;
    expect([code, output]).toEqual([0, 'started\nclosing\n']);
  });

  it('exits 1 with the problem when a service that was started cannot go on', async () => {
    const { exited } = start('broken');
    const { code, output } = await exited;
    expect(code).toBe(1);
    // What it has begun is ended once the problem is printed: that may take long, and a signal may come meanwhile.
    expect(output).toMatch(/REDIS_URL is another one\.\nclosing\n$/);
  });

  it('prints a problem that it finds while it is closed', async () => {
    const { child, exited, says } = start('refused');
    await says('started');
    child.kill('SIGTERM');
    const { code, output } = await exited;
    expect(code).toBe(0);
    expect(output).toMatch(/closing\n.*HOST is another one\.\n$/s);
  });

  it('exits at once at a second signal', async () => {
    const { child, exited, says } = start('slow');
    await says('started');
    child.kill('SIGTERM');
    await says('closing');
    child.kill('SIGTERM');
    expect(await exited).toMatchObject({ code: 143 });
  });

  it('exits 1 with a message if closing exceeds its time limit', async () => {
    const { child, exited, says } = start('late');
    await says('started');
    child.kill('SIGTERM');
    expect(await exited).toMatchObject({ code: 1, output: expect.stringContaining('within 50 ms of SIGTERM') });
  });

  it('exits 1 with every problem when it cannot start', async () => {
    const { exited } = start('wrong');
    const { code, output } = await exited;
    expect(code).toBe(1);
    expect(output).toContain('PORT is not set.\n  - HOST is not set.');
    expect(output).not.toContain('at ');
  });
});
