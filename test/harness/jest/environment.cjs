const { mkdtempSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');

const { LegacyFakeTimers, ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');

// Loads Node's own undici before the package of that name, whose connection pools Node's fetch would otherwise use.
void globalThis.Request;

const ANONYMOUS_FRAME = /(?<at>^ +at (?:async )?)<anonymous> \((?<place>.+)\)$/gm;
const FAKE_TIMER_IDS = { idToRef: (id) => ({ id }), refToId: (timer) => timer?.id };

/**
 * Runs a test file in the worker's own global scope, where the modules that runtime.cjs shares between files live. What a
 * file leaves in `process.env` is taken back at its end, and what it leaves in the user's state folder is removed.
 */
module.exports = class SharedScopeEnvironment {
  constructor({ projectConfig }) {
    this.global = globalThis;
    this.environmentBefore = { ...process.env };
    this.exitBefore = process.exit;
    globalThis.global = globalThis;
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimers = new LegacyFakeTimers({
      config: projectConfig,
      global: globalThis,
      moduleMocker: this.moduleMocker,
      timerConfig: FAKE_TIMER_IDS,
    });
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  async setup() {
    // Jest has just put its own mapping of traces in the place of Node's, and knows no map of what runtime.cjs loads.
    delete Error.prepareStackTrace;
    this.userState = mkdtempSync(join(tmpdir(), 'user-state-'));
    process.env.XDG_STATE_HOME = this.userState;
  }

  /** Lets a hook know whether a test of its file has failed: see use-stack.ts. */
  handleTestEvent(event) {
    if (event.name === 'test_fn_failure' || event.name === 'hook_failure') globalThis.hasFailedTest = true;
    showAnonymousFrames(event.error);
    if (event.name === 'test_fn_failure') showAnonymousFrames(event.test.asyncError);
  }

  async teardown() {
    this.fakeTimers.dispose();
    this.fakeTimersModern.dispose();
    process.exit = this.exitBefore;
    for (const name of Object.keys(process.env)) if (!(name in this.environmentBefore)) delete process.env[name];
    Object.assign(process.env, this.environmentBefore);
    delete globalThis.hasFailedTest;
    rmSync(this.userState, { recursive: true, force: true });
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  /** Jest takes a missing context for an environment that has ended; no module is compiled for it. */
  getVmContext() {
    return {};
  }
};

/** Jest leaves out frames whose function is `<anonymous>`, which is how Node's mapping names each without a name. */
function showAnonymousFrames(error) {
  for (let one = error; one instanceof Error; one = one.cause) {
    if (typeof one.stack === 'string') one.stack = one.stack.replaceAll(ANONYMOUS_FRAME, '$<at>$<place>');
  }
}
