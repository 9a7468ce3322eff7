/** What a person at a program's terminal does and sees. */
export interface Session {
  /** All output so far. */
  shown(): string;
  /** Types the text, without Enter. */
  type(text: string): void;
  /** Types the line and Enter. */
  enter(line: string): void;
  /**
   * Resolves with the output from the end of the last match to the end of this one. Rejects when the program ends
   * before it, or when the time is over.
   */
  waitFor(pattern: RegExp | string, withinMs?: number): Promise<string>;
  /** Resolves with the exit code when the program has ended. */
  exited: Promise<number | null>;
  kill(): Promise<void>;
}

/** A session without its `kill`. `type` passes on what is typed; `take` is to be called with all output. */
export function createSession(
  type: (text: string) => void,
  exited: Promise<number | null>,
): Omit<Session, 'kill'> & { take: (chunk: string) => void } {
  let shown = '';
  let read = 0;
  let hasEnded = false;
  const watchers = new Set<() => void>();
  const take = (chunk: string) => {
    shown += chunk;
    for (const watch of watchers) watch();
  };
  void exited.then(() => {
    hasEnded = true;
    for (const watch of watchers) watch();
  });
  const waitFor = (pattern: RegExp | string, withinMs = 90_000) =>
    new Promise<string>((resolve, reject) => {
      const finish = (settle: () => void) => {
        watchers.delete(look);
        clearTimeout(timer);
        settle();
      };
      const fail = (what: string) =>
        finish(() =>
          reject(
            new Error(`${what} before ${String(pattern)} was shown. Shown since the last match:\n${shown.slice(read)}`),
          ),
        );
      const look = () => {
        const text = shown.slice(read);
        const end = typeof pattern === 'string' ? text.indexOf(pattern) : text.search(pattern);
        if (end >= 0) {
          const length = typeof pattern === 'string' ? pattern.length : (pattern.exec(text)?.[0].length ?? 0);
          read += end + length;
          finish(() => resolve(text.slice(0, end + length)));
        } else if (hasEnded) fail('The program ended');
      };
      const timer = setTimeout(() => fail(`${withinMs} ms passed`), withinMs);
      watchers.add(look);
      look();
    });
  return { shown: () => shown, type, enter: (line) => type(`${line}\r`), waitFor, exited, take };
}
