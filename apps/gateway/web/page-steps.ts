import { showStatus } from './document/dom.js';
import { explainProblem } from './wallet/chain.js';

/** The steps of a page, one at a time; what goes wrong is said in the status. */
export class PageSteps {
  isBusy = false;
  #step = Promise.resolve();
  /** What the payer asked for last, while it waits for the step under way. */
  #next: (() => Promise<void>) | null = null;

  /** Runs the step. Where another one is under way, the given step is dropped, and that one is waited for. */
  run(step: () => Promise<void>): Promise<void> {
    if (!this.isBusy) this.#step = this.#runBusy(step);
    return this.#step;
  }

  /** Runs the step after those before it. */
  async runAfter(step: () => Promise<void>): Promise<void> {
    while (this.isBusy) await this.#step;
    await this.run(step);
  }

  /** Runs the step after the one under way. Of several that wait so, only the last one is run. */
  async runNext(step: () => Promise<void>): Promise<void> {
    this.#next = step;
    while (this.isBusy) await this.#step;
    if (this.#next !== step) return;
    this.#next = null;
    await this.run(step);
  }

  async #runBusy(step: () => Promise<void>): Promise<void> {
    this.isBusy = true;
    document.body.dataset['busy'] = 'true';
    try {
      await step();
    } catch (error) {
      showStatus(explainProblem(error), 'bad');
    } finally {
      this.isBusy = false;
      delete document.body.dataset['busy'];
    }
  }
}
