import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

interface ProcessEntry {
  pid: number;
  parentPid: number;
  isZombie: boolean;
}

/** Every process below the given one, at any depth, as it is now. */
export function readDescendants(pid: number): number[] {
  const entries = readProcesses();
  const childrenOf = (parent: number): number[] =>
    entries.filter(({ parentPid }) => parentPid === parent).flatMap((child) => [child.pid, ...childrenOf(child.pid)]);
  return childrenOf(pid);
}

/** Waits for the processes to end; returns those that still run when the time is over. */
export async function waitUntilGone(pids: number[], withinMs = 60_000): Promise<number[]> {
  const deadlineMs = Date.now() + withinMs;
  for (;;) {
    const running = new Set(readProcesses().flatMap(({ pid, isZombie }) => (isZombie ? [] : [pid])));
    const left = pids.filter((pid) => running.has(pid));
    if (left.length === 0 || Date.now() > deadlineMs) return left;
    await sleep(100);
  }
}

function readProcesses(): ProcessEntry[] {
  return existsSync('/proc/self/stat') ? readProc() : readPs();
}

function readProc(): ProcessEntry[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const text = readFileSync(`/proc/${name}/stat`, 'utf8');
      const [state, parentPid] = text.slice(text.lastIndexOf(')') + 2).split(' ');
      return [{ pid: Number(name), parentPid: Number(parentPid), isZombie: state === 'Z' }];
    } catch {
      return [];
    }
  });
}

function readPs(): ProcessEntry[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat='], { encoding: 'utf8' }).trim().split('\n');
  return lines.map((line) => {
    const [pid, parentPid, state = ''] = line.trim().split(/\s+/);
    return { pid: Number(pid), parentPid: Number(parentPid), isZombie: state.startsWith('Z') };
  });
}
