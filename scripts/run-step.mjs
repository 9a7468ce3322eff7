// Shows one step of the setup on the terminal: a line with its name and time, and after a failure what to do.
import { spawn } from 'node:child_process';

export class StepError extends Error {
  constructor(message, { tail = [], remedy } = {}) {
    super(message);
    this.tail = tail;
    this.remedy = remedy;
  }
}

/**
 * Runs the step and prints its duration; while the step runs, prints a line every ten seconds. What an optional step
 * lacks is a warning.
 */
export async function runStep(name, work, { isOptional = false } = {}) {
  const start = Date.now();
  const elapsed = () => `${((Date.now() - start) / 1000).toFixed(1)} s`;
  const isTerminal = Boolean(process.stdout.isTTY);
  const timer = setInterval(
    () => process.stdout.write(isTerminal ? `\r… ${name}  ${elapsed()}` : `… ${name}  ${elapsed()}\n`),
    isTerminal ? 200 : 10_000,
  );
  const clearLine = isTerminal ? '\r\u001b[2K' : '';
  try {
    const note = await work();
    process.stdout.write(`${clearLine}✓ ${name}${note ? `: ${note}` : ''}  ${elapsed()}\n`);
  } catch (error) {
    process.stdout.write(clearLine);
    process.stderr.write(
      isOptional ? `! ${name}: ${error.message}\n` : `✗ ${name} failed after ${elapsed()}: ${error.message}\n`,
    );
    for (const line of error.tail || []) process.stderr.write(`  | ${line}\n`);
    if (error.remedy) process.stderr.write(`  What to do: ${error.remedy}\n`);
    throw error;
  } finally {
    clearInterval(timer);
  }
}

/** Runs a program quietly. Resolves with its output; rejects with a StepError that has the last lines before `usage`. */
export function runProgram(command, args, { cwd, env, remedy, shownAs, usage } = {}) {
  return new Promise((resolve, reject) => {
    const shown = shownAs || [command, ...args].join(' ');
    const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    let errors = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (errors += chunk));
    child.on('error', (error) => reject(new StepError(`${shown} could not be run (${error.message})`, { remedy })));
    child.on('close', (code, signal) => {
      if (code === 0) return resolve(output);
      const lines = `${output}\n${errors}`.split('\n').filter((line) => line.trim() !== '');
      const end = usage === undefined ? -1 : lines.findIndex((line) => line.includes(usage));
      const tail = lines.slice(0, end === -1 ? lines.length : end).slice(-30);
      reject(new StepError(`${shown} ended with ${signal || `exit code ${code}`}`, { tail, remedy }));
    });
  });
}
