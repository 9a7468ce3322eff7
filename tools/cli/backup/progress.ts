const EVERY_MS = 2_000;

/** Says on stderr how far a long copy has come. */
export class Progress {
  #saidAtMs = performance.now();
  #keys = 0;

  constructor(
    private readonly verb: string,
    private readonly say: (line: string) => void,
  ) {}

  count(): void {
    this.#keys += 1;
    if (this.#keys % 1000 !== 0 || performance.now() - this.#saidAtMs < EVERY_MS) return;
    this.#saidAtMs = performance.now();
    this.say(`${this.verb} ${this.#keys} keys`);
  }
}
